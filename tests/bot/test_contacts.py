"""Contact details are found however they are written, and never shown."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisybayes.bot.contacts import find, shown

OWN = ["614-555-0101", "sales@shop.example"]
DIGITS = st.text("0123456789０１２３４５６７８９ -()+.年", max_size=30)


@pytest.mark.parametrize(
    ("message", "masked", "details"),
    [
        ("call 555-0142 now", "call [contact] now", ["555-0142"]),
        ("+44 (0)20 7946 0958", "[contact]", ["+44 (0)20 7946 0958"]),
        ("dana7@example.com, thanks", "[contact], thanks", ["dana7@example.com"]),
        ("dana.w (at) mail (dot) com", "[contact]", ["dana.w@mail.com"]),
        ("wang at example dot com", "[contact]", ["wang@example.com"]),
        ("I am @dana_k there", "I am [contact] there", ["@dana_k"]),
        ("telegram: dana.k7", "telegram: [contact]", ["dana.k7"]),
        ("six one four five five five oh one eight eight", "[contact]", ["6145550188"]),
        ("my number is 614... 555... 0188", "my number is [contact]", ["614... 555... 0188"]),
        ("好１３８００１３８０００", "好[contact]", ["13800138000"]),
        ("打我电话幺三九零零零零一二三四", "打我电话[contact]", ["13900001234"]),
        ("一三八 零零零零 五六七八，李先生", "[contact],李先生", ["13800005678"]),
        ("加我微信zhangsan88谢谢", "加我微信[contact]谢谢", ["zhangsan88"]),
        ("V：zhangsan", "V:[contact]", ["zhangsan"]),
        ("USER_ID微信号", "[contact]微信号", ["USER_ID"]),
        ("qq 12345678", "qq [contact]", ["12345678"]),
    ],
)
def test_a_contact_is_found_and_masked(message, masked, details):
    found = find(message, OWN)
    assert (found.text, list(found.details)) == (masked, details)


@pytest.mark.parametrize(
    "message",
    [
        "a 2015-2018 Tarvo for $25,400 over 36 months", "12 Mill Road", "order 12345678, where is it", "R8 v spyder",
        "A6ALLROAD落地多少", "加微信吗", "add me on whatsapp please", "one or two, for 23,100 or 25,000",
        "14-17年A4，2015-2018年也行", "on 2026-11-20 please", "cheaper at cars.com, meet me at noon",
    ],
)  # fmt: skip
def test_what_is_no_contact_is_left(message):
    assert find(message, OWN).details == ()


def test_the_shops_own_number_is_no_lead_however_it_is_written():
    for message in (
        "614 555 0101",
        "is 6145550101 right?",
        "mail to Sales@shop.example",
        "is 614-555-0199 your number?",
    ):
        assert find(message, OWN).details == ()
    assert find("614-555-0199", OWN).details == ("614-555-0199",)


def test_a_number_in_two_messages():
    first = find("hold it! 614 555")
    assert (first.details, first.piece) == ((), "614555")
    assert find("0177", piece=first.piece).details == ("6145550177",)
    assert find("0177").details == ()


def test_enough_is_shown_to_recognize_it():
    assert (shown("555-0142-77"), shown("jane@example.com")) == ("***77", "***@example.com")


@given(st.lists(st.one_of(DIGITS, st.text(max_size=20)), max_size=4).map("".join))
def test_no_long_number_survives(message):
    text = find(message).text
    assert not re.search(r"(?<!\d)(?<![$€£¥.,\d-])\d{8,}", re.sub(r"\d{4}-\d{1,2}-\d{1,2}", "", text))
