"""The topic of a message: the pool of an audit on the words and character n-grams of examples.

Naive Bayes, read by the mislabeling matrix, and the linear model, as in `noisybayes.audit.pool`: examples may be
mislabeled, as labels of employees are.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..audit.classifier import TableClassifier
from ..audit.columns import ColumnKinds
from ..audit.pool import Given, fit_pool
from ..data.untrusted import read_json_file

Array = NDArray[Any]
MODEL_FILE, VOCABULARY_FILE = "topics.npz", "vocabulary.json"

_TOKEN = re.compile(r"@\w+|[^\W\d_㐀-鿿]+(?:'[^\W\d_]+)?|[㐀-鿿]|\d+(?:[.,:]\d+)*|[?!%$]")
_CHINESE = re.compile("[㐀-鿿]")


class Example(NamedTuple):
    text: str  # slots and contact details masked: @item, @detail, @contact
    topic: str
    weight: float = 1.0
    verified: bool = False


def folded(text: str) -> str:
    """Full-width characters, capitals and apostrophes make no difference: "don't" is "dont"."""
    return re.sub("['’‘`´]", "", unicodedata.normalize("NFKC", text).casefold())


def is_chinese(text: str) -> bool:
    return _CHINESE.search(text) is not None


@lru_cache(maxsize=50_000)  # a label given in a chat fits the same examples again
def tokens(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The distinct words and pairs of words of a folded text, and its character n-grams."""
    words = ["@number" if found[0].isdigit() else found for found in _TOKEN.findall(text)]
    pairs = [f"{a} {b}" for a, b in zip(["^", *words], [*words, "$"], strict=True)]
    grams: list[str] = []
    for word in words:
        if word[0] != "@" and len(word) > 1:
            padded = f" {word} "
            grams += [padded[i : i + n] for n in (3, 4, 5) for i in range(len(padded) - n + 1)]
    chinese = "".join(word if _CHINESE.match(word) else " " for word in words)
    grams += [part for n in (2, 3) for i in range(len(chinese) - n + 1) if " " not in (part := chinese[i : i + n])]
    return tuple(dict.fromkeys([*words, *pairs])), tuple(dict.fromkeys(grams))


@dataclass(frozen=True)
class Block:
    """One block of features, rows of length 1: words that are rare in the examples have large weights."""

    place: dict[str, int]
    weight: Array  # (d,) inverse document frequency

    @classmethod
    def fit(cls, texts: Sequence[Sequence[str]], least: int) -> Block:
        counts = Counter(token for text in texts for token in text)
        kept = [token for token, count in counts.items() if count >= least]
        frequency = np.array([counts[token] for token in kept])
        return cls({token: i for i, token in enumerate(kept)}, np.log((1 + len(texts)) / frequency).astype(np.float32))

    def __call__(self, texts: Sequence[Sequence[str]]) -> Any:
        found = [[self.place[token] for token in text if token in self.place] for text in texts]
        starts = np.cumsum([0, *map(len, found)])
        columns = np.fromiter((i for row in found for i in row), dtype=np.int32, count=int(starts[-1]))
        X = sparse.csr_array((self.weight[columns], columns, starts), shape=(len(texts), len(self.place)))
        length = np.sqrt(np.maximum(np.add.reduceat(np.append(X.data**2, 0.0), starts[:-1]), 1e-12))
        X.data /= np.repeat(length, np.diff(starts)).astype(np.float32)
        return X


@dataclass(frozen=True, eq=False)
class TopicModel:
    words: Block
    grams: Block
    classifier: TableClassifier

    @classmethod
    def fit(cls, examples: Sequence[Example], seed: int = 0) -> TopicModel:
        topics = sorted({example.topic for example in examples})
        code = {topic: i for i, topic in enumerate(topics)}
        split = [tokens(example.text) for example in examples]
        words, grams = (Block.fit([each[part] for each in split], 2) for part in (0, 1))
        X = [words([each[0] for each in split]), grams([each[1] for each in split])]
        edge, width = len(words.place), len(words.place) + len(grams.place)
        none = np.zeros(0, dtype=np.intp)
        kinds = ColumnKinds((slice(0, edge), slice(edge, width)), none, none, (), None)
        stacked = sparse.hstack(X, format="csr")
        label = np.array([code[example.topic] for example in examples])
        verified = np.where([example.verified for example in examples], label, -1)
        weight = np.array([example.weight for example in examples])
        pool = fit_pool(kinds(stacked), Given(label, verified, len(topics), weight), seed=seed)
        rate = 1.0 - float(pool.posterior[np.arange(len(label)), label].mean())
        return cls(words, grams, TableClassifier.of(pool, kinds, np.array(topics), width, rate))

    @property
    def topics(self) -> list[str]:
        return [str(topic) for topic in self.classifier.classes_]

    def posterior(self, text: str) -> dict[str, float]:
        """P(topic | masked text)"""
        words, grams = tokens(text)
        X = sparse.hstack([self.words([words]), self.grams([grams])], format="csr")
        return dict(zip(self.topics, self.classifier.predict_proba(X)[0].tolist(), strict=True))

    def save(self, folder: Path) -> None:
        self.classifier.save(folder / MODEL_FILE)
        stored = [{"tokens": list(block.place), "weight": block.weight.tolist()} for block in (self.words, self.grams)]
        (folder / VOCABULARY_FILE).write_text(json.dumps(stored, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> TopicModel:
        """Raises whatever a damaged file raises."""
        classifier = TableClassifier.load(folder / MODEL_FILE)
        blocks = []
        for stored in read_json_file(folder / VOCABULARY_FILE):
            place = {str(token): i for i, token in enumerate(stored["tokens"])}
            blocks.append(Block(place, np.array(stored["weight"], dtype=np.float32)[: len(place)]))
        words, grams = blocks
        model = cls(words, grams, classifier)
        model.posterior("a 1 您")  # raises if the vocabulary does not belong to the model
        return model
