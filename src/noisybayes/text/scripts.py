"""Which script a column of texts is mostly written in."""

from __future__ import annotations

import polars as pl

_SAMPLE = 2_000  # texts

#: Writing systems of one language or without spaces between words. All others are "words".
_SCRIPTS = {
    "chinese": r"\p{Han}",
    "japanese": r"[\p{Hiragana}\p{Katakana}]",
    "korean": r"\p{Hangul}",
    "thai": r"\p{Thai}",
}
#: Japanese has about as many Han as kana characters; Chinese has almost no kana.
_KANA_SHARE = 0.1


def main_script(texts: pl.Series) -> str:
    """ "chinese", "japanese", "korean", "thai" or "words", by the number of characters in a sample of the texts."""
    sample = texts.drop_nulls()
    sample = sample.gather_every(sampling_step(len(sample)))
    n_letters = _count(sample, r"\p{L}")
    counts = {script: _count(sample, pattern) for script, pattern in _SCRIPTS.items()}
    if counts["japanese"] > _KANA_SHARE * (counts["chinese"] + counts["japanese"]):
        counts["japanese"] += counts.pop("chinese")
    script = max(counts, key=lambda name: counts[name])
    # a Han character carries about as much information as a word of three letters
    return script if counts[script] and 3 * counts[script] > n_letters - counts[script] else "words"


def sampling_step(n_texts: int) -> int:
    """A sample of evenly spaced texts; the sample of a sample is the same."""
    return max(1, n_texts // _SAMPLE)


def _count(texts: pl.Series, pattern: str) -> int:
    return int(texts.str.count_matches(pattern).sum() or 0)
