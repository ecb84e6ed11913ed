"""The topic model decides, its examples may be mislabeled, and the shipped tests hold."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from noisybayes.bot import Bot, Dialog
from noisybayes.bot.config import SHIPPED
from noisybayes.bot.dialog import masked
from noisybayes.bot.evaluate import evaluate, is_acceptable, read_tests
from noisybayes.bot.topics import Example, TopicModel, folded

from .shop import demo

TOPICS = Path(__file__).parents[2] / "benchmarks" / "data" / "responder_topics.csv"


def labeled() -> list[tuple[str, str]]:
    with TOPICS.open(encoding="utf-8", newline="") as file:
        return [(masked(demo().config, row["message"]), row["topic"]) for row in csv.DictReader(file)]


def right(model: TopicModel) -> int:
    posteriors = [(model.posterior(text), topic) for text, topic in labeled()]
    return sum(max(each, key=each.__getitem__) == topic for each, topic in posteriors)


def test_a_uniform_posterior_changes_at_least_a_third_of_the_topics():
    class Uniform:
        topics = demo().model.topics

        def posterior(self, text):
            return dict.fromkeys(self.topics, 1 / len(self.topics))

    blind = Bot(demo().config, Uniform())
    changed = [demo().answer(Dialog(), text).topics != blind.answer(Dialog(), text).topics for text, _ in labeled()]
    assert np.mean(changed) > 1 / 3


def test_a_fifth_of_mislabeled_examples_costs_little():
    """Here at random, once; `python -m benchmarks bot` has several draws, and pairs."""
    rng, names = np.random.default_rng(0), demo().model.topics
    plain = [Example(each.text, each.topic) for each in demo().examples]
    noisy = [each._replace(topic=str(rng.choice(names))) if rng.random() < 0.2 else each for each in plain]
    assert right(TopicModel.fit(noisy)) >= right(TopicModel.fit(plain)) - 0.04 * len(labeled())


def test_the_shipped_tests_hold():
    for language in ("en", "zh"):
        found = evaluate(demo(), read_tests([SHIPPED / f"cars_tests_{language}.yaml"]))
        assert found.messages >= 100
        assert found.dialogs == 20
        assert found.acceptable >= 0.95 * found.messages, found.misses
        assert found.goals >= 0.9 * found.dialogs, found.misses


def test_no_test_message_was_added_to_the_examples():
    """What both have in common was among the examples before the tests were written: greetings and the like."""
    said = read_tests([SHIPPED / f"cars_tests_{language}.yaml" for language in ("en", "zh")])
    messages = {folded(each.turns[0].message) for each in said if not each.goal}
    common = messages & {folded(text) for text, _, _ in demo().config.examples()}
    assert len(common) <= 25, common
    assert max(map(len, common)) <= 45


def test_replies_invent_nothing():
    """Every number in a reply stands in the file or its tables."""
    import re

    known = demo().config.source + "".join(demo().config.files().values())
    known += (SHIPPED / "defaults.yaml").read_text(encoding="utf-8") + "09:00"
    for text, _ in labeled():
        reply = demo().answer(Dialog(), text).reply
        assert all(number in known for number in re.findall(r"\d[\d.,:]*\d", reply)), reply


def test_what_is_acceptable():
    bot, acts = demo(), frozenset
    assert is_acceptable(bot, acts({"ask car"}), [acts({"ask"})])
    assert is_acceptable(bot, acts({"loan", "person"}), [acts({"loan"})])
    assert is_acceptable(bot, acts({"price", "contact"}), [acts({"price", "contact"})])
    assert not is_acceptable(bot, acts({"price"}), [acts({"person"})])
    assert not is_acceptable(bot, acts({"price", "discount"}), [acts({"price"})])
    assert not is_acceptable(bot, acts({"price", "person"}), [acts({"price"})])
