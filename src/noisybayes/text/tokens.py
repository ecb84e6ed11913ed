"""Texts to tokens: words, Chinese words, or characters where words cannot be separated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from .._extras import MissingExtraError, require
from .scripts import main_script

Kind = Literal["words", "chinese", "characters"]

# scikit-learn's word of two or more letters, digits or underscores; but accents and vowel signs belong to their word
_LETTERS = r"\p{L}\p{M}\p{N}_"
_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Hangul}\p{Thai}"
_WORD = rf"[{_LETTERS}]{{2,}}"
_RUN = rf"[[{_SPACELESS}]&&[{_LETTERS}]]+"
_WORD_BETWEEN_RUNS = rf"[{_LETTERS}--[{_SPACELESS}]]{{2,}}"


@dataclass(frozen=True)
class Tokenizer:
    kind: Kind
    ngrams: int = 1  # 2: also pairs of adjacent tokens

    def tokens(self, texts: pl.Series) -> pl.DataFrame:
        """Columns `row` (position in `texts`) and `token`; not sorted. A missing text has no tokens."""
        lower = texts.cast(pl.String).fill_null("").str.to_lowercase()
        if self.kind == "characters":
            words = _long(lower.str.extract_all(_WORD_BETWEEN_RUNS))
            return pl.concat([words, _characters(_long(lower.str.extract_all(_RUN)), self.ngrams)])
        if self.kind == "chinese":
            words = _long(_chinese_words(lower)).filter(pl.col("token").str.contains(rf"[{_LETTERS}]"))
        else:
            words = _long(lower.str.extract_all(_WORD))
        return words if self.ngrams == 1 else pl.concat([words, _pairs(words, "row", " ")])


def choose_tokenizer(texts: pl.Series, ngrams: int = 1) -> tuple[Tokenizer, list[str]]:
    """The tokenizer for the script of the texts, and a sentence if it is only a substitute."""
    script = main_script(texts)
    if script == "words":
        return Tokenizer("words", ngrams), []
    if script != "chinese":
        return Tokenizer("characters", 2), []
    try:
        _chinese_words(pl.Series(["好"]))
    except MissingExtraError as error:
        return Tokenizer("characters", 2), [
            f"the texts in {texts.name!r} are split into characters, not words: {error}"
        ]
    return Tokenizer("chinese", ngrams), []


def _chinese_words(texts: pl.Series) -> pl.Series:
    rjieba = require("rjieba", extra="zh", purpose="Chinese text")
    return pl.Series([rjieba.cut(text) for text in texts], dtype=pl.List(pl.String))


def _long(lists: pl.Series) -> pl.DataFrame:
    rows = pl.arange(len(lists), dtype=pl.UInt32, eager=True).alias("row")
    return pl.DataFrame([rows, lists.alias("token")]).explode("token").drop_nulls("token")


def _characters(runs: pl.DataFrame, ngrams: int) -> pl.DataFrame:
    single = runs.with_row_index("run").with_columns(pl.col("token").str.split("")).explode("token")
    parts = [single] if ngrams == 1 else [single, _pairs(single, "run", "")]
    return pl.concat(parts).select("row", "token")


def _pairs(tokens: pl.DataFrame, within: str, joined_by: str) -> pl.DataFrame:
    """Pairs of adjacent tokens with the same value in the column `within`."""
    same = pl.col(within) == pl.col(within).shift(-1)
    pair = pl.concat_str("token", pl.col("token").shift(-1), separator=joined_by)
    return tokens.with_columns(pair.alias("token"), same.alias("same")).filter("same").drop("same")
