"""A bot that learns from the labels of people: compared on held-out dialogs, switched on, and back again."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from noisybayes.bot import load_bot
from noisybayes.bot.retraining import compare, restore_previous, retrain_and_replace
from noisybayes.cli.bot import bot as command
from noisybayes.data.errors import InputError
from noisybayes.web.store import Store

from .shop import bakery, bakery_dialogs


def chats(label, n=30):
    """Dialogs with a greeting that the table does not have."""
    return [(f"chat {i}", place, message, given) for i in range(n)
            for place, (message, given) in enumerate([("gruezi", label), ("rye", None)], 1)]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    bakery().save(tmp_path / "shop")
    bakery_dialogs().to_csv(tmp_path / "dialogs.csv", index=False)
    return tmp_path / "shop"


def test_what_people_said_is_learned_and_compared_on_dialogs_of_neither_part(folder):
    found, both = compare(load_bot(folder), bakery_dialogs(), chats("thanks"))
    assert found.messages == 60
    assert found.is_better
    assert found.new > found.old  # the old model has never seen that greeting
    retrain_and_replace(folder, both)
    fresh, old = load_bot(folder), load_bot(folder.with_name("shop.previous"))
    assert fresh.answer(fresh.start(), "gruezi").category == "thanks"
    assert old.answer(old.start(), "gruezi").category != "thanks"
    restore_previous(folder)
    assert load_bot(folder).answer(old.start(), "gruezi").category != "thanks"
    restore_previous(folder)  # and forth
    assert load_bot(folder).answer(old.start(), "gruezi").category == "thanks"


def test_nothing_to_learn_from_or_to_go_back_to(folder):
    with pytest.raises(InputError, match="no message has a label yet; label some on the Learn page"):
        compare(load_bot(folder), bakery_dialogs(), chats(None))
    with pytest.raises(InputError, match="the stored label 'hello' is not a category of the bot"):
        compare(load_bot(folder), bakery_dialogs(), chats("hello"))
    with pytest.raises(InputError, match=r"there is no .*shop.previous to restore; the bot has not been retrained yet"):
        restore_previous(folder)


def run(*arguments):
    return CliRunner().invoke(command, ["retrain", *map(str, arguments)])


def test_the_command_learns_from_a_store(folder, tmp_path):
    url = f"sqlite:///{tmp_path / 'chats.db'}"
    state = load_bot(folder).start().as_dict()
    with Store.open(url) as store:
        for i in range(30):
            store.start_dialog(f"d{i}", state)
            store.add_turn(
                f"d{i}", seen=0, state=state, message="gruezi", category="price", title="Price", confidence=0.4,
                handover=True, reply="", fired=[],
            )  # fmt: skip
            store.label_turn(f"d{i}", 1, "eve", "which")
    result = run(folder, "--dialogs", tmp_path / "dialogs.csv", "--store", tmp_path / "chats.db")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("30 new messages; correct answers among ")
    assert "the new bot is in use; the previous one is kept in" in result.output
    result = run(folder, "--back")
    assert result.output.startswith("restored the previous bot; the replaced one is kept in")


def test_a_worse_model_is_not_switched_on(folder, tmp_path, monkeypatch):
    from noisybayes.bot import retraining

    real = retraining.compare

    def worse(*arguments, **options):
        found, both = real(*arguments, **options)
        return found._replace(old=1.0, new=0.5), both

    monkeypatch.setattr(retraining, "compare", worse)
    with Store.open(f"sqlite:///{tmp_path / 'chats.db'}") as store:
        store.start_dialog("d", {})
        turn = {"category": "price", "title": "", "confidence": 0.4, "handover": True, "reply": "", "fired": []}
        store.add_turn("d", seen=0, state={}, message="gruezi", **turn)
        store.label_turn("d", 1, "eve", "which")
    arguments = (folder, "--dialogs", tmp_path / "dialogs.csv", "--store", tmp_path / "chats.db")
    result = run(*arguments)
    assert result.exit_code == 2
    assert "the new model is worse on held-out dialogs, so the old one stays" in result.output
    assert not folder.with_name("shop.previous").exists()
    assert run(*arguments, "--force").exit_code == 0


def test_what_is_missing_is_one_sentence(folder, tmp_path):
    assert "give the table that the bot was trained on: --dialogs DIALOGS" in run(folder).output
    lost = run(folder, "--dialogs", tmp_path / "dialogs.csv", "--store", tmp_path / "no.db")
    assert "there is no store" in lost.output
    assert CliRunner().invoke(command, ["key"]).output.strip().endswith("=")
