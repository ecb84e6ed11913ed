"""Whether the labels support the mislabeling matrix: do they show that mistakes depend on the class?

The matrix explains labels that the features do not. So does "all labels are right, and the scores are less reliable
than the fit assumes". The two are compared by the out-of-fold log-likelihood of the labels, less one nat for each
entry of the matrix (Akaike's criterion) with at least one expected row, since most classes are confused with few
others; or, for a matrix with one rate for all labels, less one nat. A lead within its standard error shows nothing, so
the weight of the matrix is

    share = 1 / (1 + exp(-evidence)),   evidence = its lead in nats - the standard error of that lead

Mistakes on ambiguous rows also make scores less reliable, but only small ones: rows with large scores have the right
label. A temperature alone cannot express this, and a matrix may explain such labels better by accident. So the matrix
must also lead where the size |s| of the scores of a row counts as |s| ** exponent, exponent > 1 (another parameter).
Mistakes that depend on the class do the opposite: a share of the labels is wrong however large the scores are, which an
exponent below 1 would imitate. These are left to the matrix.

If that is not 1, `Hedge` defines what is reported instead.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..dataset.tree import Array
from ..robust.hedge import Hedge
from ..robust.old_model.mislabel import Fixed
from ..robust.recalibration import recalibration_of
from ..robust.training_posterior import posterior_of_rows
from .conservative_fit import label_problem
from .judged import Judged
from .pair_scores import TINY, LabelProblem, PairScores

# Rows whose likelihoods are compared. Smaller samples are unreliable: on samples of 5,000 out of 10,000 rows, the lead
# varied from -2 to 62 nats.
_COMPARISON_ROWS = 50_000
# A matrix with more weight than this (three nats beyond the standard error) gets full weight.
_FULL_WEIGHT_ABOVE = 0.95
# Exponents of the size of the scores, compared up to the best. A grid: a search stops anywhere on a flat top, and the
# same rows in another order must give the same audit. Injected mistakes on ambiguous rows need 1.2 to 2.
_EXPONENTS = (1.0, 1.125, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0)


def hedged(judged: Judged, problem: LabelProblem | None = None) -> Judged:
    """The same rows; P(wrong) relies on the matrix only as far as the labels show that mistakes depend on the class.

    problem : `label_problem` of the rows, if already computed
    """
    if not _is_comparable(judged):
        return judged
    problem = problem or label_problem(judged)
    share = matrix_share(judged, problem)
    if share > _FULL_WEIGHT_ABOVE:
        return judged
    plain, _ = problem.plain
    fitted = judged.fitted._replace(hedge=Hedge(share, plain.factor, plain.offset))
    recalibration = recalibration_of(judged.data, fitted)
    hedged_posterior = posterior_of_rows(judged.data, fitted, None, recalibration)
    # results by class (matrix, rates) remain those of the matrix
    posterior = judged.posterior._replace(rows=hedged_posterior.rows, recalibration=recalibration)
    return replace(judged, fitted=fitted, posterior=posterior)


def _is_comparable(judged: Judged) -> bool:
    """Scores must be out of fold and the matrix estimated; with other views, posteriors are pooled anyway."""
    if judged.training is None or judged.naive_bayes is not None or len(judged.classes) < 2 or not judged.n_labeled:
        return False
    return not isinstance(judged.training.robust_fit.problem.structure, Fixed)


def matrix_share(judged: Judged, problem: LabelProblem) -> float:
    """Weight of the matrix against "all labels are right", from 0 to 1."""
    exponent = _exponent(problem)
    if judged.n_labeled > len(problem.observed):
        problem = label_problem(judged, _COMPARISON_ROWS)
    evidence = _evidence(judged, problem, problem)
    if exponent > 1.0:
        evidence = min(evidence, _evidence(judged, problem, problem.steeper(exponent)) + 1.0)
    return float(1.0 / (1.0 + np.exp(np.clip(-evidence, -500.0, 500.0))))


def _exponent(problem: LabelProblem) -> float:
    """The exponent of the size of the scores, at least 1, with which right labels explain the data best."""
    likelihood = [problem.plain[1]]
    for exponent in _EXPONENTS[1:]:
        likelihood.append(problem.steeper(exponent).plain[1])
        if likelihood[-1] <= likelihood[-2]:
            break
    return _EXPONENTS[int(np.argmax(likelihood))]


def _evidence(judged: Judged, problem: LabelProblem, reference: LabelProblem) -> float:
    """How much better the matrix explains the labels, in nats, less its number of parameters and the standard error.

    reference : the same labels with the scores that count if all labels are right
    """
    K = len(judged.classes)
    all_right = np.log(_label_probabilities(reference, reference.plain[0].prior(reference.by_class.T)))
    as_fitted = PairScores(1.0, np.zeros((K, K)), np.zeros(K), judged.fitted.calibration.mislabel[0])
    prior = as_fitted.prior(problem.by_class.T)
    by_matrix = np.log((prior * as_fitted.matrix[problem.observed]).sum(axis=1) + TINY)
    by_one_rate = _one_rate_likelihood(problem.weight, _label_probabilities(problem, prior), K)
    scale = judged.n_labeled / max(len(problem.observed), 1)
    return max(
        scale * _gain_less_error(by_matrix - all_right, problem.weight) - _n_parameters(judged),
        scale * _gain_less_error(by_one_rate - all_right, problem.weight) - 1.0,
    )


def _gain_less_error(gain: Array, weight: Array) -> float:
    """The sum of gains (n,) with weights (n,), less its standard error."""
    mean = weight @ gain / weight.sum()
    return float(weight @ gain - np.sqrt(weight @ (gain - mean) ** 2))


def _n_parameters(judged: Judged) -> int:
    """Number of off-diagonal entries of the matrix with at least one expected row."""
    others = judged.counts * (1.0 - np.eye(len(judged.classes)))
    return int((others >= 1.0).sum())


def _label_probabilities(problem: LabelProblem, prior: Array) -> Array:
    return np.asarray(prior[np.arange(len(prior)), problem.observed] + TINY)


def _one_rate_likelihood(weight: Array, p_label: Array, n_classes: int) -> Array:
    """(n,) log-likelihoods under the best single error rate for all labels. p_label : (n,) P(label | x)"""
    from scipy.optimize import minimize_scalar  # takes a quarter of a second to import

    def likelihood(rate: float) -> Array:
        return np.asarray(np.log((1.0 - rate) * p_label + rate / (n_classes - 1) * (1.0 - p_label) + TINY))

    best = minimize_scalar(
        lambda rate: -float(weight @ likelihood(rate)), bounds=(0.0, 1.0 - 1.0 / n_classes), method="bounded"
    )
    return likelihood(best.x)
