"""Example messages: what a message is about, beside the dictionaries."""

from __future__ import annotations

import pytest

from noisybayes.bot import load_bot, load_config
from noisybayes.bot.chinese import _PAIRS, simplified
from noisybayes.bot.config import read_config
from noisybayes.bot.dialog_state import Dialog
from noisybayes.bot.dictionaries import fold
from noisybayes.bot.meanings import examples_text
from noisybayes.bot.meanings_view import grams_of
from noisybayes.bot.message_parser import parse_message
from noisybayes.data.errors import InputError

from .shop import SHOP, config_of, demo

MEANINGS = """\
meanings:
  names: [asks_price, greets, angry]
  examples: bakery_examples.csv
  groups: {trouble: [angry]}
  aside: [greets]
  leave_out: [bread]
  clear: 0.5
  possible: 0.3
"""
EXAMPLES = """\
meaning,message
asks_price,what do you charge for a {bread}
asks_price,what would I pay
asks_price,is it expensive
greets,good morning
greets,hello everybody
greets,nice to see you
angry,this is a disgrace
angry,your bakery is awful
angry,I am furious
any,please
any,my friend
"""


def _shop(tmp_path, examples=EXAMPLES, meanings=MEANINGS, old="", new=""):
    text = SHOP.replace("slots:\n", meanings + "slots:\n", 1)
    text = text.replace("when: {any: [price, ", "when: {any: [price, means.asks_price, ", 1)
    assert old in text
    (tmp_path / "bakery.yaml").write_text(text.replace(old, new, 1) if old else text, encoding="utf-8")
    (tmp_path / "bakery_examples.csv").write_text(examples, encoding="utf-8")
    return load_config(tmp_path / "bakery.yaml")


def _clear(config, text):
    return [name for name, held in config.meanings.truths(fold(text)).items() if held and name.startswith("means.")]


def test_a_message_means_what_the_examples_like_it_mean(tmp_path):
    config = _shop(tmp_path)
    assert _clear(config, "what would you charge me?") == ["means.asks_price"]
    assert _clear(config, "simply awful, a disgrace") == ["means.angry", "means.trouble"]
    assert config.meanings.truths(fold("zzz qqq"))["meaning_unclear"]
    assert config.meanings.truths("12345")["meaning_unclear"]  # which number it is says nothing
    # an aside stands back where another clause is clear
    assert _clear(config, "Good morning, hello everybody, what would I pay?") == ["means.asks_price"]


def test_one_angry_clause_is_enough_for_a_suspicion(tmp_path):
    meanings = _shop(tmp_path).meanings
    for aside in ("", " 😂"):  # an emoji does not make a clause of every word
        truths = meanings.truths(fold(f"What would I pay{aside}, what do you charge, this is a disgrace"))
        held = [truths[f"may_mean.{name}"] for name in ("trouble", "angry", "greets")]
        assert held == [True, True, False]


def test_a_word_that_fills_a_slot_does_not_end_a_clause(tmp_path):
    chinese = "angry,他的\nangry,他的他的\nasks_price,他的{bread}多少\nasks_price,这个{bread}多少\n"
    bakery = {"old": "[rye, rye bread]", "new": "[rye, 黑面包]"}
    meanings = _shop(tmp_path, examples=EXAMPLES + chinese, **bakery).meanings
    assert meanings.truths("他的，多少")["may_mean.trouble"]
    assert not meanings.truths("他的黑面包多少")["may_mean.trouble"]


def test_what_fills_a_slot_is_not_seen(tmp_path):
    meanings = _shop(tmp_path).meanings
    assert meanings.masked("what do you charge for a rye bread") == "what do you charge for a"
    assert meanings.masked(fold("Baguettes please")) == "please"
    kept = _shop(tmp_path, old="  leave_out: [bread]\n").meanings
    assert kept.masked("charge for a rye bread") == "charge for a {bread}"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"examples": EXAMPLES.replace("greets,good morning", "greet,good morning")},
            "bakery_examples.csv, line 5: there is no meaning 'greet'; did you mean 'greets'?",
        ),
        (
            {"examples": "text,label\n"},
            "bakery_examples.csv, line 1: the columns must be meaning,message, got text,label",
        ),
        (
            {"examples": EXAMPLES + "greets,hello, you\n"},
            "bakery_examples.csv, line 13: 3 cells instead of 2; put a message with commas in quotes",
        ),
        (
            {"examples": "meaning,message\ngreets,hi\ngreets,ho\n"},
            "bakery_examples.csv: the meaning 'asks_price' needs at least 2 examples; add some",
        ),
        (
            {"old": "means.asks_price", "new": "means.asks_prize"},
            "features.asks_price.when.any: there is no meaning 'asks_prize'; did you mean 'asks_price'?",
        ),
        (
            {"old": "trouble: [angry]", "new": "trouble: [anger]"},
            "meanings.groups.trouble: there is no meaning 'anger'",
        ),
        ({"old": "bakery_examples.csv", "new": "none.csv"}, "none.csv; put it next to the configuration"),
    ],
)
def test_errors_of_examples_name_file_line_and_key(tmp_path, change, told):
    with pytest.raises(InputError) as caught:
        _shop(tmp_path, **change)
    assert told in str(caught.value)


def test_a_saved_bot_has_its_examples_and_answers_as_before(tmp_path):
    bot = demo()
    bot.save(tmp_path / "bot")
    again = load_bot(tmp_path / "bot")
    assert examples_text(again.config.meanings) == examples_text(bot.config.meanings)
    for message in ("any wiggle room on the new Tarvo Sport?", "the pedal sinks when I brake", "you crack me up"):
        then, now = (each.answer(each.start(), message) for each in (bot, again))
        assert (then.category, then.reply, then.reason) == (now.category, now.reply, now.reason)
        assert then.confidence == pytest.approx(now.confidence, abs=1e-4)


def test_a_bot_of_other_meanings_is_refused(tmp_path):
    demo().save(tmp_path / "bot")
    file = tmp_path / "bot" / "bot.yaml"
    file.write_text(file.read_text().replace("order, anger, contact_details", "order, contact_details, anger"))
    with pytest.raises(ValueError, match="do not match the model; train the bot again"):
        load_bot(tmp_path / "bot")


def test_misspelt_cars_and_answers_are_known_and_other_words_are_not():
    bot = demo()
    for message, car in (("velmorra price?", "Velmora"), ("what is the value of a tavern?", None)):
        assert bot.answer(bot.start(), message).dialog.known.get("car") == car
    asked = bot.answer(bot.start(), "any discount on a new Bramlow?")
    for message, version in (("premum", "Premium"), ("I need support", None)):
        assert bot.answer(asked.dialog, message).dialog.known.get("configuration") == version


def test_a_name_that_goes_with_anything_speaks_for_no_meaning(tmp_path):
    text = "asks_price,{bread}\n"  # by itself, a bread is a question for its price
    meanings = MEANINGS.replace("  leave_out: [bread]\n", "")
    without = _shop(tmp_path, EXAMPLES + text, meanings).meanings
    beside = _shop(tmp_path, EXAMPLES + text + "any,{bread}\n", meanings).meanings
    place = beside.names.index("angry")
    masked = beside.masked("rye is awful")
    assert beside.view.posterior(masked)[place] > without.view.posterior(masked)[place]
    rows = beside.view.grams  # asides are not repeated: a greeting that names a bread is none
    assert "{bread}=hello" not in rows
    assert "{bread}=this" in rows


def test_one_spelling_for_both_scripts_and_all_apostrophes():
    assert simplified(_PAIRS[::2]) == _PAIRS[1::2] == simplified(_PAIRS[1::2])
    _PAIRS[1::2].encode("gbk")  # which holds what is written in mainland China
    assert (fold("現在有優惠嗎"), fold("what\u2019s")) == ("现在有优惠吗", "what's")


def test_words_and_characters():
    assert {"=how", "how=much", " how", "much "} <= set(grams_of("how much"))
    assert {"优", "优惠", "=优惠"} <= set(grams_of("优惠"))
    assert grams_of("7") == grams_of("42")


def test_without_examples_every_meaning_is_unclear():
    parsed = parse_message(read_config(SHOP, "shop.yaml"), Dialog(), "how much is rye")
    assert parsed.context.truths["meaning_unclear"]


@pytest.mark.parametrize("form", ["{car} TEXT", "TEXT, {car}", "TEXT {car}"])
def test_trouble_is_suspected_whether_a_car_is_named_or_not(form):
    meanings = config_of("en").meanings
    places = [meanings.names.index(name) for name in meanings.groups["for_a_person"]]
    rows = [message for meaning, message in meanings.examples if meaning in meanings.groups["for_a_person"]]
    texts = [form.replace("TEXT", meanings.masked(fold(message))) for message in rows if "{" not in message]
    suspected = [meanings.view.posterior(text)[places].sum() >= meanings.possible for text in texts]
    assert sum(suspected) >= 0.97 * len(texts)
