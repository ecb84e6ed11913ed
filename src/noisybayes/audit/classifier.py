"""What an audit learned, for new rows: both voices of the pool, from all rows. It is saved as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.array_files import ArrayFile, open_arrays, write_arrays
from ..data.untrusted import is_finite
from .columns import ColumnKinds, Curves, NormalScores
from .forest import Forest
from .pool import Pool
from .readings import Reading, log_softmax
from .scores import Linear, OfNumbers, centered

Array = NDArray[Any]

FORMAT = 1


@dataclass(frozen=True, eq=False)
class TableClassifier:
    """The classifier of an audit: `predict` and `predict_proba` take the matrix that its recipe makes of a table.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    noise_rate_ : float
        Mean P(wrong) of the rows it was learned from.
    mislabel_matrix_ : ndarray of shape (n_classes, n_classes)
        P(observed | true) of the reading by the matrix.
    """

    classes_: Array
    n_features_in_: int
    noise_rate_: float
    kinds: ColumnKinds
    experts: tuple[tuple[Linear | OfNumbers, ...], ...]  # of each voice; empty if the rows are known by vectors only
    readings: tuple[Reading, ...]

    @classmethod
    def of(cls, pool: Pool, kinds: ColumnKinds, classes: Array, n_features: int, noise_rate: float) -> TableClassifier:
        experts = tuple(voice.learned.full() for voice in pool.voices)
        return cls(classes, n_features, noise_rate, kinds, experts, tuple(voice.reading for voice in pool.voices))

    @property
    def mislabel_matrix_(self) -> Array:
        found = self.readings[0].mislabel
        assert found is not None
        return found

    def predict(self, X: Any) -> Array:
        """The most probable label of each row, from its features alone."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> Array:
        """(n_samples, n_classes) P(true | x)"""
        return self.posteriors(X, np.full(X.shape[0], len(self.classes_)))[0]

    def predict_true_proba(self, X: Any, y: ArrayLike) -> Array:
        """(n_samples, n_classes) P(true | x, label); None is a missing label."""
        code_of = {label: code for code, label in enumerate(self.classes_.tolist())}
        return self.posteriors(X, np.array([code_of.get(label, len(code_of)) for label in np.asarray(y).tolist()]))[1]

    def posteriors(self, X: Any, observed: Array) -> tuple[Array, Array]:
        """(n, K) P(true | x) and (n, K) P(true | x, label). observed : (n,) codes; K where missing"""
        if not self.experts:
            raise ValueError("this audit knows its rows by vectors or probabilities only, so it cannot score new rows")
        columns = self.kinds(X)
        prior, posterior = np.zeros((2, len(self.classes_), X.shape[0]))
        for experts, reading in zip(self.experts, self.readings, strict=True):
            values = np.stack([centered(expert(columns)) for expert in experts])
            prior += reading.log_prior(values) / len(self.readings)
            posterior += reading.log_posterior(values, observed) / len(self.readings)
        return np.exp(log_softmax(prior)).T, np.exp(log_softmax(posterior)).T

    def save(self, path: str | Path) -> None:
        arrays: dict[str, Array] = {"classes": self.classes_}
        about: dict[str, Any] = {
            "format": FORMAT, "n_features": self.n_features_in_, "noise_rate": self.noise_rate_,
            "texts": [[text.start, text.stop] for text in self.kinds.texts], "voices": [],
        }  # fmt: skip
        arrays |= {"yes_no": self.kinds.yes_no, "numbers": self.kinds.numbers}
        for i, normal in enumerate(self.kinds.normal):
            arrays |= {f"knots{i}": normal.knots, f"score{i}": normal.score}
        if self.kinds.curves is not None:
            arrays |= self.kinds.curves._asdict()
        for v, (experts, reading) in enumerate(zip(self.experts, self.readings, strict=True)):
            arrays |= {f"temperature{v}": reading.temperature, f"intercept{v}": reading.intercept}
            if reading.mislabel is not None:
                arrays[f"mislabel{v}"] = reading.mislabel
            about["voices"].append([_stored(expert, f"{v}.{e}.", arrays) for e, expert in enumerate(experts)])
        write_arrays(path, about, arrays)

    @classmethod
    def load(cls, path: str | Path) -> TableClassifier:
        """Raises a ValueError, or what a damaged archive raises, if the file is not what `save` wrote."""
        with open_arrays(path) as file:
            return _Reader(file).classifier()


def _stored(expert: Linear | OfNumbers, name: str, arrays: dict[str, Array]) -> Any:
    if isinstance(expert, OfNumbers):
        arrays |= {f"{name}{field}": value for field, value in expert.forest._asdict().items()}
        return "forest"
    arrays |= {f"{name}weights{i}": weights for i, weights in enumerate(expert.weights)}
    arrays[f"{name}intercept"] = expert.intercept
    return list(expert.blocks)


class _Reader:
    """Reads what `save` wrote; what does not fit together is refused."""

    def __init__(self, file: ArrayFile) -> None:
        self.file, self.about, self.array = file, file.about, file.array

    def classifier(self) -> TableClassifier:
        if not isinstance(self.about, dict) or self.about.get("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        classes, d = self.array("classes", "Uiuf", None), int(self.about["n_features"])
        if not len(classes) or not is_finite(self.about["noise_rate"]):
            raise ValueError("it has no classes, or no share of wrong labels")
        kinds, K = self.kinds(d), len(classes)
        widths = [text.stop - text.start for text in kinds.texts]
        widths += [len(part) for part in (kinds.yes_no, kinds.numbers) if len(part)]
        widths += [] if kinds.curves is None else [len(kinds.curves.phase)]
        n_dense = len(kinds.yes_no) + len(kinds.numbers)
        experts, readings = [], []
        for v, voice in enumerate(self.about["voices"]):
            stored = [self.expert(each, f"{v}.{e}.", widths, n_dense, K) for e, each in enumerate(voice)]
            mislabel = self.array(f"mislabel{v}", "f", K, K) if f"mislabel{v}" in self.file else None
            temperature = self.array(f"temperature{v}", "f", len(stored))
            readings.append(Reading(temperature, self.array(f"intercept{v}", "f", K), mislabel, 0.0))
            experts.append(tuple(stored))
        if len(experts) not in (0, 2, 3) or any(not voice for voice in experts):
            raise ValueError("it does not have two or three voices")
        if experts and readings[0].mislabel is None:
            raise ValueError("it has no mislabeling matrix")
        rate = float(self.about["noise_rate"])
        return TableClassifier(classes, d, rate, kinds, tuple(experts), tuple(readings))

    def kinds(self, n_columns: int) -> ColumnKinds:
        texts = tuple(slice(int(start), int(stop)) for start, stop in self.about["texts"])
        yes_no, numbers = (self.array(name, "iu", None) for name in ("yes_no", "numbers"))
        starts = np.concatenate([[text.start for text in texts], yes_no, numbers]).astype(np.int64)
        stops = np.concatenate([[text.stop for text in texts], yes_no + 1, numbers + 1]).astype(np.int64)
        order = np.lexsort((stops, starts))
        if [*starts[order], n_columns] != [0, *stops[order]] or (stops < starts).any():  # one begins where another ends
            raise ValueError("its columns are not those of the recipe")
        normal = []
        for i in range(len(numbers)):
            knots = self.array(f"knots{i}", "f", None)
            if not len(knots) or (np.diff(knots) <= 0).any():
                raise ValueError("the knots of a column of numbers do not ascend")
            normal.append(NormalScores(knots, self.array(f"score{i}", "f", len(knots))))
        curves = None
        if "phase" in self.file:
            phase = self.array("phase", "f", None)
            curves = Curves(self.array("frequency", "f", len(numbers), len(phase)), phase)
            if not curves.frequency.size:
                raise ValueError("its curves are of nothing")
        return ColumnKinds(texts, yes_no, numbers, tuple(normal), curves)

    def expert(self, stored: Any, name: str, widths: Sequence[int], n_dense: int, K: int) -> Linear | OfNumbers:
        if stored != "forest":
            blocks = tuple(int(at) for at in stored)
            if not blocks or any(not 0 <= at < len(widths) for at in blocks):
                raise ValueError("it reads columns that are not there")
            weights = tuple(self.array(f"{name}weights{i}", "f", widths[at], K) for i, at in enumerate(blocks))
            return Linear(blocks, weights, self.array(f"{name}intercept", "f", K))
        left = self.array(f"{name}left", "i", None)
        n = len(left)
        fields = {field: self.array(f"{name}{field}", "i", n) for field in ("right", "column")}
        roots, inner = self.array(f"{name}roots", "i", None), np.flatnonzero(left >= 0)
        children = np.stack([left[inner], fields["right"][inner]])
        # children come after their node, so that every path ends
        if not len(roots) or not ((roots >= 0) & (roots < n)).all() or not ((children > inner) & (children < n)).all():
            raise ValueError("a tree is damaged")
        if not ((fields["column"][inner] >= 0) & (fields["column"][inner] < n_dense)).all():
            raise ValueError("a tree reads columns that are not there")
        threshold, shares = self.array(f"{name}threshold", "f", n), self.array(f"{name}shares", "f", n, K)
        if (shares < 0).any():
            raise ValueError("a tree is damaged")
        return OfNumbers(Forest(roots, left, fields["right"], fields["column"], threshold, shares))
