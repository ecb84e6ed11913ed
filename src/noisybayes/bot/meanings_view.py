"""What a message is about, learned from example messages: logistic regression over words and character n-grams.

It sees neither the dialog nor the values of slots, so one example covers all cars and all versions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from ..data.errors import InputError
from ..data.simulate import Array
from .ngrams import tfidf

_PARTS = re.compile(r"\{\w+\}|[a-z\u00c0-\u052f']+|\d+|[^\W\d_a-z\u00c0-\u052f]+|[?!+]")
_SPACED = re.compile(r"[a-z\u00c0-\u052f']+")
_LETTER = re.compile(r"[^\W\d_]")
_IN_WORDS = range(2, 6)  # n-gram lengths within words, in scripts with spaces
_WITHOUT_SPACES = range(1, 5)  # in other scripts (Chinese)
_PENALTY = 20.0  # C of the logistic regression


class MeaningsView(NamedTuple):
    names: tuple[str, ...]
    grams: dict[str, int]  # n-gram -> column
    idf: Array  # (V,)
    weights: Array  # (V, K)
    base: Array  # (K,)

    def posterior(self, text: str) -> Array | None:
        """(K,) posterior, or None if the text shares nothing with the examples; `text` must be masked like them."""
        found = [self.grams[gram] for gram in grams_of(text) if gram in self.grams]
        if not found or not _LETTER.search(text):
            return None
        places, values = tfidf(found, self.idf)
        scores = self.base + values @ self.weights[places]
        scores = np.exp(scores - scores.max())
        return np.asarray(scores / scores.sum())

    def save(self, path: Path) -> None:
        with path.open("wb") as file:
            np.savez_compressed(
                file, names=np.array(self.names), grams=np.array(list(self.grams)),
                idf=self.idf, weights=self.weights.astype(np.float32), base=self.base,
            )  # fmt: skip

    @classmethod
    def load(cls, path: Path) -> Self:
        try:
            with np.load(path, allow_pickle=False) as kept:
                grams = {gram: place for place, gram in enumerate(kept["grams"].tolist())}
                return cls(tuple(kept["names"].tolist()), grams, kept["idf"], kept["weights"], kept["base"])
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise InputError(f"{path} cannot be read ({error}); train the bot again") from None


def grams_of(text: str) -> list[str]:
    """Words, pairs of words and the characters within them; in scripts without spaces, only the characters."""
    found: list[str] = []
    last = ""
    for part in _PARTS.findall(text):
        if part[0].isdigit():
            part = "#"  # the value of a number says nothing about the subject
        if _SPACED.fullmatch(part):
            edged = f" {part} "
            found += [edged[i : i + size] for size in _IN_WORDS for i in range(len(edged) - size + 1)]
        elif len(part) > 1 and part[0] != "{":
            found += [part[i : i + size] for size in _WITHOUT_SPACES for i in range(len(part) - size + 1)]
        found += [f"={part}", f"{last}={part}"]
        last = part
    return found


@lru_cache(maxsize=8)  # every bot of a process is trained on the same examples
def fit_meanings(names: tuple[str, ...], texts: tuple[str, ...], meanings: tuple[str, ...]) -> MeaningsView:
    from sklearn.feature_extraction.text import TfidfVectorizer  # imported late: replying does not need it
    from sklearn.linear_model import LogisticRegression

    vectorizer = TfidfVectorizer(analyzer=grams_of, sublinear_tf=True)
    X = vectorizer.fit_transform(texts).astype(np.float32)
    # a million weights: L-BFGS spends its time on vectors of that size, and a few Newton steps are 5-8 times as fast
    model = LogisticRegression(C=_PENALTY, class_weight="balanced", solver="newton-cg")
    model.fit(X, _numbers(names, meanings))
    order = sorted(vectorizer.vocabulary_, key=lambda gram: int(vectorizer.vocabulary_[gram]))
    places = {str(gram): place for place, gram in enumerate(order)}
    weights, base = model.coef_.T, model.intercept_
    if len(names) == 2:  # scikit-learn keeps one column for two classes
        weights, base = np.hstack([-weights, weights]) / 2, np.array([-base[0], base[0]]) / 2
    return MeaningsView(names, places, np.asarray(vectorizer.idf_), np.asarray(weights), np.asarray(base))


def _numbers(names: tuple[str, ...], meanings: Sequence[str]) -> list[int]:
    return [names.index(meaning) for meaning in meanings]
