"""The four classifiers: one per feature family, and one for tables that mix them."""

from __future__ import annotations

from typing import Any, Self

from .base import BaseINB
from .models import BernoulliModel, GaussianModel, MixedModel, MultinomialModel

_SHARED = """
    method : "crossfit" (default) or "em"
        "crossfit" is robust: rows are scored without their own fold, scores are calibrated on the labels, labels that
        look wrong lose weight, and left-out labels decide how often (with EM as one more candidate, except for counts).
        "em" is the generative EM of the paper. One class, or fewer than 10 rows, are fitted by "em" in any case.
    mislabel : "full" (default), "symmetric", "uniform", "ordinal" or a matrix (K, K)
        What is assumed of the mislabeling matrix P(observed l | true k), rows observed, columns true: nothing, that
        confusions go both ways alike, that one rate holds for all, or that it is known.
    mislabel_prior : number or (K, K), optional
        Pseudo-counts of a Dirichlet prior on its columns.
    class_prior : (K,), optional
        The shares of the true classes if they are known.
    start : "labels" (default), "random", "paper" or "paper-near-half"
        Begin EM at naive Bayes on the observed labels, or `n_init` times at random near the marginals (in one batch,
        the best objective wins). "paper" is the paper's random start as printed, "paper-near-half" the same with
        probabilities of features between 0.4 and 0.6; both are for binary features, `n_init` times too, and the classes
        are not matched with the labels afterwards.
    n_init : int, default 10
    max_iter, tol : EM stops after `max_iter` iterations or when one gains less than `tol` per row.
        Under "crossfit" `start`, `n_init` and `max_iter` are those of the EM candidate, and `tol` has no effect.
    missing_label : optional
        The entry of y that marks a row without a label (such rows help to learn the features); np.nan covers None.
    compress : "auto" (default), True or False
        Whether rows that are equal are merged before EM; "auto" does so if it makes the rows less than half as many.
        Only for "em".
    engine, n_jobs : "local" with n_jobs threads (default -1: all cores), "dask", or a function map_sum(fn, chunks)
    progress : optional
        A function of (iteration, objective), called at every iteration; under "crossfit" of (number, name) at every
        stage.
    checkpoint : path, optional
        A folder in which the fit leaves its state after every step. A fit of the same rows with the same settings that
        finds some there goes on from it, with the same result as if it had not been cut off.
    random_state : int, optional
        Of the folds, the random starts and `sample`; without it the folds are the same at every call.

    Attributes
    ----------
    classes_ : (K,) the labels, sorted
    class_prior_ : (K,) shares of the true classes
    mislabel_matrix_ : (K, K), [observed, true]; columns sum to 1
    noise_rate_ : estimated share of wrong labels
    true_proba_ : (n, K) P(true | x, label) of the fitted rows, each found without its own fold; only "crossfit"
    labelers_, mislabel_by_labeler_, labelers_differ_ : (G,) who gave the labels, (G, K, K) the mislabeling matrix of
        each, and whether they differ beyond chance; only after fit(..., labeler=...), and then `true_proba_` and
        `noise_rate_` use them
    sources_ : of each source its name, kind, levels with rows and error rate, and whether it was kept; only after
        fit(..., source=...), and then `true_proba_` and `noise_rate_` use those that were kept
    review_count_ : how many labels to look at, a work list that is too long where labels are right; only "crossfit"
    drift_ : how many more labels are doubted than naive Bayes of the labels as given fails to predict, as a share of
        the rows; above 0.05 the classes may not be those of the labels
    event_model_ : the scores that were chosen; only "crossfit"
    em_steps_ : "crossfit": rounds in which labels lost weight (0: labels as given, -1: the generative EM was better);
        "em": iterations
    objective_history_ : "crossfit": mean log-likelihood of left-out labels after 0, 1, ... rounds, and last of the
        generative EM if it was tried; "em": log-likelihood + log-prior at every iteration
    alpha_ : the strength of the prior in rows
    alpha_history_ : the iterations from which on each strength held; only "em"
    n_iter_, converged_ : how EM ended; "crossfit": 1 + rounds, and True"""


def _documented(cls: type[BaseINB]) -> type[BaseINB]:
    if cls.__doc__:
        cls.__doc__ = cls.__doc__.replace("    <shared>", _SHARED.lstrip("\n"))
    return cls


class BernoulliINB(BaseINB, BernoulliModel):
    """Naive Bayes for binary features that learns from mislabeled rows.

    Parameters
    ----------
    alpha : "auto" (default) or number
        "auto" shrinks each probability towards its feature's overall mean, as strongly as the marginal likelihood of
        the data asks for. A number is the pseudo-count of scikit-learn's BernoulliNB; 0 is maximum likelihood, in which
        a class is impossible for a row with a value that the class never has (the fewest such values win if all are).
        Under "crossfit", "auto" begins with the one of four strengths under which the scores explain the labels best.
    binarize : float or None, default 0.0
        Values above it count as 1, as in scikit-learn; None demands a matrix of zeros and ones.
    <shared>
    feature_prob_ : (K, d) P(x_j = 1 | true k)
    """

    @classmethod
    def paper(cls, **kwargs: Any) -> Self:
        """The paper's estimator: maximum likelihood, full matrix, EM to convergence from the observed labels."""
        return cls(**{"method": "em", "alpha": 0.0, "mislabel": "full", "start": "labels", **kwargs})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # for scikit-learn's checks: their blobs lose all shape at one threshold
        return tags


class MultinomialINB(BaseINB, MultinomialModel):
    """Naive Bayes for counts, such as words in texts, that learns from mislabeled rows.

    Parameters
    ----------
    alpha : "auto" (default) or number
        "auto" shrinks each class's frequencies towards the overall ones, as strongly as the marginal likelihood of the
        data asks for. A number is the pseudo-count of scikit-learn's MultinomialNB; 0 is maximum likelihood.
        Under "crossfit", "auto" compares three pseudo-counts.
    <shared>
    feature_prob_ : (K, d) the share of feature j among the counts of true class k
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
    alpha : "auto" (default) or number
        "auto" shrinks means and variances towards those of all rows, each as strongly as the marginal likelihood asks
        for. A number is the rows that this prior weighs; 0 is maximum likelihood. Under "crossfit", "auto" begins with
        the one of four strengths under which the scores explain the labels best.
    <shared>
    theta_, var_ : (K, d) means and variances
    """


class MixedINB(BaseINB, MixedModel):
    """Naive Bayes for tables of binary, count and continuous columns that learns from mislabeled rows.

    Parameters
    ----------
    blocks : "auto" (default) or a list of (family, columns)
        The family is "bernoulli", "gaussian", "multinomial" or a Family; the columns are positions, a slice, or names
        if X is a data frame. "auto" takes columns of zeros and ones as Bernoulli and all others as Gaussian.
    alpha : "auto" (default) or number
        As in the estimator of each family.
    <shared>
    """


ESTIMATORS: dict[str, type[BaseINB]] = {
    cls.__name__: _documented(cls) for cls in (BernoulliINB, MultinomialINB, GaussianINB, MixedINB)
}


def as_estimator(model: Any) -> Any:
    """The scikit-learn classifier of a fitted model; it shares all that the model has."""
    made = object.__new__(ESTIMATORS[model._estimator_name])
    made.__dict__.update(model.__dict__)
    return made
