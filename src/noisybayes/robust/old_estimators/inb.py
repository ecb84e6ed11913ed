"""The four classifiers: one per feature family, and one for tables that mix them."""

from __future__ import annotations

from typing import Any, Self

from .base import BaseINB
from .family_models import BernoulliModel, GaussianModel, MixedModel, MultinomialModel

_SHARED = """
    method : {"crossfit", "em"}, default "crossfit"
        "crossfit" is the robust fit: rows are scored out of fold, scores are calibrated on the labels, and labels that
        are probably wrong are down-weighted, in a number of rounds chosen on held-out labels (EM is one more candidate,
        except for counts). "em" is the generative EM of the paper. A single class, or fewer than 10 rows, are always
        fitted by "em".
    mislabel : {"full", "symmetric", "uniform", "ordinal"} or array-like of shape (K, K), default "full"
        Structure of the mislabeling matrix P(observed l | true k), rows observed, columns true: any matrix, a symmetric
        one, one rate for all classes, labels on a scale, or a known matrix.
    mislabel_prior : float or array-like of shape (K, K), optional
        Pseudo-counts of a Dirichlet prior on the columns of the mislabeling matrix.
    class_prior : array-like of shape (K,), optional
        The shares of the true classes, if known.
    start : {"labels", "random", "paper", "paper-near-half"}, default "labels"
        Start EM from naive Bayes on the observed labels, or `n_init` times at random near the marginals (in one batch;
        the best objective wins). "paper" is the random start printed in the paper, "paper-near-half" the same with
        feature probabilities between 0.4 and 0.6; both are for binary features, also `n_init` times, and the classes
        are not matched with the labels afterwards.
    n_init : int, default 10
        Number of random starts.
    max_iter : int, default 300
        Maximum number of EM iterations. Under "crossfit", `start`, `n_init` and `max_iter` apply to the EM candidate.
    tol : float, default 1e-5
        EM stops when an iteration gains less than this per row. It has no effect under "crossfit".
    missing_label : optional
        The value of y that marks a row without a label; np.nan covers None. Such rows still inform the features.
    compress : {"auto", True, False}, default "auto"
        Whether equal rows are merged before EM; "auto" does so if that leaves fewer than half of the rows. Only "em".
    engine : {"local", "dask"} or callable, default "local"
        Where the passes over the rows run; a callable is `map_sum(fn, chunks)`.
    n_jobs : int, default -1
        Number of threads of the local engine; -1 uses all cores.
    progress : callable, optional
        Called with (iteration, objective) at every EM iteration; under "crossfit" with (number, name) at every stage.
    checkpoint : str or Path, optional
        Folder in which the fit saves its state after every step. A later fit of the same rows with the same settings
        resumes from it, with the same result.
    random_state : int, optional
        Seed of the folds, the random starts and `sample`; by default the folds are the same at every call.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    class_prior_ : ndarray of shape (K,)
        Shares of the true classes.
    mislabel_matrix_ : ndarray of shape (K, K)
        P(observed | true) as [observed, true]; columns sum to 1.
    noise_rate_ : float
        Estimated share of wrong labels.
    true_proba_ : ndarray of shape (n, K)
        Out-of-fold P(true | x, label) of the fitted rows. Only "crossfit".
    labelers_, mislabel_by_labeler_, labelers_differ_ : ndarray of shape (G,), ndarray of shape (G, K, K), bool
        The labelers, the mislabeling matrix of each, and whether they differ beyond chance. Only after
        `fit(..., labeler=...)`; `true_proba_` and `noise_rate_` then use them.
    sources_ : tuple
        For each source its name, kind, levels with rows and error rate, and whether it was kept. Only after
        `fit(..., source=...)`; `true_proba_` and `noise_rate_` then use the sources that were kept.
    review_count_ : int
        Suggested number of rows to review; too large if labels are clean. Only "crossfit".
    drift_ : float
        Expected share of wrong labels, minus the share that naive Bayes trained on the labels as given fails to
        predict. Above 0.05 the classes may no longer be those of the labels.
    event_model_ : str
        The score model that was chosen. Only "crossfit".
    em_steps_ : int
        "crossfit": rounds in which labels were down-weighted (0: given labels, -1: the generative EM was better); "em":
        iterations.
    objective_history_ : ndarray
        "crossfit": mean held-out log-likelihood of the labels after 0, 1, ... rounds and, last, of the generative EM if
        it was tried; "em": log-likelihood + log-prior at every iteration. It never falls while `alpha_` is the same
        (see `alpha_history_`).
    alpha_ : float or tuple
        Strength of the prior, in rows.
    alpha_history_ : list of (int, float)
        The iteration from which each strength applied. Only "em".
    n_iter_, converged_ : int, bool
        Iterations of EM, and whether it converged; under "crossfit" 1 + rounds, and True."""


def _documented(cls: type[BaseINB]) -> type[BaseINB]:
    if cls.__doc__:
        cls.__doc__ = cls.__doc__.replace("    <shared>", _SHARED.lstrip("\n"))
    return cls


class BernoulliINB(BaseINB, BernoulliModel):
    """Naive Bayes for binary features that learns from mislabeled rows.

    Parameters
    ----------
    alpha : float or "auto", default "auto"
        "auto" shrinks each probability towards the overall mean of its feature, with the strength that maximises the
        marginal likelihood; under "crossfit" it starts with the one of four strengths that explains the labels best. A
        number is a pseudo-count as in scikit-learn's BernoulliNB. 0 is maximum likelihood: a class is impossible for a
        row with a value that never occurs in the class (if all classes are, the one with the fewest such values wins).
    binarize : float or None, default 0.0
        Values above it count as 1, as in scikit-learn; None requires a matrix of zeros and ones.
    <shared>
    feature_prob_ : ndarray of shape (K, d)
        P(x_j = 1 | true k).
    """

    @classmethod
    def paper(cls, **kwargs: Any) -> Self:
        """The paper's estimator: maximum likelihood, full matrix, EM to convergence from the observed labels."""
        return cls(**{"method": "em", "alpha": 0.0, "mislabel": "full", "start": "labels", **kwargs})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = (
            True  # for scikit-learn's checks: their blobs lose their structure at one threshold
        )
        return tags


class MultinomialINB(BaseINB, MultinomialModel):
    """Naive Bayes for counts, such as words in texts, that learns from mislabeled rows.

    Parameters
    ----------
    alpha : float or "auto", default "auto"
        "auto" shrinks the frequencies of each class towards the overall ones, with the strength that maximises the
        marginal likelihood; under "crossfit" it compares three pseudo-counts. A number is a pseudo-count as in
        scikit-learn's MultinomialNB; 0 is maximum likelihood.
    <shared>
    feature_prob_ : ndarray of shape (K, d)
        Share of feature j among the counts of true class k.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True  # for scikit-learn's checks: their blobs are not counts
        return tags


class GaussianINB(BaseINB, GaussianModel):
    """Naive Bayes for continuous features that learns from mislabeled rows.

    Parameters
    ----------
    alpha : float or "auto", default "auto"
        "auto" shrinks means and variances towards those of all rows, with the strengths that maximise the marginal
        likelihood; under "crossfit" it starts with the one of four strengths that explains the labels best. A number is
        the weight of this prior in rows; 0 is maximum likelihood.
    <shared>
    theta_, var_ : ndarray of shape (K, d)
        Means and variances.
    """


class MixedINB(BaseINB, MixedModel):
    """Naive Bayes for tables of binary, count and continuous columns that learns from mislabeled rows.

    Parameters
    ----------
    blocks : "auto" or list of (family, columns), default "auto"
        A family is "bernoulli", "gaussian", "multinomial" or a Family; columns are positions, a slice, or names if X is
        a data frame. "auto" treats columns of zeros and ones as Bernoulli and all others as Gaussian.
    alpha : float or "auto", default "auto"
        As in the estimator of each family.
    <shared>
    """


ESTIMATORS: dict[str, type[BaseINB]] = {
    cls.__name__: _documented(cls) for cls in (BernoulliINB, MultinomialINB, GaussianINB, MixedINB)
}


def as_estimator(model: Any) -> Any:
    """The scikit-learn classifier of a fitted model; it shares the model's attributes."""
    estimator = object.__new__(ESTIMATORS[model._estimator_name])
    estimator.__dict__.update(model.__dict__)
    return estimator
