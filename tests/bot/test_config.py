"""Configurations: the shipped ones hold together, and errors name file, line and key."""

from __future__ import annotations

import pytest

from noisybayes.bot import load_config
from noisybayes.bot.config import read_config, shipped_names
from noisybayes.data.errors import InputError

from .shop import SHOP, broken


def test_a_configuration_is_read():
    config = read_config(SHOP)
    assert list(config.categories) == ["price", "which", "thanks"]
    assert config.features["first"].title == "is the first message"
    assert (config.category_of("3"), config.category_of("thanks"), config.category_of("4")) == (
        "thanks",
        "thanks",
        None,
    )


@pytest.mark.parametrize("name", shipped_names())
def test_the_shipped_configurations_have_the_papers_features_and_categories(name):
    config = load_config(name)
    assert (len(config.features), len(config.categories)) == (22, 13)
    assert list(config.features) == list(load_config("cars_en").features)
    assert list(config.categories) == list(load_config("cars_en").categories)
    promises = {key for key, category in config.categories.items() if category.notify}
    assert promises == {"contact_left", "which_configuration", "assign_salesperson", "ask_for_contact"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "reply: 'Noted: {bread}'",
            "reply: [a, b]",
            "shop.yaml, line 32, categories.which.reply: must be text, got a list",
        ),
        (
            "Which bread, reply",
            "Which bread, replly",
            "line 32, categories.which.replly: unknown key; did you mean 'reply'?",
        ),
        (', reply: ""', "", "line 33, categories.thanks: the key 'reply' is missing here; add it"),
        ("language: en", "language:", "line 2, language: must be text, got nothing"),
        ("language: en", "language: !!python/name:os.system x", "line 2, language: must be text, got"),
        ("threshold: 0.5", "threshold: 1.5", "line 3, threshold: must be a number from 0 to 1, got '1.5'"),
        ("threshold: 0.5", "threshold: high", "line 3, threshold: must be a number from 0 to 1, got 'high'"),
        ("threshold: 0.5", "title: again", "line 3: the key 'title' occurs twice; remove one of them"),
        ("[sliced]", "[]", "line 9, words.sliced: a dictionary needs at least one word"),
        ("/cost[s]?/", "/cost[/", "line 8, words.price: '/cost[/' is not a valid regular expression"),
        ("/cost[s]?/", "/x*/", "line 8, words.price: '/x*/' matches the empty text"),
        ("'@[a-z]{3,}'", "'@('", "line 5, contacts: '@(' is not a valid regular expression"),
        (
            "when: contact}",
            "when: contcat}",
            "line 28, features.contact_given.when: there is no dictionary, rule, feature "
            "or fact 'contcat'; did you mean 'contact'?",
        ),
        (
            "said.bread",
            "said.bred",
            "line 25, features.names_bread.when: there is no slot 'bred'; did you mean 'bread'?",
        ),
        (
            "take: bread",
            "take: breads",
            "line 12, slots.bread.take: there is no dictionary 'breads'; did you mean 'bread'?",
        ),
        ("take: bread}", "take: bread, values: {}}", "line 12, slots.bread: a slot needs either take"),
        (
            "asks: bread",
            "asks: car",
            "line 32, categories.which.asks: there is no slot 'car'; the options are bread, cut",
        ),
        (
            "Noted: {bread}",
            "Noted: {car}",
            "line 32, categories.which.reply: {car} is not a slot; the slots are bread, cut",
        ),
        (
            "{none: [asks_price, order]}",
            "[asks_price]",
            "line 29, features.quiet.when: must be a condition, got a list",
        ),
        ("{only: [bread, sliced, whole]}", "quiet", "this depends on itself (order -> quiet -> asks_price -> order)"),
        (
            "  order:",
            "  price:",
            "line 22, rules.price: the name 'price' is already used by a dictionary, a rule or a fact",
        ),
        ("label: 3", "label: price", "line 33, categories.thanks: the label 'price' is already used by 'price'"),
        ("asks: bread", "notify: perhaps", "line 32, categories.which.notify: there is no answer 'perhaps'"),
        ("when: first_message", "when: known.cut=slicd", "line 27, features.first.when: the slot 'cut' has no value"),
        ("  order:", "  2nd:", "line 22, rules.2nd: '2nd' is not a valid name"),
        ("title: Bakery", "title: *name", "line 1: references (*name) are not allowed; write the value out"),
        ("title: Bakery", "title: [", "this is not valid YAML"),
        ("title: Bakery", "title: " + "[" * 40 + "]" * 40, "line 1: nested more than 30 levels deep"),
    ],
)
def test_errors_name_line_and_key(old, new, message):
    assert message in broken(old, new)


def test_files_that_are_not_there_empty_or_not_text(tmp_path):
    with pytest.raises(InputError, match="there is no file 'cars_fr'; .* shipped one: cars_en, cars_zh"):
        load_config("cars_fr")
    with pytest.raises(InputError, match="is a folder"):
        load_config(tmp_path)
    (tmp_path / "empty.yaml").write_text("# nothing\n")
    with pytest.raises(InputError, match="empty.yaml is empty; `noisybayes bot init FILE`"):
        load_config(tmp_path / "empty.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"title: \xff\xfe\n")
    with pytest.raises(InputError, match="bytes.yaml is not UTF-8 text"):
        load_config(tmp_path / "bytes.yaml")
