"""A small live stream: nothing is lost or doubled, though the server is killed and the webhook refuses at first."""

from __future__ import annotations

from benchmarks import audience
from benchmarks.load import _dialogs

from ..bot.shop import demo
from .test_bench import RUNS


def test_viewers_take_turns_and_keep_the_order_of_their_dialogs():
    plan = audience.messages([["a", "b"], ["c"]], viewers=2, n=8)
    assert [(each.person, each.text) for each in plan[:4]] == [
        ("viewer 0", "a"), ("viewer 1", "c"), ("viewer 0", "b"), ("viewer 1", "a"),
    ]  # fmt: skip
    assert [each.number for each in plan] == list(range(8))


def test_the_backlog_ends_with_the_first_message_that_waits_for_no_other():
    def sent(number, done):
        return audience.Sent(number, due=float(number), done=done, attempts=1)

    # down from 2 to 5; the messages of that time are answered by 6.5, but 6 and 7 wait behind them
    stream = [sent(0, 0.1), sent(1, 1.1), sent(2, 5.5), sent(3, 6.0), sent(4, 6.5), sent(5, 6.8), sent(6, 7.5)]
    stream += [sent(7, 7.9), sent(8, 8.1), sent(9, 9.1)]
    assert audience._end_of_backlog(stream[::-1], (2.0, 5.0)) == 8.0
    assert audience._end_of_backlog(stream[:7], (2.0, 5.0)) == 7.5  # never worked off


def test_nothing_is_lost_or_doubled(tmp_path):
    demo().save(tmp_path / "bot")
    row = audience.one_run(_dialogs(), tmp_path / "bot", viewers=20, rate=20, seconds=3)
    assert row["messages"] == 60
    kept = ("lost", "doubled", "leads_lost", "handovers_lost", "events_lost")
    assert {key: row[key] for key in kept} == dict.fromkeys(kept, 0)
    assert row["events_repeated"] <= 64  # what was on its way when the server was killed
    assert row["leads"] > 0
    assert "noisybayes bench audience" in audience.page([{"dialogs": "example", **row}])
    assert set(row) == set(RUNS[audience])
