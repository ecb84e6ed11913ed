"""Tables that say who labeled a row, when, or with several labels of each row, from the import to the export."""

from __future__ import annotations

import csv
import io

import numpy as np

from .desk_at_work import JSON, WORDS, form, wait
from .test_pages import start

N = 300


def table_of(several: bool) -> str:
    rng, labels = np.random.default_rng(5), sorted(WORDS)
    true = rng.integers(3, size=N)
    texts = [" ".join(rng.choice(WORDS[labels[k]], 3)) for k in true]
    rates = {"ann": 0.02, "bob": 0.1, "cleo": 0.6}

    def given(name):
        return np.where(rng.random(N) < rates[name], (true + 1) % 3, true)

    if several:
        said = {name: given(name) for name in rates}
        lines = ["message,ann,bob,cleo"]
        for i, text in enumerate(texts):
            lines.append(",".join([text, *("" if (i + g) % 4 == 0 else labels[said[name][i]]
                                           for g, name in enumerate(rates))]))  # fmt: skip
    else:
        who = rng.choice(list(rates), N)
        said = {name: given(name) for name in rates}
        lines = ["message,label,who,channel"]
        lines += [
            f"{text},{labels[said[name][i]]},{name},{'web' if i % 2 else 'phone'}"
            for i, (text, name) in enumerate(zip(texts, who.tolist(), strict=True))
        ]
    return "\n".join(lines) + "\n"


def test_who_labeled_and_through_which_channel(client):
    table_id = start(client, table_of(several=False).encode())
    columns = {"column-0": "text", "column-1": "label", "column-2": "labeler", "column-3": "source"}
    chosen = client.post(f"/t/{table_id}/columns", data=form(client, "/", **columns))
    assert chosen.status_code == 303, chosen.text
    wait(client, table_id)
    overview = client.get(f"/api/tables/{table_id}/overview").json()
    assert overview["groups"][0]["group"] == "cleo"
    assert {one["column"] for one in overview["groups"]} == {"who", "channel"}
    page = client.get(f"/t/{table_id}").text
    for told in ('id="groups"', "cleo", "channel", "Where to begin"):
        assert told in page
    again = client.get(f"/t/{table_id}/columns").text
    assert '<option value="labeler" selected>' in again
    assert '<option value="source" selected>' in again


def test_several_labels_of_a_row(client):
    table_id = start(client, table_of(several=True).encode())
    columns = {"column-0": "text", "column-1": "label", "column-2": "label", "column-3": "label"}
    chosen = client.post(f"/t/{table_id}/columns", data=form(client, "/", **columns))
    assert chosen.status_code == 303, chosen.text
    wait(client, table_id)
    overview = client.get(f"/api/tables/{table_id}/overview").json()
    assert {one["group"] for one in overview["groups"]} == {"ann", "bob", "cleo"}
    assert overview["groups"][0]["group"] == "cleo"
    assert overview["agreement"]["n_labels"] == 3 * N * 3 // 4
    assert "Krippendorff" in client.get(f"/t/{table_id}").text
    assert client.get(f"/t/{table_id}/columns").text.count('<option value="label" selected>') == 3
    row = client.get(f"/api/tables/{table_id}/queue?suspects_only=false").json()[0]
    body = {"position": row["position"], "label": "price"}
    assert client.post(f"/api/tables/{table_id}/verdicts", json=body, headers={"X-Reviewer": "ada"}).status_code == 201
    assert client.post(f"/api/tables/{table_id}/fit", headers=JSON).status_code == 202
    wait(client, table_id)
    rows = list(csv.DictReader(io.StringIO(client.get(f"/t/{table_id}/corrected.csv").text)))
    assert len(rows) == N
    assert rows[row["position"]]["corrected"] == "price"
    assert {"ann", "bob", "cleo", "vote"} <= set(rows[0])
    other = client.post(
        f"/t/{table_id}/columns",
        data=form(client, "/", **{"column-0": "text", "column-1": "label", "column-2": "label"}),
    )
    assert "rows of this table have been reviewed with these labels" in other.text
