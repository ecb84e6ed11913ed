"""Rows checked at random on the desk: which ones count, and what they tell."""

from __future__ import annotations

import polars as pl

from noisybayes.data.roles import find_roles
from noisybayes.web.column_roles import checked_rows
from noisybayes.web.fitting import random_rows

from .desk_at_work import JSON, form, messages, wait


def test_only_the_first_rows_without_a_gap_are_random():
    verdicts = {7: "a", 3: "b", 1: "a", 100: "a"}
    assert checked_rows([7, 3, 9, 1], verdicts) == [7, 3]
    assert checked_rows([7, 3], {3: "a"}) == []
    assert checked_rows([7, 3, 9, 1], {**verdicts, 7: None}) == [3]  # nobody could tell: not counted
    assert checked_rows([7, 3, 9, 1], {**verdicts, 7: None}, no_class=[7]) == [7, 3]


def test_the_sample_is_the_same_in_every_fit_and_has_labels():
    frame = pl.DataFrame({"text": ["a b c"] * 40, "label": (["x", "y", None, "x"] * 10)})
    roles, _ = find_roles(frame, label="label", text=["text"])
    drawn = random_rows(frame, roles)
    assert drawn == random_rows(frame, roles)
    assert sorted(drawn) == [row for row in range(40) if row % 4 != 2]


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
    rate = client.get(f"/api/tables/{table}/overview").json()["noise_rate"]
    assert rate["n_checked"] == 60
    assert rate["low"] <= 24 / 240 <= rate["high"]
    for page in (f"/t/{table}", f"/t/{table}/check"):
        assert "based on 60 rows checked at random" in client.get(page).text


def test_none_of_the_classes_is_a_wrong_label(client, table):
    true = messages()[1]
    sample = client.get(f"/api/tables/{table}/overview").json()["sample"]
    none = sample[:20]
    for position in sample[:60]:
        said = {"action": "no_class"} if position in none else {"label": true[position]}
        client.post(f"/api/tables/{table}/verdicts", json={"position": position, **said}, headers=JSON)
    assert client.get(f"/api/tables/{table}/random-check").json()["n_checked"] == 60
    client.post(f"/api/tables/{table}/fit", headers=JSON)
    wait(client, table)
    found = client.get(f"/api/tables/{table}/overview").json()
    rate = found["noise_rate"]
    assert (rate["n_checked"], found["n_labeled"], found["n_no_class"]) == (60, 220, 20)
    assert rate["estimate"] > 20 / 60
    assert "of 240 labels" in client.get(f"/t/{table}/check").text
