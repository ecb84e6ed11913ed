"""The API: what the pages do, as JSON."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from click.testing import CliRunner

from noisybayes.cli.app import app

from .desk_at_work import COLUMNS, JSON, add_fitted_table, add_table, messages, open_client, wait


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


def test_the_queue_of_one_cell_of_the_matrix(client, table):
    found = queue(client, table)
    cell = {"given": found[0]["given"], "suggested": found[0]["suggested"]}
    chosen = queue(client, table, **cell)
    assert chosen == [row for row in found if row.items() >= cell.items()]
    assert len(chosen) < len(found)


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


def test_two_reviewers_do_not_overwrite_each_other(client, table):
    row = queue(client, table)[0]
    verdict = decide(client, table, row["position"], row["suggested"], reviewer="ada").json()
    late = decide(client, table, row["position"], row["given"], reviewer="bob")
    assert late.status_code == 409
    assert client.get(f"/api/tables/{table}/rows/{row['position']}").json()["verdict"]["reviewer"] == "ada"
    assert decide(client, table, row["position"], row["given"], verdict["id"], reviewer="bob").status_code == 201


def test_a_row_that_somebody_looks_at_is_not_offered_to_others(client, table):
    row = queue(client, table)[0]["position"]
    client.get(f"/t/{table}/review", headers={"Cookie": "noisybayes_reviewer=ada"})
    names = {"X-Reviewer": "bob"}
    offered = client.get(f"/api/tables/{table}/queue", headers=names).json()
    assert row not in {each["position"] for each in offered}


def test_refitting_counts_verdicts_as_verified(client, table):
    before = client.get(f"/api/tables/{table}/overview").json()
    for row in queue(client, table)[:10]:
        decide(client, table, row["position"], row["given"])
    assert client.post(f"/api/tables/{table}/fit", headers=JSON).status_code == 202
    wait(client, table)
    after = client.get(f"/api/tables/{table}/overview").json()
    assert (before["n_verified"], after["n_verified"]) == (0, 10)
    assert after["noise_rate"]["estimate"] < before["noise_rate"]["estimate"]


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
def test_without_a_review_the_corrected_labels_are_those_of_the_command(client, tmp_path, content, columns):
    table = add_fitted_table(client.app.state.desk.store, content, columns, "table.csv")
    (tmp_path / "table.csv").write_text(content)
    chosen = [part for role, names in columns.items() for name in np.atleast_1d(names) for part in (f"--{role}", name)]
    result = CliRunner().invoke(app, ["audit", str(tmp_path / "table.csv"), *chosen, "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    command, desk = ((tmp_path / "out" / "corrected.csv").read_text(), client.get(f"/api/tables/{table}/corrected.csv"))
    labels = [row["corrected_label"] for row in rows_of(command)]
    assert [row["corrected_label"] for row in rows_of(desk.text)] == labels
    assert 0 < sum(row["corrected_by"] == "corrected" for row in rows_of(desk.text)) < len(labels) / 3
    assert queue(client, table)


def test_the_corrected_table_has_verdicts_before_corrections(client, table):
    content, _ = messages()
    first, second = queue(client, table)[:2]
    decide(client, table, first["position"], first["given"])
    corrected = rows_of(client.get(f"/api/tables/{table}/corrected.csv").text)
    assert [row["message"] for row in corrected] == [row["message"] for row in rows_of(content)]
    kept, other = corrected[first["position"]], corrected[second["position"]]
    assert (kept["corrected_label"], kept["corrected_by"]) == (first["given"], "reviewed")
    assert (other["corrected_label"], other["corrected_by"]) == (second["suggested"], "corrected")
    sure = next(row for row in corrected if row["corrected_by"] == "given")
    assert sure["corrected_label"] == sure["label"]
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
    told = [[corrected[row["position"]][name] for name in ("corrected_label", "corrected_by", "note")]
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


def test_rows_to_check_at_random(client, table):
    sample = client.get(f"/api/tables/{table}/overview").json()["sample"]
    path = f"/api/tables/{table}/random-check"
    first = client.get(path).json()
    assert (first["n_checked"], first["goal"], first["row"]["position"]) == (0, 50, sample[0])
    decide(client, table, sample[0], first["row"]["given"])
    client.post(f"/api/tables/{table}/verdicts", json={"position": sample[1], "action": "unsure"})
    after = client.get(path).json()
    assert (after["n_checked"], after["n_not_counted"], after["row"]["position"]) == (1, 1, sample[2])


def test_progress_and_precision(client, table):
    for i, row in enumerate(queue(client, table)[:4]):
        decide(client, table, row["position"], row["given"] if i == 0 else row["suggested"])
    progress = client.get(f"/api/tables/{table}").json()["progress"]
    assert (progress["n_reviewed"], progress["n_accepted"], progress["n_kept"]) == (4, 3, 1)
    assert progress["precision"] == 0.75


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
        (lambda c, t: c.get("/api/tables/99/random-check"), 404, "99"),
        (lambda c, t: c.put(f"/api/tables/{t}/columns", json={"label": "lable"}), 422, "did you mean 'label'"),
        (
            lambda c, t: c.post("/api/tables?name=a.csv", content=b"", headers={"Content-Type": "text/csv"}),
            422,
            "empty",
        ),
        (lambda c, t: c.get("/api/chat/none"), 404, "none"),
        (lambda c, t: c.post("/api/chat", headers=JSON), 422, "without a bot"),
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


def test_a_removed_table_is_gone(client, table):
    assert client.delete(f"/api/tables/{table}", headers=JSON).status_code == 204
    assert client.get(f"/api/tables/{table}").status_code == 404
    assert client.get("/api/tables").json() == []


def test_a_table_of_numbers_and_categories(client):
    lines = ["size,colour,kind"] + [
        f"{i % 10 + 20 * (i % 2)},{'red' if i % 2 else 'blue'},{'b' if i % 2 else 'a'}" for i in range(80)
    ]
    table_id = add_table(client, "\n".join(lines), "things.csv", label="kind", numeric=["size"], categorical=["colour"])
    assert client.get(f"/api/tables/{table_id}/overview").json()["n_labeled"] == 80
    shown = queue(client, table_id, suspects_only=False)[0]["shown"]["cells"]
    assert [cell["column"] for cell in shown] == ["colour", "size"]


def test_columns_cannot_change_under_verdicts(client):
    lines = ["message,label,other"] + [f"{'cheap price' if i % 2 else 'broken oil'},{i % 2},{i % 3}" for i in range(60)]
    table_id = add_table(client, "\n".join(lines), label="label", text=["message"])
    row = queue(client, table_id, suspects_only=False)[0]
    decide(client, table_id, row["position"], row["given"])
    answer = client.put(f"/api/tables/{table_id}/columns", json={"label": "other", "text": ["message"]})
    assert (answer.status_code, "reviewed" in answer.json()["detail"]) == (422, True)


def test_everything_is_in_the_document(client):
    document = client.get("/api/openapi.json").json()
    assert len(document["paths"]) >= 14
    page = client.get("/api").text
    assert all(path in page for path in document["paths"])


def test_the_desk_on_either_database(store, store_url, request):
    if not store_url.startswith("sqlite"):  # processes for the jobs, as the server has, once
        request.getfixturevalue("jobs_here")
    with open_client(store) as client:
        table_id = add_table(client, messages()[0])
        first, second = queue(client, table_id)[:2]
        assert decide(client, table_id, first["position"], first["suggested"]).status_code == 201
        assert decide(client, table_id, first["position"], first["given"], reviewer="bob").status_code == 409
        decide(client, table_id, second["position"], second["given"])
        client.post(f"/api/tables/{table_id}/undo", headers={"X-Reviewer": "ada", **JSON})
        assert client.post(f"/api/tables/{table_id}/fit", headers=JSON).status_code == 202
        wait(client, table_id)
        assert client.get(f"/api/tables/{table_id}/overview").json()["n_verified"] == 1
        assert len(rows_of(client.get(f"/api/tables/{table_id}/log.csv").text)) == 2
        assert client.get(f"/t/{table_id}/review").status_code == 200


def test_a_table_is_not_fitted_twice_at_once(client, table):
    answers = [client.post(f"/api/tables/{table}/fit", headers=JSON) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 409]
    wait(client, table)
