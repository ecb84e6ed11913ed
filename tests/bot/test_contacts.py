"""Contact details are found and never shown."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisybayes.bot import Dialog
from noisybayes.bot.message_parser import parse_message

from .shop import config_of

ENGLISH, CHINESE = config_of("en"), config_of("zh")
DIGITS = st.text("0123456789０１２３４５６７８９٣ -()+.年", max_size=30)


def masked(config, message):
    parsed = parse_message(config, Dialog(), message)
    assert parsed.contact == parsed.dialog.left_contact
    return parsed.message if parsed.contact else None


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("call 555-0142 now", "call [contact] now"),
        ("+44 (0)20 7946 0958", "[contact]"),
        ("dana7@example.com, thanks", "[contact], thanks"),
        ("I am @dana_k there", "I am [contact] there"),
        ("telegram: dana.k7", "[contact]"),
        ("a 2015-2018 Tarvo for $25,400 over 36 months", None),
        ("12 Mill Road", None),
    ],
)
def test_english(message, expected):
    assert masked(ENGLISH, message) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("10000000000", "[contact]"),
        ("好１３８００１３８０００", "好[contact]"),
        ("加我微信zhangsan88谢谢", "加我[contact]谢谢"),
        ("VX：zhang-san8", "[contact]"),
        ("USER_ID微信号", "[contact]微信号"),
        ("V：zhangsan", "[contact]"),
        ("加v lisi88", "[contact]"),
        ("威信 lisi-2020", "[contact]"),
        ("R8 v spyder", None),
        ("qq 12345678", "qq [contact]"),
        ("扣扣号：12345", "扣扣号:[contact]"),
        ("14-17年A4，2015-2018年也行", None),
        ("A6ALLROAD落地多少", None),
        ("加微信吗", None),
    ],
)
def test_chinese(message, expected):
    assert masked(CHINESE, message) == expected


@given(st.lists(st.one_of(DIGITS, st.text(max_size=20)), max_size=4).map("".join))
def test_no_long_number_survives(message):
    for config in (ENGLISH, CHINESE):
        parsed = parse_message(config, Dialog(), message)
        assert not re.search(r"\d{7,}", parsed.message)
        assert not re.search(r"\d{7,}", parsed.context.text)
        assert not re.search(r"\d{7,}", str(parsed.dialog.as_dict()))
