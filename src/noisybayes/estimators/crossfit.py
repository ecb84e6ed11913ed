"""Scores out of fold, read by the mislabeling matrix, with one round of reweighting: the default fit.

It is the first voice of an audit's pool (`audit.pool`), for any feature family and for any classifier. The paper's EM
takes the place of naive Bayes unless that predicts held-out labels better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..audit.columns import MANY_ROWS, Block, content_hash
from ..audit.pool import Given, Voice, by_fold, can_leave_out, n_folds_for, predicts_better, reweighted
from ..audit.readings import Reading, matrix_reading
from ..audit.scores import Learned, Learning, complement, multinomial
from ..model import em
from ..model.families import Family, Gaussian, Mixed, Multinomial, MultinomialParams
from ..model.matrix import unidentified

Array = NDArray[Any]

# The least pseudo-count: a probability of zero would outweigh all other columns.
_LEAST_ALPHA = 0.01
# Pseudo-rows of the average class for numbers: of columns that are no normal distributions, the marginal likelihood
# would choose variances that are too small to be learned from wrong labels.
_PSEUDO_ROWS = 2.0
# Standard deviation of the offsets of classes: with words they stay nearer to the given shares, as in an audit.
_OFFSET_SPREAD = 0.5
#: Learns from labels and their weights; the rows are those of the `Learning`, in its order.
Learn = Callable[[Learning], Learned]


class Layer(NamedTuple):
    """A score of the rows: log P(x | class) of a block of columns."""

    block: int | None  # of a mixed family; None: of all columns
    params: Any  # of the family

    def __call__(self, family: Family, X: Any) -> Array:
        if isinstance(family, Mixed) and self.block is not None:
            return family.families[self.block].log_likelihood(X[self.block], self.params)
        return family.log_likelihood(X, self.params)


class Scorer(NamedTuple):
    """log P(x, true) of new rows: temperature times layers, plus intercept; and the matrix to read labels by."""

    layers: tuple[Layer, ...]  # (B,)
    temperature: Array  # (B,)
    intercept: Array  # (K,)
    mislabel: Array  # (K, K)

    @classmethod
    def of(cls, params: em.Params) -> Scorer:
        """Of the generative model itself."""
        with np.errstate(divide="ignore"):  # a class that lost all its rows has probability 0
            return cls((Layer(None, params.features),), np.ones(1), np.log(params.prior), params.mislabel)

    def log_joint(self, family: Family, X: Any) -> Array:
        scores = [t * layer(family, X) for t, layer in zip(self.temperature, self.layers, strict=True)]
        return np.asarray(sum(scores[1:], scores[0]) + self.intercept)


class Crossfit(NamedTuple):
    posterior: Array  # (n, K) out-of-fold P(true | x, label); verified rows have their verified label
    voice: Voice
    history: tuple[float, ...]  # log-likelihood of the labels as given, reweighted, by EM if tried; nats a row
    fitted: em.Fit | None = None  # the EM that took the place of naive Bayes


def crossfit_rows(rows: em.Rows, model: em.Model, K: int, settings: em.Settings, seed: int) -> Crossfit:
    """method="crossfit" of rows in memory."""
    blocks = [Block("", X) for X in (rows.X if isinstance(rows.X, tuple) else (rows.X,))]
    given = Given(rows.observed, _or_unknown(rows), K, rows.weight)
    order, learning = by_fold(content_hash(blocks, seed), given, n_folds_for(len(rows.observed)), seed)
    rows = rows.take(order)
    is_table = _is_table(model.family)
    spread = _OFFSET_SPREAD if is_table else None
    found = crossfit(partial(_naive_bayes, rows.X, model.family, settings.alpha), learning, model, spread)
    if is_table and len(order) <= MANY_ROWS and can_leave_out(learning):
        fitted = em.fit(rows, model, K, settings, np.random.default_rng(seed))
        scores = _em(rows, fitted, settings, learning)
        of_em = _read(scores, learning, model, spread)
        history = (*found.history, of_em.reading.log_likelihood)
        found = found._replace(history=history)
        # outside the identifiable region its classes may not be those of the labels
        is_safe = not len(unidentified(fitted.params.mislabel))
        if is_safe and not predicts_better(found.voice, of_em, learning):
            found = Crossfit(posterior_of(of_em, learning), of_em, history, fitted)
    posterior = np.empty_like(found.posterior)
    posterior[order] = found.posterior
    return found._replace(posterior=posterior)


def crossfit(learn: Learn, learning: Learning, model: em.Model, offset_spread: float | None = None) -> Crossfit:
    """Scores of labels that weigh as much as they are probably right, unless those of the labels as given predict
    held-out labels better: where the features follow something else, one round leads away from the labels."""
    first = _read(learn(learning), learning, model, offset_spread)
    second = _read(learn(reweighted(first, learning)), learning, model, offset_spread, first.reading)
    voice = first if predicts_better(first, second, learning) else second
    return Crossfit(posterior_of(voice, learning), voice, (first.reading.log_likelihood, second.reading.log_likelihood))


def _read(
    scores: Learned, learning: Learning, model: em.Model, offset_spread: float | None, start: Reading | None = None
) -> Voice:
    structure, prior = model.structure, model.class_prior
    return Voice(scores, matrix_reading(scores.values, learning, structure, prior, start, offset_spread))


def posterior_of(voice: Voice, learning: Learning) -> Array:
    """(n, K) in the order of the learning."""
    posterior = np.exp(voice.log_posterior(slice(None), learning.observed)).T
    known = np.flatnonzero(learning.verified >= 0)
    posterior[known] = np.eye(learning.n_classes)[learning.verified[known]]
    return np.ascontiguousarray(posterior)


def scorer_of(found: Crossfit) -> Scorer:
    reading = found.voice.reading
    assert reading.mislabel is not None
    layers: Any = found.voice.learned.full()
    return Scorer(layers, reading.temperature, reading.intercept, reading.mislabel)


def _or_unknown(rows: em.Rows) -> Array:
    return np.full(len(rows.observed), -1) if rows.verified is None else rows.verified


def _is_table(family: Family) -> bool:
    """Words of a text depend on each other too much for EM."""
    parts = family.families if isinstance(family, Mixed) else (family,)
    return not any(isinstance(part, Multinomial) for part in parts)


def _naive_bayes(X: Any, family: Family, alpha: float | str, learning: Learning) -> Learned:
    """One or two scores of each block of columns."""
    K, folds = learning.n_classes, learning.folds
    label, resp = learning.label, np.zeros((len(learning.weight), K))
    labeled = np.flatnonzero(label < K)
    resp[labeled, label[labeled]] = learning.weight[labeled]
    weights = [resp[fold].sum(axis=0) for fold in folds]
    values, full = [], []
    for at, (part, own) in enumerate(_parts(family, X)):
        own_folds = [own[fold] for fold in folds]
        sums = [part.sums(rows, resp[fold]) for rows, fold in zip(own_folds, folds, strict=True)]
        for estimate in _event_models(part, alpha, K):
            scores = np.empty((K, len(resp)))
            for number, fold in enumerate(folds):
                rest, weight = _without(sums, number), _without(weights, number)
                scores[:, fold] = part.log_likelihood(own_folds[number], estimate(rest, weight)).T
            values.append(scores)
            block = at if isinstance(family, Mixed) else None
            full.append(Layer(block, estimate(_without(sums, None), _without(weights, None))))
    return Learned(_centered(np.stack(values)), (), lambda: tuple(full))  # type: ignore[arg-type]


def _parts(family: Family, X: Any) -> Sequence[tuple[Family, Any]]:
    return list(zip(family.families, X, strict=True)) if isinstance(family, Mixed) else [(family, X)]


def _event_models(family: Family, alpha: float | str, K: int) -> list[Callable[[Any, Array], Any]]:
    """(sums, weights of the classes) -> parameters; words as in an audit."""
    if isinstance(family, Multinomial) and alpha == "auto":
        return [partial(_of_words, each) for each in ((multinomial,) if K == 2 else (multinomial, complement))]

    def estimate(sums: Any, weight: Array) -> Any:
        if alpha == "auto":
            prior = family.pooled_prior(sums, weight, _PSEUDO_ROWS if isinstance(family, Gaussian) else None)
        else:
            prior = family.fixed_prior(max(float(alpha), _LEAST_ALPHA), sums, weight)
        return family.estimate(sums, weight, prior)

    return [estimate]


def _of_words(event_model: Callable[[Array, Array], tuple[Array, Array]], sums: Array, weight: Array) -> Any:
    return MultinomialParams(event_model(np.array(sums), weight)[0].T)


def _without(sums: Sequence[Any], left_out: int | None) -> Any:
    """The sums of the other folds, added up: differences would leave rounding where a class has no row."""
    others = [part for number, part in enumerate(sums) if number != left_out]
    return reduce(lambda one, other: em.blended(one, 1.0, other, 1.0), others)


def _em(rows: em.Rows, fitted: em.Fit, settings: em.Settings, learning: Learning) -> Learned:
    family, n = fitted.model.family, len(rows.observed)
    values = np.empty((1, learning.n_classes, n))
    for fold in learning.folds:
        held_out = np.zeros(n, dtype=bool)
        held_out[fold] = True
        params = em.fit_without(rows, held_out, fitted, settings)
        values[0][:, fold] = family.log_likelihood(rows.take(fold).X, params.features).T
    layers = (Layer(None, fitted.params.features),)
    return Learned(_centered(values), (), lambda: layers)  # type: ignore[arg-type, return-value]


def _centered(values: Array) -> Array:
    """Less the mean over the classes; in double precision, so that the order of rows changes nothing."""
    return np.asarray(values - values.mean(axis=1, keepdims=True))
