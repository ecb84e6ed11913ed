"""A file that would end the process that reads it is refused in one sentence, and the server goes on."""

from __future__ import annotations

from pathlib import Path

from .desk_at_work import messages, open_client, open_store

PAGE = Path(__file__).parent / "page_with_less_than_no_values.parquet"


def test_a_parquet_page_with_less_than_no_values(tmp_path):
    with open_client(open_store(tmp_path)) as client:
        for name, content, status in (("a.parquet", PAGE.read_bytes(), 422), ("b.csv", messages()[0].encode(), 201)):
            answer = client.post(f"/api/tables?name={name}", content=content, headers={"Content-Type": "a/b"})
            assert answer.status_code == status, answer.text
            assert "\n" not in answer.json().get("detail", "")
