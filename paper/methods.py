"""The methods of the experiments, by name. All see the same rows and the same wrong labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from noisybayes import BernoulliINB, MislabelClassifier, MultinomialINB

from .baselines.bayesanil import BayesANIL
from .baselines.filters import EnsembleFilter, NaiveBayesFilter, SVMFilter
from .experiment import Array, Draw, Result

# The settings of NAL's authors are for many rows; with few, the defaults of our baselines take more steps. An epoch of
# 15,000 texts with 7,000 words takes seconds, and the best epoch is among the first few.
_MANY_ROWS = 10_000
_MANY_ROWS_SETTINGS = {"batch_size": 256, "patience": 4, "max_epochs": 40}
# The network of NAL's authors: half a million parameters, for images of digits, whatever the number of rows.
_AUTHORS: dict[str, Any] = {**_MANY_ROWS_SETTINGS, "hidden_layer_sizes": (500, 300), "as_published": True}
# Represents log 0 of an exact zero: no number of other features outweighs a value that a class never has.
_LOG_ZERO = -1e5


class Method(NamedTuple):
    title: str
    run: Callable[[Draw, int], Result]
    needs: str = ""  # a package beyond those of noisybayes


def _fitted(model: Any, draw: Draw, right: bool = False) -> Result:
    """A scikit-learn classifier, by default of the observed labels; classes that it never saw have probability 0."""
    X, labels = draw.X, draw.true if right else draw.y
    if right and draw.right is not None:
        X, labels = X[draw.right], labels[draw.right]
    model.fit(X, labels)
    proba = np.zeros((draw.X_test.shape[0], draw.n_classes))
    proba[:, model.classes_] = model.predict_proba(draw.X_test)
    result = Result(proba, _n_parameters(model, draw))
    if len(model.classes_) < draw.n_classes:
        return result
    prob, prior = (getattr(model, name, None) for name in ("feature_prob_", "class_prior_"))
    if hasattr(model, "feature_log_prob_"):
        prob, prior = np.exp(model.feature_log_prob_), np.exp(model.class_log_prior_)
    return result._replace(feature_prob=prob, class_prior=prior)


def _n_parameters(model: Any, draw: Draw) -> int:
    """A mislabeling matrix has K (K - 1); naive Bayes K - 1 + K d, logistic regression K + K d."""
    if hasattr(model, "n_parameters_"):
        return int(model.n_parameters_)
    K, d = draw.n_classes, int(draw.X.shape[1])
    matrix = K * (K - 1) if hasattr(model, "mislabel_matrix_") else 0
    return K * d + matrix + (K if hasattr(getattr(model, "estimator_", model), "coef_") else K - 1)


def _naive_bayes(right: bool, draw: Draw, seed: int) -> Result:
    return _fitted(BernoulliNB(), draw, right)


def _unsmoothed(equal_classes: bool, right: bool, draw: Draw, seed: int) -> Result:
    return _fitted(ExactNaiveBayes(equal_classes), draw, right)


class ExactNaiveBayes:
    """Maximum likelihood as in the paper's formulas, with exact zeros, which scikit-learn does not have."""

    def __init__(self, equal_classes: bool) -> None:
        self.equal_classes = equal_classes  # the paper's EM starts from classes of equal size

    def fit(self, X: Any, y: Array) -> ExactNaiveBayes:
        self.classes_, codes = np.unique(y, return_inverse=True)
        one_hot = np.eye(len(self.classes_))[codes]
        size = one_hot.sum(axis=0)
        present = np.asarray(X.T @ one_hot).T
        self.feature_prob_ = present / size[:, None]
        self.absent_prob = (size[:, None] - present) / size[:, None]
        self.class_prior_ = np.full(len(size), 1 / len(size)) if self.equal_classes else size / size.sum()
        return self

    def predict_proba(self, X: Any) -> Array:
        never, always = self.feature_prob_ == 0, self.absent_prob == 0
        log_p, log_q = np.log(self.feature_prob_ + never), np.log(self.absent_prob + always)
        # impossible values are counted separately: integers are exact, sums of _LOG_ZERO are not
        impossible = X @ (never.astype(float) - always).T + always.sum(axis=1)
        joint = _LOG_ZERO * impossible + X @ (log_p - log_q).T + log_q.sum(axis=1) + np.log(self.class_prior_)
        return _normalized(joint)


def _normalized(joint: Array) -> Array:
    proba = np.exp(joint - joint.max(axis=1, keepdims=True))
    return np.asarray(proba / proba.sum(axis=1, keepdims=True))


def _true_parameters(draw: Draw, seed: int) -> Result:
    """Naive Bayes with the parameters that generated the data."""
    assert draw.feature_prob is not None
    assert draw.class_prior is not None
    log_p, log_q = np.log(draw.feature_prob), np.log1p(-draw.feature_prob)
    joint = draw.X_test @ (log_p - log_q).T + log_q.sum(axis=1) + np.log(draw.class_prior)
    return Result(_normalized(joint), feature_prob=draw.feature_prob)


def _paper(draw: Draw, seed: int) -> Result:
    return _fitted(BernoulliINB.paper(max_iter=1_000), draw)


def _paper_equal(draw: Draw, seed: int) -> Result:
    """The same fit; rows are classified as if the classes had equal size, as `nb-equal` does."""
    model = BernoulliINB.paper(max_iter=1_000)
    result = _fitted(model, draw)
    # a class that EM has emptied has no probability left to divide
    proba = result.proba[:, model.classes_] / np.maximum(model.class_prior_, np.finfo(float).tiny)
    result.proba[:, model.classes_] = proba / proba.sum(axis=1, keepdims=True)
    return result


def _started(start: str, n_init: int, draw: Draw, seed: int) -> Result:
    """The paper's estimator from another start."""
    model = BernoulliINB.paper(start=start, n_init=n_init, max_iter=1_000, random_state=seed)
    return _fitted(model, draw)


def _default(draw: Draw, seed: int) -> Result:
    return _fitted(BernoulliINB(random_state=seed), draw)


def _filter(make: Callable[..., Any], needed_votes: int, draw: Draw, seed: int) -> Result:
    return _fitted(make(needed_votes, seed), draw)


def _bayesanil(draw: Draw, seed: int) -> Result:
    return _fitted(BayesANIL(_noise_rate(draw)), draw)


def _noise_rate(draw: Draw) -> float:
    """The share of wrong labels, for methods whose authors assume that it is known."""
    return float((draw.y != draw.true).mean())


def _neural(title: str, module: str, name: str, rate_is_given: bool = False, **settings: Any) -> Method:
    def run(draw: Draw, seed: int) -> Result:
        make = getattr(import_module(f"{__package__}.baselines.{module}"), name)  # torch is not everywhere
        own = settings or (_MANY_ROWS_SETTINGS if draw.X.shape[0] >= _MANY_ROWS else {})
        rate = {"noise_rate": _noise_rate(draw)} if rate_is_given else {}
        return _fitted(make(random_state=seed, **own, **rate), draw)

    return Method(title, run, "torch")


def tfidf(draw: Draw) -> Draw:
    """Word counts as sublinear TF-IDF, with rows of length 1."""
    transformer = TfidfTransformer(sublinear_tf=True)
    return draw._replace(X=transformer.fit_transform(draw.X), X_test=transformer.transform(draw.X_test))


def logistic_regression() -> LogisticRegression:
    # scikit-learn's default of 100 iterations cuts some fits short
    return LogisticRegression(max_iter=1_000)


def _text(make: Callable[[], Any], right: bool, draw: Draw, seed: int) -> Result:
    """For word counts. Only the predicted classes are compared."""
    draw = tfidf(draw)
    model = make().fit(draw.X, draw.true if right else draw.y)
    return Result(np.eye(draw.n_classes)[model.predict(draw.X_test)], _n_parameters(model, draw))


def _cleanlab(draw: Draw, seed: int) -> Result:
    """The peer that most people use, as its documentation does: 5-fold probabilities, CleanLearning."""
    import cleanlab

    draw, model = tfidf(draw), logistic_regression()
    proba = cleanlab.count.estimate_cv_predicted_probabilities(draw.X, draw.y, model, cv_n_folds=5, seed=seed)
    # in one process, it finds the same rows sooner
    learner = cleanlab.classification.CleanLearning(model, cv_n_folds=5, find_label_issues_kwargs={"n_jobs": 1})
    learner.fit(draw.X, draw.y, pred_probs=proba)
    return Result(np.eye(draw.n_classes)[learner.predict(draw.X_test)], _n_parameters(learner.clf, draw))


METHODS = {
    "nb": Method("NB", partial(_naive_bayes, False)),
    "nb-correct": Method("NB, right labels", partial(_naive_bayes, True)),
    "nb-ml": Method("NB, unsmoothed", partial(_unsmoothed, False, False)),
    "nb-ml-correct": Method("NB, unsmoothed, right labels", partial(_unsmoothed, False, True)),
    "nb-equal": Method("NB, unsmoothed, equal classes", partial(_unsmoothed, True, False)),
    "nb-equal-correct": Method("NB, unsmoothed, equal classes, right labels", partial(_unsmoothed, True, True)),
    "nbt": Method("NB-T", _true_parameters),
    "inb-paper": Method("INB (paper's)", _paper),
    "inb-paper-equal": Method("INB (paper's), equal classes", _paper_equal),
    "inb-start-paper": Method("printed start", partial(_started, "paper", 1)),
    "inb-start-paper-10": Method("ten printed starts", partial(_started, "paper", 10)),
    "inb-start-half": Method("start near one half", partial(_started, "paper-near-half", 1)),
    "inb-start-half-10": Method("ten starts near one half", partial(_started, "paper-near-half", 10)),
    "inb": Method("INB (ours)", _default),
    "majority-filter": Method("majority filter", partial(_filter, EnsembleFilter, 2)),
    "consensus-filter": Method("consensus filter", partial(_filter, EnsembleFilter, 3)),
    "svm-filter": Method("SVM filter", partial(_filter, SVMFilter, 1)),
    "nb-filter": Method("naive Bayes filter", partial(_filter, NaiveBayesFilter, 1)),
    "bayesanil": Method("BayesANIL", _bayesanil),
    "nlnn": _neural("NLNN", "noise_layers", "NLNN"),
    "nal": _neural("NAL", "noise_layers", "NAL"),
    "nal-complex": _neural("NAL, complex", "noise_layers", "NAL", is_complex=True),
    "nlnn-authors": _neural("NLNN, authors' configuration", "noise_layers", "NLNN", **_AUTHORS),
    "nal-authors": _neural("NAL, authors' configuration", "noise_layers", "NAL", **_AUTHORS),
    "network": _neural("a plain network", "network", "PlainNetwork"),
    "cmtnn": _neural("CMTNN", "row_selection", "CMTNN"),
    "decoupling": _neural("Decoupling", "row_selection", "Decoupling"),
    "decoupling-published": _neural("Decoupling, as published", "row_selection", "Decoupling", as_published=True),
    "co-teaching": _neural("Co-teaching", "row_selection", "CoTeaching", True),
    "co-teaching-published": _neural(
        "Co-teaching, as published", "row_selection", "CoTeaching", True, as_published=True, warm_up=10
    ),
    "mentornet": _neural("MentorNet", "row_selection", "MentorNet", True),
    "mentornet-published": _neural("MentorNet, as published", "row_selection", "MentorNet", True, as_published=True),
    "text-nb": Method("NB", partial(_text, MultinomialNB, False)),
    "text-nb-correct": Method("NB, right labels", partial(_text, MultinomialNB, True)),
    "text-inb": Method("INB (ours)", partial(_text, MultinomialINB, False)),
    "text-cleanlab": Method("cleanlab, logistic regression", _cleanlab, "cleanlab"),
    "text-mislabel": Method(
        "MislabelClassifier, logistic regression",
        partial(_text, lambda: MislabelClassifier(logistic_regression()), False),
    ),
}
TITLES = {name: method.title for name, method in METHODS.items()}
NEURAL = tuple(name for name, method in METHODS.items() if method.needs == "torch")
