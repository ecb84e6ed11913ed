"""What a column of a table looks like: an identifier, a text, a category, a number, a yes / no."""

from __future__ import annotations

import re
from typing import NamedTuple

import polars as pl

from .cells import as_numbers, as_text, as_truths

LABEL_NAMES = (
    "label", "labels", "given_label", "observed_label", "noisy_label", "y", "class", "category", "target", "intent",
    "topic", "tag", "sentiment",
)  # fmt: skip
#: Columns that may hold the answer: a model that saw them would find nothing.
_TRUTH_NAMES = {
    "gt", "gold", "truth", "ground_truth", "verified", "expert", "ys", "y_true", "correct", "corrected", "clean",
}  # fmt: skip
_TRUTH_PATTERN = re.compile(
    r"(true|gold|gt|verified|correct|corrected|clean|expert|real|actual)_(label|class|category|y)"
)
_TEXT_NAMES = {
    "text", "message", "comment", "body", "question", "utterance", "content", "description", "review", "tweet",
    "sentence", "subject", "title", "query", "document",
}  # fmt: skip
_ID_PATTERN = re.compile(r"id|uuid|guid|index|key|\w+_(id|uuid|key|index)|row|row_(number|nr|no)|unnamed:_0")
_SPACELESS = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"

_MOST_CATEGORIES = 100
_FEW_NUMBERS = 10
_SHORT = 40  # characters
_WORDS_OF_A_TEXT = 3
_SAMPLE = 2_000  # rows


class Guess(NamedTuple):
    role: str | None  # "id", "text", "categorical", "numeric", "binary", or None: not to be used
    why: str


def plain(name: str) -> str:
    """A name of a column without its habits of spelling: "True Label", "trueLabel", "true-label" are one."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[\s\-.]+", "_", words).casefold()


def is_truth_name(name: str) -> bool:
    return plain(name) in _TRUTH_NAMES or _TRUTH_PATTERN.fullmatch(plain(name)) is not None


def guess(column: pl.Series, answers: list[pl.Series]) -> Guess:
    """`answers` are the columns of labels, as text: what says the same is no feature."""
    if is_truth_name(column.name):
        return Guess(None, f"named like the true label, so it is no feature; --verified {column.name} uses it")
    if _is_odd(column.dtype):
        return Guess(None, f"holds {_in_words(column.dtype)}, which are not used as a feature")
    text = as_text(column)
    values = text.drop_nulls()
    n_distinct = values.n_unique()
    if n_distinct == 0:
        return Guess(None, "empty")
    if n_distinct == 1 and len(values) == len(text):
        return Guess(None, "the same value in every row")
    if _looks_like_id(column):
        return Guess("id", "looks like an identifier")
    for answer in answers:
        if n_distinct == answer.drop_nulls().n_unique() == _n_pairs(text, answer):
            return Guess(None, f"says the same as {answer.name!r}")
    return _feature(column, values, n_distinct)


def is_row_id(column: pl.Series) -> bool:
    """Every row has another value, and it looks like an identifier."""
    return not is_truth_name(column.name) and _looks_like_id(column) and column.n_unique() == len(column)


def _looks_like_id(column: pl.Series) -> bool:
    if _is_odd(column.dtype):
        return False
    return _ID_PATTERN.fullmatch(plain(column.name)) is not None or _are_distinct_integers(column)


def _are_distinct_integers(column: pl.Series) -> bool:
    if column.dtype == pl.Boolean or not _are_numbers(column):
        return False
    numbers = as_numbers(column).values
    is_whole = not numbers.has_nulls() and bool((numbers == numbers.floor()).all())
    return is_whole and numbers.n_unique() == len(numbers)


def _are_numbers(column: pl.Series) -> bool:
    # most texts show in a few rows that they are none
    return not (as_numbers(column.head(_SAMPLE)).bad.any() or as_numbers(column).bad.any())


def _is_odd(dtype: pl.DataType) -> bool:
    return dtype.is_nested() or dtype.is_temporal() or dtype in (pl.Object, pl.Binary)


def _in_words(dtype: pl.DataType) -> str:
    """Never the name of the type: people may not know the library."""
    words = {
        pl.Date: "dates", pl.Datetime: "dates and times", pl.Time: "times of day", pl.Duration: "durations",
        pl.List: "lists", pl.Array: "lists", pl.Struct: "records", pl.Binary: "bytes",
    }  # fmt: skip
    return words.get(type(dtype), "objects")


def _n_pairs(text: pl.Series, answer: pl.Series) -> int:
    return pl.DataFrame({"text": text, "answer": answer}).drop_nulls().unique().height


def _feature(column: pl.Series, values: pl.Series, n_distinct: int) -> Guess:
    count = f"{n_distinct} distinct values"
    if n_distinct <= 2 and not as_truths(column).bad.any():
        return Guess("binary", "")
    if _are_numbers(column):
        return Guess("numeric", "") if n_distinct > _FEW_NUMBERS else Guess("categorical", count)
    sample = values.gather_every(max(1, len(values) // _SAMPLE))
    is_short = _mean(sample.str.len_chars()) <= _SHORT
    if plain(column.name) in _TEXT_NAMES:
        return Guess("text", "")
    if is_short and n_distinct <= min(_MOST_CATEGORIES, len(values) / 3):
        return Guess("categorical", count)
    n_words = _mean(sample.str.count_matches(r"\S+")) + _mean(sample.str.count_matches(_SPACELESS)) / 2
    if n_words >= _WORDS_OF_A_TEXT:
        return Guess("text", "")
    return Guess(None, f"{count}, neither a text nor a small set of values; --text or --categorical uses it")


def _mean(counts: pl.Series) -> float:
    return float(counts.cast(pl.Float64).to_numpy().mean())
