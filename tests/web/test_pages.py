"""The pages as a browser without JavaScript gets them."""

from __future__ import annotations

import re

import pytest

from .desk_at_work import form, messages, wait

SCRIPT = "<script>alert(1)</script>"


def start(client, content, name="a.csv"):
    fields = form(client, "/import")
    answer = client.post("/import", data=fields, files={"file": (name, content)})
    assert answer.status_code == 303, answer.text
    return int(re.search(r"/t/(\d+)/", answer.headers["location"])[1])


def post(client, path, page, **fields):
    return client.post(path, data=form(client, page, **fields))


def test_from_a_file_to_the_review(client):
    table_id = start(client, messages()[0].encode())
    page = client.get(f"/t/{table_id}/columns").text
    assert '<option value="label" selected>' in page
    columns = {"column-0": "id", "column-1": "text", "column-2": "label"}
    assert post(client, f"/t/{table_id}/columns", "/", **columns).status_code == 303
    wait(client, table_id)
    assert "rows to review" in client.get(f"/t/{table_id}").text
    page = client.get(f"/t/{table_id}/review").text
    assert "<mark" in page
    position = re.search(r'name="position" value="(\d+)"', page)[1]
    label = re.search(r'name="label" value="(\w+)" class="primary"', page)[1]
    done = post(client, f"/t/{table_id}/verdict", "/", position=position, seen=0, label=label)
    assert done.status_code == 303
    assert f"Row {int(position) + 1} is now" in client.get(done.headers["location"]).text
    back = post(client, f"/t/{table_id}/undo", "/")
    assert f"row={position}&" in back.headers["location"]
    assert f"Undone: row {int(position) + 1} was" in client.get(back.headers["location"]).text
    assert f'data-position="{position}"' in client.get(back.headers["location"]).text
    assert post(client, f"/t/{table_id}/refit", "/", back="review").status_code == 303
    wait(client, table_id)
    downloaded = client.get(f"/t/{table_id}/corrected.csv")
    assert downloaded.headers["content-disposition"] == 'attachment; filename="corrected.csv"'
    assert "corrected.csv" in client.get(f"/t/{table_id}/export").text


def test_somebody_else_was_faster(client, table):
    row = client.get(f"/api/tables/{table}/queue").json()[0]
    body = {"position": row["position"], "label": row["given"], "seen": 0}
    client.post(f"/api/tables/{table}/verdicts", json=body, headers={"X-Reviewer": "ada"})
    late = post(client, f"/t/{table}/verdict", "/", position=row["position"], seen=0, label=row["suggested"])
    assert late.status_code == 409
    assert "ada" in late.text
    assert "was not saved" in late.text
    seen = re.search(r'name="seen" value="(\d+)"', late.text)[1]
    again = post(client, f"/t/{table}/verdict", "/", position=row["position"], seen=seen, label=row["suggested"])
    assert again.status_code == 303


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"column-1": "text"}, "choose the column that holds the labels"),
        ({"column-2": "label"}, "at least one column to learn from"),
        ({"column-0": "id", "column-1": "id", "column-2": "label"}, "only one column can be the row ID"),
        ({"column-0": "labeler", "column-1": "labeler", "column-2": "label"}, "only one column can be the labeler"),
    ],
)
def test_columns_that_cannot_be(client, columns, told):
    table_id = start(client, messages()[0].encode())
    answer = post(client, f"/t/{table_id}/columns", "/", **columns)
    assert (answer.status_code, told in answer.text) == (422, True)


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        (b"", "a.csv", "a.csv is empty"),
        (b"a,b\n1,2,3\n", "a.csv", "line 2"),
        (b"\x80\x04\x95\x10cos\nsystem\n", "model.pkl", "not utf-8"),
        (b"PK\x03\x04 no table", "a.xlsx", "Excel"),
    ],
)
def test_files_that_are_no_tables(client, content, name, told):
    answer = client.post("/import", data=form(client, "/import"), files={"file": (name, content)})
    assert (answer.status_code, told in answer.text) == (422, True), answer.text
    assert client.get("/api/tables").json() == []


def test_texts_and_labels_stay_text(client):
    """Script tags in a message, in a label, in a column and in a file's name."""
    rows = [
        f'"{SCRIPT} {"price cost" if i % 2 else "broken oil"}",{"<b>yes</b>" if i % 2 else SCRIPT}' for i in range(60)
    ]
    content = f"<i>message</i>,{SCRIPT}\n" + "\n".join(rows) + "\n"
    table_id = start(client, content.encode(), f"{SCRIPT.replace('/', '')}.csv")
    pages = [client.get(f"/t/{table_id}/columns").text]
    assert post(client, f"/t/{table_id}/columns", "/", **{"column-0": "text", "column-1": "label"}).status_code == 303
    wait(client, table_id)
    paths = ("", "/review?all=1", "/export", f"/review?given={SCRIPT}&suggested=<b>yes</b>")
    pages += [client.get(f"/t/{table_id}{path}").text for path in paths]
    pages.append(client.get("/").text)
    for page in pages:
        assert "alert(1)" in page or "&lt;script&gt;" in page
        assert "<script>alert" not in page
        assert "<b>yes</b>" not in page
        assert "<i>message" not in page


def test_a_form_needs_its_token(client, table):
    client.get("/")
    for token in ("", "wrong"):
        answer = client.post(f"/t/{table}/refit", data={"csrf_token": token})
        assert answer.status_code == 403
    assert client.get(f"/api/tables/{table}").json()["running"] is None
