"""Evidence on the true label of single rows besides columns and label: the labeler, the source or a second opinion. It
is added to the scores as one more kind, with temperature 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..dataset import Rows
from ..dataset.tree import Array
from ..robust.label_weights import RowTerms, WithAdded
from ..robust.problem import FixedSource
from ..robust.recalibration import recalibration_of
from ..robust.training_posterior import posterior_of_rows
from .judged import Judged


class RowEvidence(NamedTuple):
    terms: RowTerms  # (n, K) added to log P(true), with mean 0 over the classes
    code: Callable[[Rows], Array]  # (n,) position of its description in `words`; len(words) if there is none
    words: tuple[str, ...]


class WithEvidence(NamedTuple):
    """Scores, with the evidence as one more kind of score."""

    scorer: Any
    terms: RowTerms

    def scores(self, rows: Rows) -> Array:
        inner = self.scorer.scores(rows)
        added = self.terms(rows)[None, :, None].astype(inner.dtype)
        return np.concatenate([inner, np.broadcast_to(added, (1, *inner.shape[1:]))])


class LearnedWithEvidence(NamedTuple):
    learned: Any
    evidence: RowEvidence

    @property
    def out_of_fold(self) -> WithEvidence:
        return WithEvidence(self.learned.out_of_fold, self.evidence.terms)

    @property
    def shares(self) -> Array:
        return np.asarray(self.learned.shares)

    def terms(self, rows: Rows, component: Array, other: Array, temperature: Array) -> Any:
        return self.learned.terms(rows, component, other, temperature[:-1])

    def by_view(
        self, rows: Rows, component: Array, other: Array, temperature: Array, names: Sequence[str]
    ) -> list[list[tuple[str, float]]]:
        found = self.learned.by_view(rows, component, other, temperature[:-1], names)
        of_rows, at, words = self.evidence.terms(rows), np.arange(rows.n_rows), self.evidence.words
        added = temperature[-1] * (of_rows[at, component] - of_rows[at, other])
        said: list[list[tuple[str, float]]] = []
        for one, code, weight in zip(found, self.evidence.code(rows).tolist(), added.tolist(), strict=True):
            said.append([*one, *([(words[code], weight)] if code < len(words) else [])])
        return said


class Scaled(NamedTuple):
    """Scores of one kind, times a factor."""

    scorer: Any
    factor: float

    def scores(self, rows: Rows) -> Array:
        inner = self.scorer.scores(rows)
        return np.asarray(inner * np.asarray(self.factor, dtype=inner.dtype))


def with_prior_factor(judged: Judged, factor: float) -> Judged:
    """The fit with log P(true | x) times a factor; the posteriors of its rows are still those from before."""
    assert judged.training is not None
    fit = judged.training.robust_fit
    old = fit.last.calibration
    calibration = old._replace(temperature=factor * old.temperature, offset=factor * old.offset, base=factor * old.base)
    last = fit.last._replace(calibration=calibration, combined=Scaled(judged.fitted.scorer, factor))
    fitted = judged.fitted._replace(scorer=last.combined, calibration=calibration.of_combined)
    return replace(judged, fitted=fitted, training=judged.training._replace(robust_fit=fit._replace(last=last)))


def judged_with(judged: Judged, evidence: RowEvidence, mislabel: Array) -> Judged:
    """The fit with the evidence added. mislabel : (K, K) matrix with the evidence"""
    assert judged.training is not None
    fit = judged.training.robust_fit
    learned, old_calibration = LearnedWithEvidence(fit.last.learned, evidence), fit.last.calibration
    calibration = old_calibration._replace(
        temperature=np.concatenate([old_calibration.temperature, np.ones((1, 1))], axis=1), mislabel=mislabel[None]
    )
    combined = WithAdded(judged.fitted.scorer, evidence.terms)
    last = fit.last._replace(learned=learned, calibration=calibration, combined=combined)
    fit = fit._replace(problem=replace(fit.problem, source=FixedSource(learned), em=None), last=last)
    fitted = last.next_weights
    posterior = posterior_of_rows(judged.data, fitted, None, recalibration_of(judged.data, fitted))
    return replace(
        judged, fitted=fitted, posterior=posterior,
        training=judged.training._replace(robust_fit=fit, posterior=posterior),
        naive_bayes=judged.naive_bayes or judged,
    )  # fmt: skip
