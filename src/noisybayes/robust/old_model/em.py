"""The EM algorithm: parameters and statistics as values, one pass over the rows per iteration.

Latent true class t, observed label y, features x:

    P(t = k) = prior[k],   P(y = l | t = k) = mislabel[l, k],   P(x | t = k) by the feature family.

Every array carries R restarts, fitted together so that X is read once for all of them; families see R * K components.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...dataset import Dataset, Rows
from ...dataset.checkpoint import NO_CHECKPOINT, Checkpoint
from ...dataset.csr import rows_by_label, sums_by_label
from ...dataset.short_rows import row_max, row_sums
from ...dataset.tree import Array, take_components
from .families import Family
from .mislabel import Structure


class Params(NamedTuple):
    prior: Array  # (R, K)
    mislabel: Array  # (R, K, K): mislabel[r, l, k] = P(observed l | true k)
    features: Any  # the family's, for R * K components


class Stats(NamedTuple):
    """Sums over rows; those of two sets of rows add up."""

    joint: Array  # (R, K + 1, K): weight observed as l with true class k; the last row is of rows without a label
    features: Any  # the family's, for R * K components
    log_likelihood: Array  # (R,)

    @property
    def class_weight(self) -> Array:
        return np.asarray(self.joint.sum(axis=1))

    @property
    def component_weight(self) -> Array:
        return self.class_weight.reshape(-1)


@dataclass(frozen=True)
class Model:
    family: Family
    structure: Structure
    feature_prior: Any
    class_prior: Array | None = None  # (K,) if it is known

    def scores(self, params: Params, dtype: np.dtype[Any]) -> dict[str, Any]:
        """The parameters in the form that `posterior` needs."""
        R, K = params.prior.shape
        with np.errstate(divide="ignore"):  # a probability of 0 rightly becomes -inf
            log_prior = np.log(params.prior)
            labels = np.zeros((K + 1, R, K))
            labels[:K] = np.log(params.mislabel).transpose(1, 0, 2)
        return {"scorer": self.family.scorer(params.features, dtype), "labels": (labels + log_prior).astype(dtype)}

    def maximize(self, stats: Stats) -> Params:
        """The M-step: each parameter is a ratio of sums."""
        weight = stats.class_weight
        prior = weight / weight.sum(axis=1, keepdims=True) if self.class_prior is None else self.class_prior
        return Params(
            np.broadcast_to(prior, weight.shape),
            self.structure.estimate(stats.joint[:, :-1]),
            self.family.estimate(stats.features, stats.component_weight, self.feature_prior),
        )

    def log_prior(self, params: Params) -> Array:
        features = self.family.log_prior(params.features, self.feature_prior).reshape(params.prior.shape)
        return np.asarray(features.sum(axis=1) + self.structure.log_prior(params.mislabel))


def posterior(rows: Rows, scorer: Callable[[Any], Array], labels: Array) -> tuple[Array, Array]:
    """The E-step: P(t | x, y) as (n, R, K), and log P(x, y) as (n, R)."""
    _, R, K = labels.shape
    flat = scorer(rows.X)
    flat += np.take(labels.reshape(-1, R * K), rows.observed, axis=0)
    flat = flat.reshape(-1, K)
    scores = flat.reshape(-1, R, K)
    if rows.verified is not None:
        known = np.flatnonzero(rows.verified >= 0)
        known_scores = scores[known, :, rows.verified[known]]
        scores[known] = -np.inf
        scores[known, :, rows.verified[known]] = known_scores
    maxima = row_max(flat)
    with np.errstate(invalid="ignore"):  # a row that no class allows becomes nan, which run_em reports
        flat -= maxima[:, None]
    np.exp(flat, out=flat)
    total = row_sums(flat)
    flat /= total[:, None]
    return scores, np.asarray(np.log(total) + maxima, dtype=np.float64).reshape(-1, R)


def expect(
    rows: Rows, family: Family, scorer: Callable[[Any], Array], labels: Array, left_out: Array | None = None
) -> Stats:
    """E-step and sums over one block of rows. left_out : (R,) the fold that each restart leaves out"""
    resp, log_likelihood = posterior(rows, scorer, labels)
    weight = row_weights(rows, left_out)
    if left_out is not None:  # a row of weight zero may be impossible under parameters learned without it
        resp[weight == 0], log_likelihood[weight == 0] = 0.0, 0.0
    if weight is not None:
        resp *= weight[:, :, None]
        log_likelihood = log_likelihood * weight
    return statistics(rows, resp, family)._replace(log_likelihood=log_likelihood.sum(axis=0))


def row_weights(rows: Rows, left_out: Array | None) -> Array | None:
    """(n, 1) or (n, R), or None where every row counts once."""
    weight = None if rows.weight is None else rows.weight[:, None]
    if left_out is None:
        return weight
    is_included = rows.fold[:, None] != left_out
    return np.asarray(is_included.astype(np.float64) if weight is None else is_included * weight)


def statistics(rows: Rows, resp: Array, family: Family) -> Stats:
    """Sums over one block of rows, distributed over the components by resp (n, R, K)."""
    n, R, K = resp.shape
    joint = sums_by_label(resp, rows_by_label(rows.observed, K, resp.dtype))
    return Stats(joint, family.statistics(rows.X, resp.reshape(n, -1)), np.zeros(R))


class Run(NamedTuple):
    """The result of EM: the parameters, the statistics at them, the objective (steps, R) up to and including them."""

    params: Params
    stats: Stats
    objective: Array
    converged: bool

    def restart(self, r: int) -> Run:
        """One of the restarts."""
        K = self.params.prior.shape[1]
        components = np.arange(r * K, (r + 1) * K)
        params, stats = self.params, self.stats
        return Run(
            Params(params.prior[[r]], params.mislabel[[r]], take_components(params.features, components)),
            Stats(stats.joint[[r]], take_components(stats.features, components), stats.log_likelihood[[r]]),
            self.objective[:, [r]],
            self.converged,
        )


def run_em(
    model: Model,
    params: Params,
    data: Dataset,
    max_iter: int,
    tol: float,
    report: Callable[[int, float], None] | None = None,
    checkpoint: Checkpoint = NO_CHECKPOINT,
    name: str = "em",
    left_out: Array | None = None,
) -> Run:
    """Iterate until no restart gains more than `tol` per unit of weight. The objective never falls."""
    no_history: list[Array] = []
    params, history = checkpoint.load(name) or (params, no_history)
    while True:
        e_step = partial(expect, family=model.family, left_out=left_out, **model.scores(params, data.dtype))
        stats = data.map_sum(e_step)
        history.append(stats.log_likelihood + model.log_prior(params))
        if not np.isfinite(history[-1]).all():
            raise ValueError(
                "some row has probability 0: its label (or verified label) is impossible under the given "
                "mislabel matrix or class_prior; give those entries a positive probability"
            )
        if report is not None:
            report(len(history) - 1, float(history[-1].max()))
        gain = np.inf if len(history) < 2 else np.max(history[-1] - history[-2])
        converged = bool(gain <= tol * stats.class_weight[0].sum())
        if converged or len(history) > max_iter:
            return Run(params, stats, np.array(history), converged)
        params = model.maximize(stats)
        checkpoint.save(name, (params, history))
        del stats  # as large as the parameters: not kept during the next pass
