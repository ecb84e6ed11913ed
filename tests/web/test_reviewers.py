"""Verdicts as labels of their reviewers: who said what, and how far reviewers of the same rows agree."""

from __future__ import annotations

import re

import pytest

from noisybayes.web.reviewers import labels_of_reviewers, reviewers_of
from noisybayes.web.store import Store

from .desk_at_work import JSON, add_fitted_table, form


def rows_of(store: Store, table: int, n_rows: int) -> list:
    return store.queue(table, reviewer="nobody", limit=n_rows)


def say(store: Store, table: int, position: int, reviewer: str, label: str | None = None, **more) -> None:
    current = store.verdict(table, position)
    seen = 0 if current is None else current.id
    store.give_verdict(table, position, reviewer=reviewer, label=label, seen=seen, **more)


def test_on_either_database(store):
    table = add_fitted_table(store)
    first, second, third, fourth = (row.position for row in rows_of(store, table, 4))
    for position, label in ((first, "price"), (second, "hours"), (third, "hours")):
        say(store, table, position, "ada", label)
    say(store, table, first, "bo", "price")
    say(store, table, second, "bo", "service")
    say(store, table, third, "ada", "price")  # the same person, again: the last counts
    say(store, table, fourth, "bo", "price")
    store.undo(table, "bo")  # taken back: never said
    said = {(one.position, one.reviewer): one.label for one in labels_of_reviewers(store.log(table))}
    assert said == {
        (first, "ada"): "price", (second, "ada"): "hours", (third, "ada"): "price",
        (first, "bo"): "price", (second, "bo"): "service",
    }  # fmt: skip
    found = reviewers_of(store.log(table))
    assert [(line.reviewer, line.n_rows, line.n_shared, line.n_agreeing) for line in found.lines] == [
        ("ada", 3, 2, 1), ("bo", 2, 2, 1),
    ]  # fmt: skip
    (pair,) = found.pairs
    assert (pair.reviewers, pair.n_rows, pair.agreement) == (("ada", "bo"), 2, 0.5)
    assert found.alpha is not None
    assert (
        "2 people have reviewed rows. 2 rows were reviewed more than once, with 50.0 % agreement"
        in found.text.replace("\N{NO-BREAK SPACE}", " ")
    )


def test_unsure_is_no_label_and_none_of_the_classes_is_one(store):
    table = add_fitted_table(store)
    first, second = (row.position for row in rows_of(store, table, 2))
    say(store, table, first, "ada", no_label="unsure")
    say(store, table, first, "bo", "price")
    say(store, table, second, "ada", no_label="no_class")
    say(store, table, second, "bo", no_label="no_class")
    found = reviewers_of(store.log(table))
    assert found.n_shared == 1
    assert found.pairs[0].agreement == 1.0
    assert found.pairs[0].kappa is None
    assert found.alpha is None


def test_api_and_pages(client, table):
    assert "No rows have been reviewed" in client.get(f"/t/{table}/agreement").text
    row = client.get(f"/api/tables/{table}/queue").json()[0]
    body = {"position": row["position"], "label": row["given"]}
    assert client.post(f"/api/tables/{table}/verdicts", json=body, headers=JSON | {"X-Reviewer": "ada"}).is_success
    page = client.get(f"/t/{table}/agreement").text
    look = re.search(r'href="(/t/\d+/review\?row=\d+&amp;second=1)"', page)[1].replace("&amp;", "&")
    second = client.get(look).text
    assert "A second look" in second
    assert "Verdict by ada" not in second
    seen = re.search(r'name="seen" value="(\d+)"', second)[1]
    fields = form(client, "/", position=row["position"], seen=seen, label=row["suggested"], back="agreement")
    done = client.post(f"/t/{table}/verdict", data=fields)
    assert done.headers["location"] == f"/t/{table}/agreement"
    page = client.get(f"/t/{table}/agreement").text
    assert "second=1" not in page  # nothing is left that one person alone has seen
    assert "By pair" in page
    assert "Who reviewed what" in client.get(f"/t/{table}").text
    found = client.get(f"/api/tables/{table}/reviewers").json()
    assert found["n_shared"] == 1
    assert found["pairs"][0]["agreement"] == 0.0
    assert found["alpha"] == pytest.approx(0.0)
    assert client.get("/api/tables/99/reviewers").status_code == 404
