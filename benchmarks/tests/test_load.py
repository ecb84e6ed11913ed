"""A small live stream: nothing is lost or doubled, though the server is killed and the webhook refuses at first."""

from __future__ import annotations

from benchmarks import load
from noisybayes.bot import Bot, evaluate, load_config


def test_viewers_take_turns_and_keep_the_order_of_their_dialogs():
    plan = load.messages([["a", "b"], ["c"]], viewers=2, n=8)
    assert [person for person, _ in plan] == ["viewer 0", "viewer 1"] * 4
    assert "".join(text for _, text in plan) == "acbacbac"


def test_the_backlog_ends_with_the_first_message_that_waits_for_no_other():
    # down from 2 to 5; the messages of that time are answered by 6.5, but 6 and 7 wait behind them
    stream = [(0, 0.1), (1, 1.1), (2, 5.5), (3, 6.0), (4, 6.5), (5, 6.8), (6, 7.5), (7, 7.9), (8, 8.1), (9, 9.1)]
    sent = [load.Sent(*each) for each in stream]
    assert load.end_of_backlog(sent[::-1], (2.0, 5.0)) == 8.0
    assert load.end_of_backlog(sent[:7], (2.0, 5.0)) == 7.5  # never worked off


def test_nothing_is_lost_or_doubled(tmp_path):
    bot = Bot.train(load_config("cars"))
    bot.save(tmp_path / "bot")
    dialogs = [[case.message for case in each.turns] for each in evaluate.tests_of(bot) if each.goal]
    row = load.one_run(dialogs, tmp_path / "bot", viewers=20, rate=20, seconds=3)
    assert row["messages"] == 60
    kept = ("lost", "doubled", "leads_lost", "handovers_lost", "events_lost")
    assert {key: row[key] for key in kept} == dict.fromkeys(kept, 0)
    assert row["events_repeated"] <= 64  # what was on its way when the server was killed
    assert row["leads"] > 0
    assert "| 60 | 0 | 0 |" in load.page([{"rep": 0, **row, "machine": "this"}])
