"""Named reviewers: what each role may do, whose verdicts count as whose, and sessions that end."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from noisybayes.cli.app import app
from noisybayes.web.guard import least_role
from noisybayes.web.store.column_types import now
from noisybayes.web.store.database import Database

from .desk_at_work import JSON, add_fitted_table, form, open_client, open_store

TOKEN = "a long random text"


@pytest.fixture
def desk(tmp_path):
    store = open_store(tmp_path)
    table = add_fitted_table(store)
    tokens = {role: store.add_account(f"{role}-ann", role) for role in ("viewer", "reviewer", "admin")}
    with open_client(store, token=TOKEN) as client:
        yield client, table, tokens
    store.close()


def bearer(token):
    return {"Authorization": f"Bearer {token}", **JSON}


def test_roles(desk):
    client, table, tokens = desk
    row = client.get(f"/api/tables/{table}/queue", headers=bearer(tokens["viewer"])).json()[0]
    body = {"position": row["position"], "label": row["suggested"]}
    refused = client.post(f"/api/tables/{table}/verdicts", json=body, headers=bearer(tokens["viewer"]))
    assert refused.status_code == 403
    assert refused.json() == {"detail": "this requires the role reviewer; viewer-ann has the role viewer"}
    given = client.post(f"/api/tables/{table}/verdicts", json=body, headers=bearer(tokens["reviewer"]))
    assert given.status_code == 201
    assert given.json()["reviewer"] == "reviewer-ann"
    assert client.delete(f"/api/tables/{table}", headers=bearer(tokens["reviewer"])).status_code == 403
    assert client.delete(f"/api/tables/{table}", headers=bearer(tokens["admin"])).status_code == 204


def test_nobody_reviews_under_the_name_of_another(desk):
    client, table, tokens = desk
    row = client.get(f"/api/tables/{table}/queue", headers=bearer(TOKEN)).json()[0]
    body = {"position": row["position"], "label": row["suggested"]}
    as_bob = bearer(tokens["reviewer"]) | {"X-Reviewer": "bob"}
    refused = client.post(f"/api/tables/{table}/verdicts", json=body, headers=as_bob)
    assert refused.status_code == 403
    assert refused.json() == {"detail": "this token belongs to reviewer-ann and cannot be used to give verdicts as bob"}


def test_admins_undo_verdicts_of_others(desk):
    client, table, tokens = desk
    row = client.get(f"/api/tables/{table}/queue", headers=bearer(TOKEN)).json()[0]
    body = {"position": row["position"], "label": row["suggested"]}
    client.post(f"/api/tables/{table}/verdicts", json=body, headers=bearer(TOKEN) | {"X-Reviewer": "bob"})
    undo = f"/api/tables/{table}/undo"
    assert client.post(undo, headers=bearer(tokens["reviewer"])).json() is None  # none of one's own
    refused = client.post(undo, params={"of": "bob"}, headers=bearer(tokens["reviewer"]))
    assert (refused.status_code, refused.json()["detail"]) == (403, "only an admin can undo the verdicts of bob")
    undone = client.post(undo, params={"of": "bob"}, headers=bearer(tokens["admin"]))
    assert (undone.status_code, undone.json()["reviewer"]) == (200, "bob")


def test_a_stolen_cookie_is_worth_nothing_after_logout(desk):
    client, _, tokens = desk
    assert client.post("/login", data=form(client, "/login", token=tokens["reviewer"])).status_code == 303
    stolen = client.cookies["noisybayes_session"]
    assert "Reviewing as <b>reviewer-ann</b>" in client.get("/").text
    client.post("/logout", data=form(client, "/"))
    client.cookies.set("noisybayes_session", stolen)
    assert client.get("/").status_code == 303
    assert client.get("/api/tables").status_code == 401


def test_guessing_is_locked_out(desk, monkeypatch):
    client, _, tokens = desk
    still = now()  # the first wait is a second, which passes before a slow machine asks again
    monkeypatch.setattr(Database, "moment", lambda self, connection: still)
    answers = [client.get("/api/tables", headers=bearer(f"wrong {i}")) for i in range(7)]
    assert [answer.status_code for answer in answers[:5]] == [401] * 5
    assert answers[5].status_code == 429
    assert int(answers[5].headers["retry-after"]) >= 1
    assert "too many wrong tokens; wait" in answers[5].json()["detail"]
    locked = client.post("/login", data=form(client, "/login", token=tokens["admin"]))  # not even the right one
    assert locked.status_code == 429
    assert "Too many wrong tokens" in locked.text


@pytest.mark.parametrize(
    ("method", "path", "role"),
    [
        ("GET", "/api/tables/1/corrected.csv", "viewer"),
        ("POST", "/logout", "viewer"),
        ("POST", "/t/3/verdict", "reviewer"),
        ("POST", "/api/labels", "reviewer"),
        ("POST", "/api/tables/1/fit", "reviewer"),
        ("DELETE", "/api/tables/1", "admin"),
        ("PUT", "/api/tables/1/columns", "admin"),
        ("POST", "/import", "admin"),
        ("POST", "/something/new", "admin"),
    ],
)
def test_what_a_role_is_needed_for(method, path, role):
    assert least_role(method, path) == role


def test_accounts_on_the_command_line(tmp_path):
    store = str(tmp_path / "s.db")

    def run(*arguments):
        return CliRunner().invoke(app, ["accounts", *arguments, "--store", store])

    token = run("add", "ann").output.strip()
    assert len(token) > 30
    assert run("list").output == "reviewer     ann\n"
    again = run("add", "ann")
    assert again.exit_code != 0
    assert "the account 'ann' already exists" in again.output
    run("add", "bo", "--role", "salesperson")
    assert run("list").output == "reviewer     ann\nsalesperson  bo\n"
    run("remove", "bo")
    assert run("remove", "ann").exit_code == 0
    assert run("list").output == ""
    assert "there is no account 'ann'" in run("remove", "ann").output
