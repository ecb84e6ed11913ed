"""What the measurements of the review desk count; they themselves are `noisybayes bench servers` and `connections`."""

from __future__ import annotations

from benchmarks.desk_load import connections, servers
from benchmarks.desk_load.servers import Seen
from noisybayes.web.store import Finding, Store


def test_lost_and_double_verdicts_are_counted(tmp_path):
    url = f"sqlite:///{tmp_path / 'desk.db'}"
    with Store.open(url) as store:
        rows = [Finding(i, None, "a", "b", 0.9, 0.8, True, {}) for i in range(3)]
        table_id = store.add_table("t", b"", 3, ["x"])
        store.finish_fit(store.start_fit(table_id), {}, rows)
        first = store.give_verdict(table_id, 0, reviewer="ann", label="a", seen=0).id
        second = store.give_verdict(table_id, 1, reviewer="ann", label="a", seen=0).id
        store.give_verdict(table_id, 1, reviewer="bob", label="b", seen=second)
    seen = Seen()
    for verdict, position in ((first, 0), (second, 1), (99, 2)):
        seen.take(verdict, position)
    for status in (201, 201, 201, 503, 500, 0, 409):
        seen.note(status)
    found = servers._counted(url, table_id, seen)
    assert (found["verdicts"], found["acknowledged"], found["lost"], found["double"]) == (3, 3, 1, 1)
    assert (found["unavailable"], found["other_answers"], found["no_answer"], found["conflicts"]) == (1, 1, 1, 1)


def test_slow_connections_and_memory(tmp_path):
    rows = list(connections.measure(slow=20, seconds=0.4, requests=20))
    assert [(row["what"], row["slow"], row["held"], row["errors"]) for row in rows] == [
        ("waits", 0, 0, 0), ("waits", 20, 20, 0), ("memory", 0, 0, 0),
    ]  # fmt: skip
    assert len(str(rows[-1]["growth_mb"]).split()) == 4
    assert "| 20 | 0 | 20 | 0 |" in connections.render(rows)
