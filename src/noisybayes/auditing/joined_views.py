"""Combines other views with naive Bayes.

Every view gives out-of-fold scores (n, K). A view that adds little is dropped (`_kept`); the others are calibrated
jointly, with one temperature each, like blocks of columns. Their likelihood alone should not decide P(true), since a
view may be best because it predicts the mistakes themselves. So P(true) is pooled from two posteriors (`LogPool`),
of which only one relies fully on the matrix. That reduces the risk but does not remove it. Several views together
predict mistakes even better, which hides that mistakes depend on the class; so the best single view is asked too
(`_share_of_matrix`). If only naive Bayes is left, its rows are scored as if there had been no other view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..dataset import Rows
from ..dataset.tree import Array
from ..estimators.threads import one_blas_thread
from ..estimators.training_fit import TrainingFit
from ..model.mislabel import Fixed
from ..robust.calibration import Labels, centred
from ..robust.constants import Offsets
from ..robust.fit import RobustFit, fit_once, without_sampling
from ..robust.label_weights import AsGiven, Reweighted
from ..robust.problem import FixedSource, RobustProblem
from ..robust.recalibration import Recalibration, recalibration_of
from ..robust.score_models import Choice, Score, ScoreModel
from ..robust.training_posterior import posterior_of_rows
from ..text.features import Block
from ..views import NAIVE_BAYES, VIEWS, Given, ViewRows, ViewScores
from .conservative_fit import label_problem, scores_of_all
from .hedging import matrix_share
from .judged import Judged
from .table_features import Features

# A view that explains less than this share of what the best one explains is dropped.
_LEAST_SHARE = 0.4
# A view that explains less than this share must add something to the others. Views that are about as good as the best
# one need not: several are more stable than one.
_ABOUT_AS_GOOD = 0.75
# Given probabilities that agree with this share of the labels are too good to be out of sample, if the other views
# mispredict this many times as many labels.
_TOO_GOOD, _TIMES_WORSE = 0.98, 4.0
PRED_PROBS = "pred-probs"


class KeptScores(NamedTuple):
    """Scores of all rows."""

    values: Array  # (B, n, 1, K)

    def scores(self, rows: Rows) -> Array:
        return np.asarray(self.values[:, rows.number])


class LearnedViews(NamedTuple):
    """The scores of the views."""

    names: tuple[str, ...]
    views: tuple[ViewScores, ...]
    values: Array  # (B, n, 1, K) with mean 0 over the classes
    naive_bayes: TrainingFit | None  # the fit of naive Bayes, if it is one of the views
    predictor: None = None

    @property
    def out_of_fold(self) -> KeptScores:
        return KeptScores(self.values)

    @property
    def shares(self) -> Array:
        """The scores of views already include the class shares."""
        return np.zeros((1, self.values.shape[-1]))

    def combined(self, temperature: Array) -> KeptScores:
        return KeptScores(np.tensordot(temperature, self.values, axes=1)[None])

    def terms(self, rows: Rows, component: Array, other: Array, temperature: Array) -> Any:
        """The sum of all views that are sums over the columns; None if there is none."""
        found = []
        for name, view, factor in zip(self.names, self.views, temperature, strict=True):
            if name == NAIVE_BAYES and self.naive_bayes is not None:
                of_columns = self.naive_bayes.terms(rows, component, other)
                found += [] if of_columns is None else [factor * of_columns]
            elif view.terms is not None:
                found.append(factor * view.terms(rows.number, component, other))
        return sparse.csr_array(sum(found[1:], found[0])) if found else None

    def by_view(
        self, rows: Rows, component: Array, other: Array, temperature: Array, names: Sequence[str]
    ) -> list[list[tuple[str, float]]]:
        """What each view that is not a sum over the columns adds to the log-odds of every row: description and weight.
        names : class names"""
        at, found = np.arange(rows.n_rows), [[] for _ in range(rows.n_rows)]  # type: ignore[var-annotated]
        for name, view, scores, factor in zip(self.names, self.views, self.values, temperature, strict=True):
            if name == NAIVE_BAYES or view.terms is not None:
                continue
            of_rows = scores[rows.number, 0]
            added = factor * (of_rows[at, component] - of_rows[at, other])
            words = [name] * len(at) if view.sentences is None else view.sentences(rows.number, component, names)
            for one, said, weight in zip(found, words, added.tolist(), strict=True):
                one.append((said, weight))
        return found


class Joined(NamedTuple):
    judged: Judged
    notes: tuple[str, ...]  # sentences


@one_blas_thread
def join_views(judged: Judged, features: Features, names: tuple[str, ...], given: Given) -> Joined:
    """Combine naive Bayes and other views on its rows."""
    assert judged.training is not None
    rows = _view_rows(judged, features, given)
    views = {name: _of_naive_bayes(judged) if name == NAIVE_BAYES else VIEWS[name](rows) for name in names}
    explained = {name: _explained(judged, {name: view}) for name, view in views.items()}
    kept = _kept(judged, views, explained)
    notes = [f"views: {', '.join(f'{name} ({max(explained[name], 0.0):.0%} explained)' for name in kept)}"]
    notes += [f"the view {name} explains little of the labels and was dropped" for name in views if name not in kept]
    if tuple(kept) == (NAIVE_BAYES,):
        return Joined(judged, tuple(notes))
    best = max(kept, key=lambda name: explained[name])
    return Joined(_judged_by(judged, kept, best), tuple(notes))


def _view_rows(judged: Judged, features: Features, given: Given) -> ViewRows:
    data, K = judged.data, len(judged.classes)
    assert data.rows is not None
    assert data.folds is not None
    label, weight = (part[:, 0] for part in AsGiven(K)(data.rows))
    fold = data.folds.of(data.rows.number)
    return ViewRows(
        features.X, _are_numbers(features.recipe.blocks, features.X.shape[1]), label, weight, fold, K,
        _problem_of(judged).seed, given,
    )  # fmt: skip


def _are_numbers(blocks: tuple[Block, ...], n_columns: int) -> Array:
    numbers = np.zeros(n_columns, dtype=bool)
    for block in blocks:
        numbers[block.start : block.stop] = block.kind == "numeric"
    return numbers


def _of_naive_bayes(judged: Judged) -> ViewScores:
    return ViewScores(scores_of_all(judged))


def _problem_of(judged: Judged) -> RobustProblem:
    assert judged.training is not None
    return judged.training.robust_fit.problem


def _fit(judged: Judged, views: dict[str, ViewScores]) -> RobustFit:
    assert judged.training is not None
    values = centred(np.stack([view.values for view in views.values()])[:, :, None])
    naive_bayes = judged.training if NAIVE_BAYES in views else None
    source = FixedSource(LearnedViews(tuple(views), tuple(views.values()), values, naive_bayes))
    # penalised like those of naive Bayes: free offsets would mistake labels that attract mistakes for large classes
    offsets = Offsets(judged.training.robust_fit.choice.matrix_offsets.penalty, from_shares=False)
    model = ScoreModel(" + ".join(views), tuple(Score(None, None, None) for _ in views), None, (offsets,))
    problem = without_sampling(replace(_problem_of(judged), source=source, em=None))
    return fit_once(judged.data, problem, Choice(model, offsets))


def _explained(judged: Judged, views: dict[str, ViewScores]) -> float:
    """Share of the entropy of the labels that the views explain, out of fold."""
    fitted = _fit(judged, views).last.next_weights
    return posterior_of_rows(judged.data, fitted, None, Recalibration()).explained


def _kept(judged: Judged, views: dict[str, ViewScores], explained: dict[str, float]) -> dict[str, ViewScores]:
    """The views to keep. Naive Bayes, which is fitted anyway and explains its scores, need not add to the others."""
    best = max(explained, key=lambda name: explained[name])
    least, much = (max(share * explained[best], 0.0) for share in (_LEAST_SHARE, _ABOUT_AS_GOOD))
    kept = {name: view for name, view in views.items() if name == best or explained[name] >= least}
    for name in sorted(kept, key=lambda name: explained[name]):
        if explained[name] >= much or name in (best, NAIVE_BAYES):
            continue
        others = {other: view for other, view in kept.items() if other != name}
        if not _adds(judged, kept, others):
            kept = others
    return kept


def _adds(judged: Judged, views: dict[str, ViewScores], others: dict[str, ViewScores]) -> bool:
    """Whether the views explain more of the labels than `others`: the gain in log-likelihood, less one nat for one more
    temperature, must exceed its standard error."""
    gain = _log_likelihoods(judged, views) - _log_likelihoods(judged, others)
    return bool(gain.sum() - 1.0 > gain.std() * np.sqrt(len(gain)))


def _log_likelihoods(judged: Judged, views: dict[str, ViewScores]) -> Array:
    """(n,) weighted log-likelihoods of the labels; 0 where missing."""
    (found,) = judged.data.collect(partial(_weighted_log_likelihood, fitted=_fit(judged, views).last.next_weights))
    return found


def _weighted_log_likelihood(rows: Rows, fitted: Reweighted) -> tuple[Array]:
    return (fitted.unverified(rows).log_likelihood[:, 0] * Labels.of(rows).weight[:, 0],)


def _judged_by(judged: Judged, views: dict[str, ViewScores], best: str) -> Judged:
    """best : the view that explains the labels best"""
    assert judged.training is not None
    found = _fit(judged, views)
    share = _share_of_matrix(judged, found.last.next_weights)
    if len(views) > 1:
        share = max(share, _share_of_matrix(judged, _fit(judged, {best: views[best]}).last.next_weights))
    fitted = found.last.next_weights.pooled(judged.data, share)
    posterior = posterior_of_rows(judged.data, fitted, None, recalibration_of(judged.data, fitted))
    training = judged.training._replace(robust_fit=found, posterior=posterior)
    return replace(
        judged, fitted=fitted, posterior=posterior, training=training, naive_bayes=judged, views=tuple(views),
        warnings=_warnings(views, training.observed),
    )  # fmt: skip


def _share_of_matrix(judged: Judged, fitted: Reweighted) -> float:
    """How far the labels show that mistakes depend on the class, from 0 to 1; 1 for a matrix given by the user."""
    if len(judged.classes) < 2 or not judged.n_labeled or isinstance(_problem_of(judged).structure, Fixed):
        return 1.0
    posterior = posterior_of_rows(judged.data, fitted, None, Recalibration())
    by_matrix = replace(judged, fitted=fitted, posterior=posterior)
    return matrix_share(by_matrix, label_problem(by_matrix))


def _warnings(views: dict[str, ViewScores], observed: Array | None) -> tuple[str, ...]:
    """In-sample probabilities agree with the labels they were trained on, right or wrong."""
    if PRED_PROBS not in views or observed is None:
        return ()
    values = views[PRED_PROBS].values
    there = np.flatnonzero(observed < values.shape[1])
    agree = {name: float((view.values[there].argmax(axis=1) == observed[there]).mean()) for name, view in views.items()}
    others = max((share for name, share in agree.items() if name != PRED_PROBS), default=1.0)
    if agree[PRED_PROBS] < _TOO_GOOD or 1.0 - others < _TIMES_WORSE * (1.0 - agree[PRED_PROBS]):
        return ()
    return (
        f"The given probabilities agree with {agree[PRED_PROBS]:.1%} of the labels, and no other view with more than "
        f"{others:.1%}: they may come from a model trained on the same labels. Use out-of-sample "
        "probabilities, such as those of sklearn.model_selection.cross_val_predict.",
    )
