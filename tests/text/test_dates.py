"""Dates as features."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import polars as pl
import pytest

from noisybayes import audit
from noisybayes.data.roles import Roles
from noisybayes.text.dates import date_parts
from noisybayes.text.features import Recipe

ROLES = Roles("label", (), ("day",), (), (), None, None)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2024-05-17", ("2024", "May", "Friday", None)),
        ("2024-5-7T08:30:00Z", ("2024", "May", "Tuesday", "08")),
        ("2024/12/31 23:59", ("2024", "December", "Tuesday", "23")),
        ("17.5.2024, 9:05", ("2024", "May", "Friday", "09")),
        ("17.5.2024 12:05 a.m.", ("2024", "May", "Friday", "00")),
        ("2024-02-30", (None, None, None, None)),
        ("5/17/2024", (None, None, None, None)),
    ],
)
def test_parts_of_dates(text, parts):
    assert date_parts(pl.Series([text])).row(0) == parts


def test_a_column_of_dates_becomes_its_parts_and_the_recipe_can_be_stored():
    frame = pl.DataFrame({"day": ["2024-05-17", "2024-05-18", None, "2024-06-20"]})
    recipe, features = Recipe.fit(frame, ROLES)
    names = [name for block in features.blocks for name in block.names]
    assert names == [
        "year of day=(empty)", "year of day=2024", "month of day=(empty)", "month of day=June", "month of day=May",
        "weekday of day=(empty)", "weekday of day=Friday", "weekday of day=Saturday", "weekday of day=Thursday",
    ]  # fmt: skip
    np.testing.assert_array_equal(features.X.toarray()[0], [0, 1, 0, 0, 1, 0, 1, 0, 0])
    again = Recipe.from_dict(json.loads(json.dumps(recipe.to_dict())))
    assert again == recipe
    new = pl.DataFrame({"day": ["2025-06-20"]})  # a year that was never seen has no feature
    np.testing.assert_array_equal(again.transform(new).toarray()[0], [0, 0, 0, 1, 0, 0, 1, 0, 0])
    whole = pl.DataFrame({"day": ["2024-05-17", "2024-05-18", "later"]})
    assert Recipe.fit(whole, ROLES)[0].blocks[0].names == ("day=2024-05-17", "day=2024-05-18", "day=later")
    with pytest.raises(ValueError, match="'second' is not a part of the dates in 'day'"):
        Recipe.from_dict({"parts": [{**recipe.to_dict()["parts"][0], "part": "second"}]})


def test_an_audit_learns_from_weekdays():
    rng = np.random.default_rng(0)
    days = [dt.date(2024, 1, 1) + dt.timedelta(int(i)) for i in rng.integers(700, size=600)]
    true = np.array(["weekend" if day.weekday() >= 5 else "work" for day in days])
    label = np.where(rng.random(600) < 0.1, np.where(true == "work", "weekend", "work"), true)
    frame = pl.DataFrame({"day": days, "label": label})
    found = audit(frame, label="label", categorical="day")
    suspect = found.table["suspect"].to_numpy()
    assert (suspect == (label != true)).mean() > 0.97
    assert any("weekday of day" in entry["feature"] for entry in found.summary()["suspects"][0]["evidence"])
