"""Regular expressions of a configuration: linear time, edges, and no collisions."""

from __future__ import annotations

import re
import time

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from noisybayes.bot import Dialog
from noisybayes.bot.config import read_config
from noisybayes.bot.message_parser import parse_message
from noisybayes.bot.patterns import BadPattern, PatternSet, compile_pattern

from .shop import SHOP, broken

SHIPPED_KINDS = [
    r"used(?! to)", r"(?<!\w)@[a-z][\w.]{3,30}", r"(?<![\d.])(?:35|40|45)(?!\d|\.\d|w)", r"(?<=[aqs]\d)(?:35|40)(?!\d)",
    r"\d+ ?k? miles", r"[])]x",
]  # fmt: skip


@pytest.mark.parametrize("source", SHIPPED_KINDS)
@given(text=st.text(alphabet="used to@ab.35401w aq s5miles k])x", max_size=30))
def test_a_pattern_finds_what_the_standard_library_finds(source, text):
    found = compile_pattern(source).search(text)
    match = re.search(source, text, re.IGNORECASE)
    assert (found and (found.start, found.end)) == (match and match.span())


@pytest.mark.parametrize("source", ["(a+)+b", "(a|aa)+$", "(.*)*x", "([a-z]+)*1"])
def test_no_pattern_can_freeze_the_server(source):
    config = read_config(SHOP.replace("sliced: [sliced]", f"sliced: ['/{source}/']"))
    started = time.thread_time()
    parse_message(config, Dialog(), "a" * 34)
    parse_message(config, Dialog(), "a" * 2_000)
    assert time.thread_time() - started < 1


def test_named_groups_and_flags_of_two_words_do_not_collide():
    words = "sliced: ['/(?P<n>in slices)/', '/(?P<n>cut up)/', '/(?s)thin.ones/']"
    config = read_config(SHOP.replace("sliced: [sliced]", words))
    for message in ("in slices", "cut up", "thin\tones"):
        assert parse_message(config, Dialog(), message).dialog.known["cut"] == "sliced"


def test_what_is_not_linear_is_refused_with_line_and_key():
    told = broken("sliced: [sliced]", r"sliced: ['/(a)\1/']")
    assert told.startswith("shop.yaml, line 9, words.sliced")
    assert "is not a valid regular expression" in told
    assert "a lookbehind is only allowed at the start" in broken("sliced: [sliced]", "sliced: ['/a(?=b)c/']")
    with pytest.raises(BadPattern):
        compile_pattern("a{1000}{1000}")


def test_a_set_that_runs_out_of_memory_rules_out_no_pattern(monkeypatch):
    patterns = PatternSet(["a", "b", "c"])
    assert patterns.found_in("a c") == (0, 2)
    assert patterns.found_in("d") == ()
    monkeypatch.setattr(re2.Set, "Match", lambda *_: None)
    assert patterns.found_in("e") == (0, 1, 2)
