"""Dates as features: year, month, weekday and hour, each a column of categories."""

from __future__ import annotations

import polars as pl

#: 2024-05-17, 2024/5/17 or 17.5.2024, perhaps with a time of day. With slashes and the year last, day and month are
#: ambiguous.
_YEAR_FIRST = r"^\s*(?<year>\d{4})[-/.](?<month>\d{1,2})[-/.](?<day>\d{1,2})(?:[T ,]+(?<hour>\d{1,2}):\d{2}.*)?\s*$"
_DAY_FIRST = r"^\s*(?<day>\d{1,2})\.(?<month>\d{1,2})\.(?<year>\d{4})(?:[T ,]+(?<hour>\d{1,2}):\d{2}.*)?\s*$"
_HALF = r"\d\s*([AaPp])\.?[Mm]\.?\b"
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PARTS = ("year", "month", "weekday", "hour")


def date_parts(texts: pl.Series) -> pl.DataFrame:
    """The parts of every text as text; null if it is not a date, or has no time of day."""
    matches = [texts.str.extract_groups(pattern).struct.unnest() for pattern in (_YEAR_FIRST, _DAY_FIRST)]
    number = {
        name: matches[0][name].fill_null(matches[1][name]).cast(pl.Int32, strict=False)
        for name in ("year", "month", "day", "hour")
    }
    half = texts.str.extract(_HALF).str.to_lowercase()
    days = pl.DataFrame({**number, "half": half}).select(
        day=pl.when(pl.col("month").is_between(1, 12) & pl.col("day").is_between(1, 31)).then(
            pl.format("{}-{}-{}", "year", pl.col("month").cast(pl.String).str.zfill(2),
                      pl.col("day").cast(pl.String).str.zfill(2))
        ).str.to_date("%Y-%m-%d", strict=False),
        hour=pl.when(pl.col("half").is_not_null()).then(pl.col("hour") % 12 + 12 * (pl.col("half") == "p"))
        .when(pl.col("hour") < 24).then("hour"),
    )  # fmt: skip
    months, weekdays = dict(enumerate(_MONTHS, 1)), dict(enumerate(_WEEKDAYS, 1))
    return days.select(
        year=pl.col("day").dt.year().cast(pl.String),
        month=pl.col("day").dt.month().replace_strict(months, return_dtype=pl.String),
        weekday=pl.col("day").dt.weekday().replace_strict(weekdays, return_dtype=pl.String),
        hour=pl.when(pl.col("day").is_not_null()).then(pl.col("hour").cast(pl.String).str.zfill(2)),
    )
