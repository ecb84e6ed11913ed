"""The paper's ten representative words of 20 Newsgroups: their ranks under rules that could have selected them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from benchmarks.result_files import table
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfTransformer
from sklearn.feature_selection import chi2

from .experiment import Search
from .methods import Array
from .news_words import READINGS, documents, word_scores

PAPER_WORDS = ("windows", "nasa", "god", "drive", "apple", "ibm", "car", "virginia", "mit", "space")
#: The rows of the paper's table: whether each of five documents has these words.
PAPER_DOCUMENTS = {5554: "1111110111", 1117: "1111110111", 7404: "1101110111", 2086: "1100010010", 4770: "1100010011"}
_WITHOUT = "stop words left out"


class Counts(NamedTuple):
    counts: Any  # CSR (n, words)
    there: Any  # the same as zeros and ones
    tfidf: Any
    groups: Array  # (n, K) one-hot

    def shares(self) -> Array:
        """(words, K): share of the documents of each group that have the word."""
        return np.asarray((self.there.T @ self.groups) / self.groups.sum(axis=0))

    def mean_tfidf(self) -> Array:
        return np.asarray((self.tfidf.T @ self.groups) / self.groups.sum(axis=0))


def _chi2(matrix: str) -> Callable[[Counts], Array]:
    return lambda data: np.nan_to_num(chi2(getattr(data, matrix), data.groups.argmax(axis=1))[0], nan=-1.0)


def _mutual_information(data: Counts) -> Array:
    """Between the presence of a word and the group."""
    having, sizes = np.asarray(data.there.T @ data.groups), data.groups.sum(axis=0)
    n, total = sizes.sum(), having.sum(axis=1)
    information = _entropy(sizes / n)
    for part, size in ((having, total), (sizes - having, n - total)):
        information = information - size / n * _entropy(part / np.maximum(size, 1)[:, None])
    return np.asarray(information)


def _entropy(shares: Array) -> Array:
    return np.asarray(-(shares * np.log(np.maximum(shares, 1e-300))).sum(axis=-1))


def _lead(by_group: Array, over: str) -> Array:
    """How far the group in which a word is most common exceeds the mean, or the next group."""
    ordered = np.sort(by_group, axis=1)
    return np.asarray(ordered[:, -1] - (by_group.mean(axis=1) if over == "mean" else ordered[:, -2]))


#: Rules that use the groups, which the paper does not mention: words -> scores.
WITH_GROUPS: dict[str, Callable[[Counts], Array]] = {
    "χ² of counts": _chi2("counts"),
    "χ² of zeros and ones": _chi2("there"),
    "χ² of TF-IDF": _chi2("tfidf"),
    "mutual information": _mutual_information,
    "greatest share of a group": lambda data: data.shares().max(axis=1),
    "variance of the shares": lambda data: data.shares().var(axis=1),
    "greatest share less the mean": lambda data: _lead(data.shares(), "mean"),
    "greatest share less the second": lambda data: _lead(data.shares(), "second"),
    "greatest mean TF-IDF of a group": lambda data: data.mean_tfidf().max(axis=1),
    "variance of mean TF-IDF": lambda data: data.mean_tfidf().var(axis=1),
    "greatest mean TF-IDF less the mean": lambda data: _lead(data.mean_tfidf(), "mean"),
    "greatest mean TF-IDF less the second": lambda data: _lead(data.mean_tfidf(), "second"),
}


def ranks() -> dict[str, Any]:
    """Rank of each word under every rule, with and without stop words; and how many documents match the paper's.

    The names are "rule: word" and "documents like 1101...".
    """
    counts, words, labels = documents()
    there = counts.copy()
    there.data[:] = 1
    data = Counts(counts, there, TfidfTransformer().fit_transform(counts), np.eye(labels.max() + 1)[labels])
    scores = {READINGS[name]: word_scores(counts, words, name) for name in READINGS if "stop" not in name}
    scores |= {rule: score(data) for rule, score in WITH_GROUPS.items()}
    common = np.isin(words, list(ENGLISH_STOP_WORDS))
    scores |= {f"{rule}, {_WITHOUT}": np.where(common, -1.0, by_word) for rule, by_word in scores.items()}
    columns = np.searchsorted(words, PAPER_WORDS)
    by_word: dict[str, Any] = {}
    for rule, values in scores.items():
        place = np.empty(len(words), dtype=int)
        place[np.argsort(-values, kind="stable")] = np.arange(1, len(words) + 1)
        by_word |= {f"{rule}: {word}": int(place[column]) for word, column in zip(PAPER_WORDS, columns, strict=True)}
    mine = there[:, columns].toarray().astype(int)
    for pattern in dict.fromkeys(PAPER_DOCUMENTS.values()):
        same = (mine == np.array(list(pattern), dtype=int)).all(axis=1)
        by_word[f"documents like {pattern}"] = int(same.sum())
    return {**by_word, "vocabulary": len(words)}


def page(facts: Mapping[str, Any]) -> str:
    by_rule = _by_rule(facts)
    lines = []
    for rule, places in sorted(by_rule.items(), key=lambda each: (-_on_top(each[1]), max(each[1].values()))):
        shown = [places[word] for word in PAPER_WORDS]
        lines.append([rule, _on_top(places), max(shown), *shown])
    best = max(map(_on_top, by_rule.values()))
    like = [f"{facts[f'documents like {pattern}']} like {number}" for number, pattern in PAPER_DOCUMENTS.items()]
    met = "No rule puts all ten on top" if best < len(PAPER_WORDS) else "The first rule puts exactly these ten on top"
    return f"""### The paper's ten representative words

The paper lists "the top 10 representative features" and does not say how they were selected. The table shows the rank
of each among {facts["vocabulary"]:,} words under {len(by_rule)} rules: TF-IDF aggregated over documents in several
ways, and scores of words by group, each with and without English stop words. {met}: the best has {best} of them
in its top ten. `virginia` and `mit` come from addresses and do not distinguish the groups. The paper may have picked
the words by hand; in any case they are not the top ten of any rule that we know of.

{table(["rule", "in the first ten", "last", *PAPER_WORDS], lines)}

Its five documents cannot be identified by their numbers, which depend on the order of the file. Documents with the same
zeros and ones: {", ".join(like)}.
"""


def searched(data: str, facts: Mapping[str, Any]) -> list[Search]:
    on_top = [_on_top(places) for places in _by_rule(facts).values()]
    met = sum(number == len(PAPER_WORDS) for number in on_top)
    return [Search(data, "rules that rank words, with and without stop words", len(on_top), "its ten words", met)]


def _by_rule(facts: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    by_rule: dict[str, dict[str, int]] = {}
    for name, value in facts.items():
        rule, separator, word = name.rpartition(": ")
        if separator and word in PAPER_WORDS:
            by_rule.setdefault(rule, {})[word] = int(value)
    return by_rule


def _on_top(places: Mapping[str, int]) -> int:
    return sum(place <= len(PAPER_WORDS) for place in places.values())
