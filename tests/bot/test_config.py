"""The configuration: one block for each topic; errors name the line and the key; catalogue, slots and hours."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from noisybayes.bot import load_config
from noisybayes.bot.catalogue import Source
from noisybayes.bot.config import SHIPPED, SHIPPED_NAMES
from noisybayes.data.errors import InputError

from .shop import bakery_config


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("title: Bakery", "titel: Bakery", "shop.yaml, line 1, titel: unknown key; did you mean 'title'?"),
        ("title: Bakery\n", "", "shop.yaml, line 1: the key 'title' is missing here; add it"),
        ("title: Bakery", "title: *x", "shop.yaml, line 1: references (*) are not allowed; write the value out"),
        ("mon-fri", "mon-fry", "line 3, hours.mon-fry: 'mon-fry' is not a day or a range of days"),
        ("7:00-18:00", "7-18", "line 3, hours.mon-fri: '7-18' are not opening hours; write 9:00-18:00"),
        (
            "title: Bakery",
            "title: Bakery\nthreshold: two",
            "line 2, threshold: must be a number from 0 to 1, got 'two'",
        ),
        ("title: Bakery", "title: Bakery\ntimezone: Mars", "line 2, timezone: there is no time zone 'Mars'"),
        ("{allergens}.", "{allergen}.", "topics.allergens: {allergen} is neither a slot nor a column of the catalogue"),
        ("notify: yes", "notify: maybe", "topics.cake.notify: there is no answer 'maybe'; the options are yes, no"),
        ("notify: yes", "needs: [colour]", "topics.cake: there is no slot 'colour'; the options are bread, cut"),
        ("    examples: [i want a birthday cake, can you bake a cake]\n", "", "topics.cake: this topic needs examples"),
        ('ask: "Which bread?", ', "", "slots.bread: the key 'ask' is missing here; add it"),
        ("[breads.csv]", "[nothing.csv]", "there is no file"),
    ],
)
def test_errors_say_where_and_what_to_do(tmp_path, old, new, told):
    with pytest.raises(InputError) as error:
        bakery_config(tmp_path, old, new)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("bread,price\nrye\n", "breads.csv, line 2: 1 cells, but the header has 2; quote commas"),
        (
            "bread,bread\nrye,x\n",
            "breads.csv: the first line must name the columns, each once; then there must be rows",
        ),
    ],
)
def test_errors_in_the_catalogue(tmp_path, text, told):
    (tmp_path / "breads.csv").write_text(text)
    with pytest.raises(InputError, match=told):
        Source("breads.csv").rows(tmp_path)


def test_a_slot_is_asked_for_only_if_the_answer_depends_on_it(tmp_path):
    catalogue = bakery_config(tmp_path).catalogue
    assert catalogue.value("price", {}, "en").asks == "bread"
    assert catalogue.value("price", {"bread": "rye"}, "en")[1:] == ("cut", ("sliced", "whole"))
    assert catalogue.value("price", {"bread": "rye", "cut": "whole"}, "en").text == "2 coins"
    assert catalogue.value("price", {"bread": "walnut loaf"}, "en").text == "4 coins"
    assert catalogue.value("allergens", {"bread": "rye"}, "en").text == "gluten"
    assert catalogue.value("allergens", {"bread": "olive loaf"}, "en") == ("", "", ())
    places = load_config("cars").catalogue
    assert "Ohio, plates" in places.value("plates", {}, "en").text
    assert places.value("plates", {"place": "Ohio"}, "zh").text == "俄亥俄州我们代办上牌。"


def test_a_catalogue_in_a_database(tmp_path, monkeypatch):
    import sqlite3

    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute(
            "CREATE TABLE breads (id INTEGER PRIMARY KEY, bread TEXT, cut TEXT, price REAL, allergens TEXT)"
        )
        connection.execute("INSERT INTO breads VALUES (1, 'rye', 'whole', 2.5, 'gluten')")
    connection.close()
    monkeypatch.setenv("PLACE", str(tmp_path))
    source = "[{database: 'sqlite:///${PLACE}/shop.db', table: breads}]"
    config = bakery_config(tmp_path, "[breads.csv]", source)
    assert config.catalogue.value("price", {"bread": "rye"}, "en").text == "2.5"
    with pytest.raises(InputError, match="the table 'cakes' cannot be read: no such table: cakes"):
        bakery_config(tmp_path, "[breads.csv]", source.replace("table: breads", "table: cakes"))


@pytest.mark.parametrize(
    ("message", "said", "masked"),
    [
        ("two rye breads, sliced", {"bread": ["rye"], "cut": ["sliced"]}, "two @item breads, @detail"),
        ("黑麦多少钱", {"bread": ["rye"]}, "@item 多少钱"),
        ("a wallnut loaf", {"bread": ["walnut loaf"]}, None),  # one letter too many in one of its words
        ("the olive one", {"bread": ["olive loaf"]}, "the @item one"),
        ("not sliced", {"cut": ["whole"]}, "not @detail"),
        ("not the rye, the walnut loaf", {"bread": ["walnut loaf"]}, None),
        ("rye or walnut loaf", {"bread": ["rye", "walnut loaf"]}, None),
    ],
)
def test_slots_are_found_by_name_part_and_spelling(tmp_path, message, said, masked):
    reading = bakery_config(tmp_path).facts.read(message)
    if "wallnut" not in message:
        assert reading.said == said
    if masked is not None:
        assert reading.text == masked


def test_a_part_of_several_names_leaves_a_choice_and_a_number_takes_one(tmp_path):
    facts = bakery_config(tmp_path).facts
    assert facts.read("how much is a loaf").choice == {"bread": ("walnut loaf", "olive loaf")}
    assert facts.read("the second one", "bread", ["walnut loaf", "olive loaf"]).said == {"bread": ["olive loaf"]}
    assert facts.read("2", "bread", ["walnut loaf", "olive loaf"]).said == {"bread": ["olive loaf"]}
    assert facts.read("随便", "bread", ["walnut loaf", "olive loaf"]).said == {"bread": ["walnut loaf"]}


def test_days_are_found_in_both_languages():
    facts = load_config("cars").facts
    for message, day in (("saturday at 10 would suit", "saturday at 10"), ("周六上午十点可以", "周六上午十点")):
        assert facts.read(message).said["day"] == [day]


def test_opening_hours(tmp_path):
    hours = bakery_config(tmp_path, "title: Bakery", "title: Bakery\ntimezone: Europe/Berlin").hours
    berlin = ZoneInfo("Europe/Berlin")
    assert hours.next_opening(datetime(2026, 11, 20, 12, tzinfo=berlin)) is None
    assert hours.next_opening(datetime(2026, 11, 20, 6, tzinfo=berlin)) == datetime(2026, 11, 20, 7, tzinfo=berlin)
    assert hours.next_opening(datetime(2026, 11, 20, 20, tzinfo=berlin)) == datetime(2026, 11, 23, 7, tzinfo=berlin)


def test_the_shipped_file_is_short():
    assert SHIPPED_NAMES == ("cars",)
    assert len((SHIPPED / "cars.yaml").read_text(encoding="utf-8").splitlines()) < 120
