"""The API: what the pages do, as JSON."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from click.testing import CliRunner

from noisybayes.cli.app import app
from noisybayes.web.column_roles import checked_rows

from .desk_at_work import COLUMNS, JSON, add_fitted_table, add_table, form, messages, wait


def queue(client, table, **query):
    return client.get(f"/api/tables/{table}/queue", params={"limit": 1000, **query}).json()


def decide(client, table, row, label, seen=0, reviewer="ada"):
    body = {"position": row, "label": label, "seen": seen}
    return client.post(f"/api/tables/{table}/verdicts", json=body, headers={"X-Reviewer": reviewer})


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_queue_begins_with_the_wrong_labels(client, table):
    content, true = messages()
    given = [row["label"] for row in rows_of(content)]
    wrong = {i for i, label in enumerate(true) if label != given[i]}
    found = queue(client, table)
    assert [row["p_wrong"] for row in found] == sorted((row["p_wrong"] for row in found), reverse=True)
    assert {row["position"] for row in found[:20]} <= wrong
    assert all(row["given"] == given[row["position"]] for row in found)
    assert all(row["suggested"] == true[row["position"]] for row in found[:20])
    assert found[0]["row_id"] == f"m{found[0]['position'] + 1}"
    assert len(queue(client, table, suspects_only=False)) > len(found)


def test_a_verdict_takes_its_row_from_the_queue_and_undo_brings_it_back(client, table):
    first, second = queue(client, table)[:2]
    assert decide(client, table, first["position"], first["suggested"]).json()["action"] == "accept"
    assert decide(client, table, second["position"], second["given"]).json()["action"] == "keep"
    assert not {first["position"], second["position"]} & {row["position"] for row in queue(client, table)}
    undone = client.post(f"/api/tables/{table}/undo", headers={"X-Reviewer": "ada", **JSON}).json()
    assert undone["position"] == second["position"]
    assert queue(client, table)[0]["position"] == second["position"]
    log = client.get(f"/api/tables/{table}/verdicts").json()
    assert [row["undone"] is None for row in log] == [True, False]


def test_refitting_counts_verdicts_as_verified(client, table):
    before = client.get(f"/api/tables/{table}/overview").json()
    for row in queue(client, table)[:10]:
        decide(client, table, row["position"], row["given"])
    assert client.post(f"/api/tables/{table}/fit", headers=JSON).status_code == 202
    wait(client, table)
    after = client.get(f"/api/tables/{table}/overview").json()
    assert (before["n_verified"], after["n_verified"]) == (0, 10)
    assert after["wrong"]["estimate"] < before["wrong"]["estimate"]


def numbers(n_rows: int = 300) -> str:
    """Classes that overlap, a fifth of the labels wrong: many suggestions are wrong too."""
    rng = np.random.default_rng(0)
    true = rng.integers(3, size=n_rows)
    given = np.where(rng.random(n_rows) < 0.2, (true + rng.integers(1, 3, n_rows)) % 3, true)
    cells = (true[:, None] * 1.2 + rng.normal(size=(n_rows, 3))).round(4)
    return "a,b,c,label\n" + "".join(f"{','.join(map(str, row))},c{k}\n" for row, k in zip(cells, given, strict=True))


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        (messages()[0].replace(",price\n", ", price\n", 3), COLUMNS),
        (numbers().replace("c1\n", "\n", 2), {"label": "label", "numeric": ["a", "b", "c"]}),
    ],
)  # spaces and missing labels, as files have them
def test_without_a_review_the_correcteds_are_those_of_the_command(client, tmp_path, content, columns):
    table = add_fitted_table(client.app.state.desk.store, content, columns, "table.csv")
    (tmp_path / "table.csv").write_text(content)
    chosen = [part for role, names in columns.items() for name in np.atleast_1d(names) for part in (f"--{role}", name)]
    result = CliRunner().invoke(app, ["audit", str(tmp_path / "table.csv"), *chosen, "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    command, desk = ((tmp_path / "out" / "corrected.csv").read_text(), client.get(f"/api/tables/{table}/corrected.csv"))
    labels = [row["corrected"] for row in rows_of(command)]
    assert [row["corrected"] for row in rows_of(desk.text)] == labels
    assert 0 < sum(row["corrected_by"] == "corrected" for row in rows_of(desk.text)) < len(labels) / 3
    assert queue(client, table)


def test_the_corrected_table_has_verdicts_before_corrections(client, table):
    content, _ = messages()
    first, second = queue(client, table)[:2]
    decide(client, table, first["position"], first["given"])
    corrected = rows_of(client.get(f"/api/tables/{table}/corrected.csv").text)
    assert [row["message"] for row in corrected] == [row["message"] for row in rows_of(content)]
    kept, other = corrected[first["position"]], corrected[second["position"]]
    assert (kept["corrected"], kept["corrected_by"]) == (first["given"], "reviewed")
    assert (other["corrected"], other["corrected_by"]) == (second["suggested"], "corrected")
    sure = next(row for row in corrected if row["corrected_by"] == "given")
    assert sure["corrected"] == sure["label"]
    log = rows_of(client.get(f"/api/tables/{table}/log.csv").text)
    assert [(row["row"], row["action"], row["reviewer"]) for row in log] == [
        (str(first["position"] + 1), "keep", "ada")
    ]


def test_unsure_rows_are_not_verified_and_those_of_no_class_are_not_learned_from(client, table):
    unsure, none, kept = queue(client, table)[:3]
    path, who = f"/api/tables/{table}/verdicts", {"X-Reviewer": "ada"}
    for row, action, note in ((unsure, "unsure", "  ask Bob "), (none, "no_class", "=1+1")):
        body = {"position": row["position"], "action": action, "note": note}
        assert client.post(path, json=body, headers=who).json()["label"] is None
    decide(client, table, kept["position"], kept["given"])
    asked = {row["position"] for row in queue(client, table)}
    assert not asked & {unsure["position"], none["position"]}
    client.post(f"/api/tables/{table}/fit", headers=JSON)
    wait(client, table)
    overview = client.get(f"/api/tables/{table}/overview").json()
    assert (overview["n_labeled"], overview["n_verified"]) == (239, 1)
    assert not {unsure["position"], none["position"]} & {row["position"] for row in queue(client, table)}
    for row in (unsure, none):  # can still be looked at, and changed
        again = client.get(f"/api/tables/{table}/rows/{row['position']}").json()
        assert again["row"]["given"] == row["given"]
    corrected = rows_of(client.get(f"/api/tables/{table}/corrected.csv").text)
    told = [[corrected[row["position"]][name] for name in ("corrected", "corrected_by", "note")]
            for row in (unsure, none, kept)]  # fmt: skip
    assert told == [[unsure["given"], "unsure", "ask Bob"], ["", "no_class", "'=1+1"], [kept["given"], "reviewed", ""]]
    log = rows_of(client.get(f"/api/tables/{table}/log.csv").text)
    assert [(row["action"], row["label"], row["note"]) for row in log][:2] == [
        ("unsure", "", "ask Bob"), ("no_class", "", "'=1+1"),
    ]  # fmt: skip
    undone = [client.post(f"/api/tables/{table}/undo", headers={**who, **JSON}).json()["action"] for _ in range(2)]
    assert undone == ["keep", "no_class"]


def test_the_list_is_searched_filtered_and_accepted(client, table):
    found = queue(client, table)
    pieces = found[0]["shown"]["cells"][0]["pieces"]
    word = next(piece[0] for piece in pieces if not isinstance(piece, str))
    chosen = queue(client, table, query=f"{word.upper()} {found[0]['given']}", min_p_wrong=0.5)
    assert found[0] in chosen
    assert len(chosen) < len(found)
    assert all(row["p_wrong"] >= 0.5 and word in str(row["shown"]) for row in chosen)
    assert queue(client, table, query="no such word") == []
    decide(client, table, chosen[0]["position"], chosen[0]["given"], reviewer="bob")
    positions = [row["position"] for row in chosen]
    accepted = client.post(f"/api/tables/{table}/accept", json={"positions": positions}, headers={"X-Reviewer": "ada"})
    assert accepted.status_code == 201
    assert [one["position"] for one in accepted.json()] == positions[1:]
    assert {one["action"] for one in accepted.json()} == {"accept"}


@pytest.mark.parametrize(
    ("ask", "status", "told"),
    [
        (lambda c, t: c.get("/api/tables/99"), 404, "99"),
        (lambda c, t: c.get("/api/tables/99/queue"), 404, "99"),
        (lambda c, t: c.get(f"/api/tables/{t}/rows/9999"), 404, "10000"),
        (lambda c, t: decide(c, t, 0, "no such label"), 422, "not a label of this table"),
        (lambda c, t: decide(c, t, 0, None), 422, "either a label or an action"),
        (lambda c, t: decide(c, t, -1, "price"), 422, "position"),
        (lambda c, t: c.post(f"/api/tables/{t}/accept", json={"positions": [9999]}), 404, "10000"),
        (lambda c, t: c.put(f"/api/tables/{t}/columns", json={"label": "lable"}), 422, "did you mean 'label'"),
        (lambda c, t: c.get("/api/chat/none"), 404, "Not Found"),
    ],
)
def test_errors_say_what_is_wrong(client, table, ask, status, told):
    answer = ask(client, table)
    assert (answer.status_code, told in answer.json()["detail"]) == (status, True), answer.text


def test_a_fit_that_fails_says_why(client):
    made = client.post("/api/tables?name=a.csv", content=b"x,label\na,1\nb,2\n", headers={"Content-Type": "text/csv"})
    table_id = made.json()["id"]
    client.put(f"/api/tables/{table_id}/columns", json={"label": "label", "text": ["x"]})
    state = wait(client, table_id)
    assert state["fit"] is None
    assert "occurs twice" in client.get(f"/t/{table_id}").text


def test_columns_cannot_change_under_verdicts(client):
    lines = ["message,label,other"] + [f"{'cheap price' if i % 2 else 'broken oil'},{i % 2},{i % 3}" for i in range(60)]
    table_id = add_table(client, "\n".join(lines), label="label", text=["message"])
    row = queue(client, table_id, suspects_only=False)[0]
    decide(client, table_id, row["position"], row["given"])
    answer = client.put(f"/api/tables/{table_id}/columns", json={"label": "other", "text": ["message"]})
    assert (answer.status_code, "reviewed" in answer.json()["detail"]) == (422, True)


def test_a_table_is_not_fitted_twice_at_once(client, table):
    answers = [client.post(f"/api/tables/{table}/fit", headers=JSON) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 409]
    wait(client, table)


def test_only_the_first_rows_without_a_gap_are_random():
    verdicts = {7: "a", 3: "b", 1: "a", 100: "a"}
    assert checked_rows([7, 3, 9, 1], verdicts) == [7, 3]
    assert checked_rows([7, 3], {3: "a"}) == []
    assert checked_rows([7, 3, 9, 1], {**verdicts, 7: None}) == [3]  # nobody could tell: not counted
    assert checked_rows([7, 3, 9, 1], {**verdicts, 7: None}, no_class=[7]) == [7, 3]


def test_checked_rows_are_the_headline(client, table):
    true = messages()[1]
    sample = client.get(f"/api/tables/{table}/overview").json()["sample"]
    assert len(set(sample)) == 200
    for position in sample[:60]:
        page = client.get(f"/t/{table}/check").text
        assert f'data-position="{position}"' in page
        assert "suggested" not in page.partition('<section class="finding')[2]  # nothing that could sway
        fields = form(client, f"/t/{table}/check", position=position, seen=0, label=true[position], back="check")
        answer = client.post(f"/t/{table}/verdict", data=fields)
        assert answer.headers["location"] == f"/t/{table}/check"
    client.post(f"/api/tables/{table}/fit", headers=JSON)
    wait(client, table)
    rate = client.get(f"/api/tables/{table}/overview").json()["wrong"]["random"]
    assert rate["n"] == 60
    assert rate["low"] <= 24 / 240 <= rate["high"]
    for page in (f"/t/{table}", f"/t/{table}/check"):
        assert "Of 60 rows checked at random" in client.get(page).text
