"""The EM algorithm of the paper, for rows in memory, and its online form for a stream.

Latent true class t, observed label y, features x:

    P(t = k) = prior[k],   P(y = l | t = k) = mislabel[l, k],   P(x | t = k) by the feature family.

E-step: resp[i, k] proportional to prior[k] * mislabel[y_i, k] * P(x_i | k), in logs. M-step: ratios of sums over the
rows, weighted by resp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .families import Family
from .matrix import Fixed, Structure, matching, random_matrix

Array = NDArray[Any]

#: The paper starts from classes of equal size, "random" feature probabilities, and a random matrix with a diagonal
#: above one half. It does not say how the probabilities are drawn: name of the start -> interval.
PAPER_INTERVALS = {"paper": (0.0, 1.0), "paper-near-half": (0.4, 0.6)}
# The first EM runs with one pseudo-row: classes mixed by wrong labels look alike, and a strength estimated from them
# would keep them together.
_FIRST_STRENGTH = 1.0
# Online: between 1/2 and 1 it converges (Cappe & Moulines 2009); the lower, the faster it forgets its start.
_DECAY = 0.65
# Online: features estimated from a handful of rows are overconfident; until this many rows per class have been seen,
# the labels are taken as given.
_WARM_UP = 50


class Rows(NamedTuple):
    X: Any  # as prepared by the family
    observed: Array  # (n,) codes; K where the label is missing
    verified: Array | None = None  # (n,) codes of known true labels; -1 where unknown
    weight: Array | None = None  # (n,)

    def take(self, rows: Any) -> Rows:
        X = tuple(block[rows] for block in self.X) if isinstance(self.X, tuple) else self.X[rows]
        verified, weight = (None if part is None else part[rows] for part in (self.verified, self.weight))
        return Rows(X, self.observed[rows], verified, weight)


class Params(NamedTuple):
    prior: Array  # (K,)
    mislabel: Array  # (K, K): mislabel[l, k] = P(observed l | true k)
    features: Any  # the family's


class Stats(NamedTuple):
    """Sums over rows; those of two sets of rows add up."""

    joint: Array  # (K + 1, K): weight observed as l with true class k; the last row is of rows without a label
    features: Any  # the family's
    log_likelihood: float

    @property
    def class_weight(self) -> Array:
        return np.asarray(self.joint.sum(axis=0))


@dataclass(frozen=True)
class Model:
    family: Family
    structure: Structure
    feature_prior: Any = None
    class_prior: Array | None = None  # (K,) if it is known


def log_joint(rows: Rows, model: Model, params: Params) -> Array:
    """(n, K) log P(x, y, true = k), up to a constant per row; a verified row has one class only."""
    with np.errstate(divide="ignore"):  # a probability of 0 rightly becomes -inf
        of_label = np.vstack([np.log(params.mislabel), np.zeros(len(params.prior))]) + np.log(params.prior)
    scores = model.family.log_likelihood(rows.X, params.features)
    scores += of_label[rows.observed]
    if rows.verified is not None:
        known = np.flatnonzero(rows.verified >= 0)
        of_known = scores[known, rows.verified[known]]
        scores[known] = -np.inf
        scores[known, rows.verified[known]] = of_known
    return scores


def expect(rows: Rows, model: Model, params: Params) -> Stats:
    """The E-step: P(true | x, y) of the rows, and the sums of the rows weighted by it."""
    resp = log_joint(rows, model, params)
    largest = resp.max(axis=1)
    with np.errstate(invalid="ignore"):  # a row that no class allows becomes nan, which run_em reports
        resp -= largest[:, None]
    np.exp(resp, out=resp)
    total = resp.sum(axis=1)
    resp /= total[:, None]
    log_likelihood = np.log(total) + largest
    if rows.weight is not None:
        resp *= rows.weight[:, None]
        log_likelihood = log_likelihood * rows.weight
    return sums(rows, resp, model.family)._replace(log_likelihood=float(log_likelihood.sum()))


def sums(rows: Rows, resp: Array, family: Family) -> Stats:
    """Sums over the rows, distributed over the classes by resp (n, K)."""
    n, K = resp.shape
    by_label = sparse.csr_array((np.ones(n), (rows.observed, np.arange(n))), shape=(K + 1, n))
    return Stats(np.asarray(by_label @ resp), family.sums(rows.X, resp), 0.0)


def maximize(model: Model, stats: Stats) -> Params:
    """The M-step: each parameter is a ratio of sums."""
    weight = stats.class_weight
    prior = weight / weight.sum() if model.class_prior is None else model.class_prior
    features = model.family.estimate(stats.features, weight, model.feature_prior)
    return Params(prior, model.structure.estimate(stats.joint[:-1]), features)


class Run(NamedTuple):
    """The result of EM: the parameters, the statistics at them, the objective up to and including them."""

    params: Params
    stats: Stats
    objective: Array  # (steps,)
    converged: bool


def run_em(model: Model, starts: Sequence[Params], rows: Rows, max_iter: int, tol: float) -> Run:
    """Iterate until a step gains at most `tol` per unit of weight. The objective never falls. Several starts go on
    until none of them gains more; the best objective wins."""
    current, history = list(starts), []
    while True:
        stats = [expect(rows, model, params) for params in current]
        history.append([each.log_likelihood + log_prior(model, p) for each, p in zip(stats, current, strict=True)])
        objective = np.array(history)
        if not np.isfinite(objective[-1]).all():
            raise ValueError(
                "some row has probability 0: its label (or verified label) is impossible under the given "
                "mislabel matrix or class_prior; give those entries a positive probability"
            )
        gain = np.inf if len(history) < 2 else (objective[-1] - objective[-2]).max()
        converged = bool(gain <= tol * stats[0].joint.sum())
        if converged or len(history) > max_iter:
            best = int(objective[-1].argmax())
            return Run(current[best], stats[best], objective[:, best], converged)
        current = [maximize(model, each) for each in stats]


def log_prior(model: Model, params: Params) -> float:
    return model.family.log_prior(params.features, model.feature_prior) + model.structure.log_prior(params.mislabel)


# --- from rows to a fitted model --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    alpha: float | Literal["auto"] = "auto"
    start: str = "labels"
    n_init: int = 1  # of the paper's start
    max_iter: int = 300
    tol: float = 1e-5


class Fit(NamedTuple):
    model: Model
    params: Params
    stats: Stats
    objective: Array  # (steps,)
    strengths: list[tuple[int, Any]]  # the step from which each strength of the prior applied
    converged: bool


def fit(rows: Rows, model: Model, n_classes: int, settings: Settings, rng: np.random.Generator) -> Fit:
    """EM from its start, the strength of the prior, and classes matched to labels. The feature prior is set here."""
    model = replace(model, family=model.family.anchor(rows.X))
    labels = label_sums(rows, model.family, n_classes)
    model = replace(model, feature_prior=prior_of(model.family, labels, settings.alpha, _FIRST_STRENGTH))
    run = run_em(model, _starts(model, labels, settings, rng), rows, settings.max_iter, settings.tol)
    strengths: list[tuple[int, Any]] = [(0, settings.alpha)]
    if settings.alpha == "auto":
        strengths = [(0, model.family.strength(model.feature_prior))]
        left = settings.max_iter - len(run.objective)
        if left >= 0:
            # Only once: a greater strength blurs the classes, blurred classes lead to a greater strength, and with weak
            # features this would continue until only the labels are left.
            model = replace(model, feature_prior=prior_of(model.family, run.stats, "auto"))
            strengths.append((len(run.objective), model.family.strength(model.feature_prior)))
            again = run_em(model, [maximize(model, run.stats)], rows, left, settings.tol)
            run = again._replace(objective=np.concatenate([run.objective, again.objective]))
    # the paper has no such step: it relies on the classes keeping the labels of its starting matrix
    may_match = model.structure.exchangeable and model.class_prior is None and settings.start == "labels"
    if may_match and (rows.verified is None or (rows.verified < 0).all()):
        order = matching(run.params.mislabel)
        (prior, mislabel, features), stats = run.params, run.stats
        run = run._replace(
            params=Params(prior[order], mislabel[:, order], _of_classes(features, order)),
            stats=Stats(stats.joint[:, order], _of_classes(stats.features, order), stats.log_likelihood),
        )
    return Fit(model, run.params, run.stats, run.objective, strengths, run.converged)


def fit_without(rows: Rows, held_out: Array, fitted: Fit, settings: Settings) -> Params:
    """EM of the rows that are not held out, from where the fit to all rows ended, without the sums of the others."""
    rest = rows.take(np.flatnonzero(~held_out))
    start = maximize(fitted.model, expect(rest, fitted.model, fitted.params))
    return run_em(fitted.model, [start], rest, settings.max_iter, settings.tol).params


def known_labels(rows: Rows) -> Array:
    """(n,) codes: verified labels where they are known, otherwise the observed ones; K where there is none."""
    return rows.observed if rows.verified is None else np.where(rows.verified >= 0, rows.verified, rows.observed)


def label_sums(rows: Rows, family: Family, n_classes: int) -> Stats:
    """The sums of naive Bayes on the given labels (verified ones if known); rows without a label do not count."""
    label = known_labels(rows)
    resp, labeled = np.zeros((len(label), n_classes)), np.flatnonzero(label < n_classes)
    resp[labeled, label[labeled]] = 1.0 if rows.weight is None else rows.weight[labeled]
    return sums(rows, resp, family)


def first_params(model: Model, stats: Stats) -> Params:
    """Features and class shares from the starting sums; the same probability of a right label in every class."""
    return maximize(model, stats)._replace(mislabel=model.structure.start(stats.joint.shape[1]))


def prior_of(family: Family, stats: Stats, alpha: float | str, strength: float | None = None) -> Any:
    """strength : of a prior that is not given by alpha, in rows; None: by marginal likelihood"""
    if alpha == "auto":
        return family.pooled_prior(stats.features, stats.class_weight, strength)
    return family.fixed_prior(float(alpha), stats.features, stats.class_weight)


def _starts(model: Model, labels: Stats, settings: Settings, rng: np.random.Generator) -> Sequence[Params]:
    if settings.start == "labels":
        return [first_params(model, labels)]
    weight, n_init = labels.class_weight, settings.n_init
    K = len(weight)
    # drawn in the order of the class sizes, so that the names of the classes do not matter
    rank = np.argsort(np.argsort(weight, kind="stable"))
    n_columns = np.shape(labels.features)[-1] if isinstance(labels.features, np.ndarray) else 0
    features = model.family.random_params(n_init * K, n_columns, *PAPER_INTERVALS[settings.start], rng)
    known = isinstance(model.structure, Fixed)
    matrices = [model.structure.start(K) if known else random_matrix(K, rng)[np.ix_(rank, rank)] for _ in range(n_init)]
    prior = np.full(K, 1 / K) if model.class_prior is None else model.class_prior
    return [Params(prior, matrix, _of_classes(features, r * K + rank)) for r, matrix in enumerate(matrices)]


def _of_classes(values: Any, order: Array) -> Any:
    """The same classes in another order, in arrays or (named) tuples of them."""
    if isinstance(values, tuple):
        parts = (_of_classes(part, order) for part in values)
        return type(values)(*parts) if hasattr(values, "_fields") else tuple(parts)
    return values[order]


# --- a stream ---------------------------------------------------------------------------------------------------------


def begin(rows: Rows, model: Model, n_classes: int, alpha: Any) -> tuple[Model, Params, Stats]:
    """Naive Bayes on the labels of the first batch, and an EM step if that is large enough."""
    model = replace(model, family=model.family.anchor(rows.X))
    labels = label_sums(rows, model.family, n_classes)
    model = replace(model, feature_prior=prior_of(model.family, labels, alpha, _FIRST_STRENGTH))
    params = first_params(model, labels)
    if _is_warming_up(labels):
        return model, params, labels
    stats = expect(rows, model, params)
    return model, _maximize_online(model, stats), stats


def advance(model: Model, params: Params, seen: Stats, rows: Rows, alpha: Any) -> tuple[Model, Params, Stats]:
    """One step of stepwise EM: soft labels for this batch, its sums blended into the earlier ones, new parameters.

    Early rows, whose soft labels came from a poor model, are discounted: a batch of weight w among W seen so far enters
    with the share (w / W) ** _DECAY instead of w / W.
    """
    if _is_warming_up(seen):
        stats = blended(seen, 1.0, label_sums(rows, model.family, seen.joint.shape[1]), 1.0)
        return model, first_params(model, stats), stats
    batch = expect(rows, model, params)
    old, new = seen.joint.sum(), batch.joint.sum()
    share = (new / (old + new)) ** _DECAY
    stats = blended(seen, (1 - share) * (old + new) / old, batch, share * (old + new) / new)
    if int(np.log2(old + new)) > int(np.log2(old)):  # the prior is estimated again when the rows have doubled
        model = replace(model, feature_prior=prior_of(model.family, stats, alpha))
    return model, _maximize_online(model, stats), stats


def _maximize_online(model: Model, stats: Stats) -> Params:
    """The M-step with one extra row of every class, labeled as at the start: a class may appear late."""
    K = stats.joint.shape[1]
    return maximize(model, stats._replace(joint=stats.joint + np.vstack([model.structure.start(K), np.zeros(K)])))


def _is_warming_up(seen: Stats) -> bool:
    return bool(seen.joint.sum() < _WARM_UP * seen.joint.shape[1])


def blended(one: Any, factor: float, other: Any, other_factor: float) -> Any:
    """factor * one + other_factor * other, for numbers, arrays and (named) tuples of them."""
    if not isinstance(one, tuple):
        return factor * one + other_factor * other
    parts = (blended(a, factor, b, other_factor) for a, b in zip(one, other, strict=True))
    return type(one)(*parts) if hasattr(one, "_fields") else tuple(parts)
