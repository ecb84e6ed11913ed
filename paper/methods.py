"""The methods of the paper's tables: name -> function(Draw, seed) -> Result. All see the same rows and wrong labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import BernoulliNB

from noisybayes.estimators import BernoulliINB
from noisybayes.model.families import Bernoulli
from noisybayes.model.mislabel import matching

Array = NDArray[Any]


class Draw(NamedTuple):
    """Training rows with observed and true labels, test rows with true labels; parameters if known."""

    X: Any
    y: Array
    true: Array
    X_test: Any
    true_test: Array
    n_classes: int
    class_prior: Array | None = None
    feature_prob: Array | None = None  # (K, d)
    y_test: Array | None = None  # observed labels of the test rows
    right: Array | None = None  # training rows for methods that use right labels; None: all


class Result(NamedTuple):
    proba: Array  # (n_test, K)
    feature_prob: Array | None = None  # (K, d)
    parameters: int = 0
    class_prior: Array | None = None  # (K,)


Method = Callable[[Draw, int], Result]

# The settings of NAL's authors are for many rows; with few, the defaults of our baselines take more steps. An epoch of
# 15,000 texts with 7,000 words takes seconds, and the best epoch is among the first few.
_MANY_ROWS = 10_000
_MANY_ROWS_SETTINGS = {"batch_size": 256, "patience": 4, "max_epochs": 40}
# The network of NAL's authors: half a million parameters, for images of digits, whatever the number of rows.
_AUTHORS: dict[str, Any] = {**_MANY_ROWS_SETTINGS, "hidden_layer_sizes": (500, 300), "as_published": True}


def _of(model: Any, draw: Draw, labels: Array) -> Result:
    """A fitted scikit-learn classifier; columns of classes that it never saw are zero."""
    model.fit(draw.X, labels)
    proba = np.zeros((draw.X_test.shape[0], draw.n_classes))
    proba[:, model.classes_] = model.predict_proba(draw.X_test)
    prob = getattr(model, "feature_prob_", None)
    if prob is None and hasattr(model, "feature_log_prob_"):
        prob = np.exp(model.feature_log_prob_)
    prior = getattr(model, "class_prior_", None)
    if prior is None and hasattr(model, "class_log_prior_"):
        prior = np.exp(model.class_log_prior_)
    whole = len(model.classes_) == draw.n_classes
    return Result(proba, prob if whole else None, _parameters(model, draw), prior if whole else None)


def _of_right_labels(model: Any, draw: Draw) -> Result:
    if draw.right is None:
        return _of(model, draw, draw.true)
    return _of(model, draw._replace(X=draw.X[draw.right]), draw.true[draw.right])


def _parameters(model: Any, draw: Draw) -> int:
    if hasattr(model, "n_parameters_"):
        return int(model.n_parameters_)
    K, d = draw.n_classes, draw.X.shape[1]
    naive: int = K - 1 + K * d
    return naive + K * (K - 1) if isinstance(getattr(model, "mislabel", None), str) else naive


def nb(draw: Draw, seed: int) -> Result:
    return _of(BernoulliNB(), draw, draw.y)


def nb_correct(draw: Draw, seed: int) -> Result:
    return _of_right_labels(BernoulliNB(), draw)


def _unsmoothed(equal_classes: bool, right: bool) -> Method:
    """Maximum likelihood, as in the paper's formulas; its EM starts from classes of equal size."""

    def method(draw: Draw, seed: int) -> Result:
        model = ExactNaiveBayes(equal_classes)
        return _of_right_labels(model, draw) if right else _of(model, draw, draw.y)

    return method


class ExactNaiveBayes:
    """Naive Bayes with exact zeros, as in `BernoulliINB.paper()`; scikit-learn has no such option."""

    def __init__(self, equal_classes: bool) -> None:
        self.equal_classes = equal_classes

    def fit(self, X: Any, y: Array) -> ExactNaiveBayes:
        self.classes_, codes = np.unique(y, return_inverse=True)
        one_hot = np.eye(len(self.classes_))[codes]
        weight, family = one_hot.sum(axis=0), Bernoulli()
        sums = family.statistics(X, one_hot)
        params = family.estimate(sums, weight, family.fixed_prior(0.0, sums, weight))
        self.feature_prob_ = np.exp(params.log_p)
        self.class_prior_ = np.full(len(weight), 1 / len(weight)) if self.equal_classes else weight / weight.sum()
        self.score = family.scorer(params, np.dtype(np.float64))
        return self

    def predict_proba(self, X: Any) -> Array:
        joint = self.score(X) + np.log(self.class_prior_)
        proba = np.exp(joint - joint.max(axis=1, keepdims=True))
        return np.asarray(proba / proba.sum(axis=1, keepdims=True))


def nbt(draw: Draw, seed: int) -> Result:
    """Naive Bayes with the parameters that generated the data."""
    if draw.feature_prob is None or draw.class_prior is None:
        raise ValueError("the true parameters are known only in a simulation")
    log_p, log_q = np.log(draw.feature_prob), np.log1p(-draw.feature_prob)
    joint = draw.X_test @ (log_p - log_q).T + log_q.sum(axis=1) + np.log(draw.class_prior)
    joint -= joint.max(axis=1, keepdims=True)
    proba = np.exp(joint)
    return Result(proba / proba.sum(axis=1, keepdims=True), draw.feature_prob)


def inb_paper(draw: Draw, seed: int) -> Result:
    return _of(BernoulliINB.paper(n_jobs=1, max_iter=1_000), draw, draw.y)


def inb_paper_equal(draw: Draw, seed: int) -> Result:
    """The same fit; rows are classified as if the classes had equal size, as `nb-equal` does."""
    model = BernoulliINB.paper(n_jobs=1, max_iter=1_000)
    result = _of(model, draw, draw.y)
    # a class that EM has emptied has no probability left to divide
    proba = result.proba[:, model.classes_] / np.maximum(model.class_prior_, np.finfo(float).tiny)
    result.proba[:, model.classes_] = proba / proba.sum(axis=1, keepdims=True)
    return result


def _started(start: str, n_init: int, matched: bool = False) -> Method:
    """The paper's estimator from another start. matched : name classes after the labels that they get most often"""

    def method(draw: Draw, seed: int) -> Result:
        model = BernoulliINB.paper(start=start, n_init=n_init, n_jobs=1, max_iter=1_000, random_state=seed)
        result = _of(model, draw, draw.y)
        if matched:
            order = matching(model.mislabel_matrix_)
            result.proba[:, model.classes_] = result.proba[:, model.classes_[order]]
            if result.feature_prob is not None and result.class_prior is not None:
                result = result._replace(feature_prob=result.feature_prob[order], class_prior=result.class_prior[order])
        return result

    return method


def inb(draw: Draw, seed: int) -> Result:
    return _of(BernoulliINB(n_jobs=1, random_state=seed), draw, draw.y)


def _neural(name: str, rate_is_given: bool = False, **settings: Any) -> Method:
    """rate_is_given : whether the share of wrong labels is given, as some methods' authors assume"""

    def method(draw: Draw, seed: int) -> Result:
        from .baselines import BASELINES

        own = settings or (_MANY_ROWS_SETTINGS if draw.X.shape[0] >= _MANY_ROWS else {})
        rate = {"noise_rate": float((draw.y != draw.true).mean())} if rate_is_given else {}
        return _of(BASELINES[name](random_state=seed, **own, **rate), draw, draw.y)

    return method


METHODS: dict[str, Method] = {
    "nb": nb,
    "nb-correct": nb_correct,
    "nb-ml": _unsmoothed(equal_classes=False, right=False),
    "nb-ml-correct": _unsmoothed(equal_classes=False, right=True),
    "nb-equal": _unsmoothed(equal_classes=True, right=False),
    "nb-equal-correct": _unsmoothed(equal_classes=True, right=True),
    "nbt": nbt,
    "inb-paper": inb_paper,
    "inb-paper-equal": inb_paper_equal,
    "inb-start-random": _started("random", 10),
    "inb-start-paper": _started("paper", 1),
    "inb-start-paper-10": _started("paper", 10),
    "inb-start-paper-10-matched": _started("paper", 10, matched=True),
    "inb-start-half": _started("paper-near-half", 1),
    "inb-start-half-10": _started("paper-near-half", 10),
    "inb-start-half-10-matched": _started("paper-near-half", 10, matched=True),
    "inb": inb,
    "nlnn": _neural("nlnn"),
    "nal": _neural("nal"),
    "nal-complex": _neural("nal-complex"),
    "nlnn-authors": _neural("nlnn", **_AUTHORS),
    "nal-authors": _neural("nal", **_AUTHORS),
    "network": _neural("network"),
    "decoupling": _neural("decoupling"),
    "decoupling-published": _neural("decoupling", as_published=True),
    "co-teaching": _neural("co-teaching", rate_is_given=True),
    "co-teaching-published": _neural("co-teaching", rate_is_given=True, as_published=True, warm_up=10),
    "mentornet": _neural("mentornet", rate_is_given=True),
    "mentornet-published": _neural("mentornet", rate_is_given=True, as_published=True),
}
#: Methods of other papers -> the same without our changes.
PUBLISHED = {
    "decoupling": "decoupling-published",
    "co-teaching": "co-teaching-published",
    "mentornet": "mentornet-published",
}
NEURAL = (
    "nlnn", "nal", "nal-complex", "nlnn-authors", "nal-authors",
    "network", *PUBLISHED, *PUBLISHED.values(),
)  # fmt: skip
_PRINTED, _NEAR_HALF = "probabilities uniform in (0, 1), as printed", "probabilities uniform in (0.4, 0.6)"
#: Methods that differ in where EM starts: description, number of starts, whether classes are matched afterwards.
STARTS = {
    "inb-start-paper": (_PRINTED, 1, "no"),
    "inb-start-paper-10": (_PRINTED, 10, "no"),
    "inb-start-paper-10-matched": (_PRINTED, 10, "yes"),
    "inb-start-half": (_NEAR_HALF, 1, "no"),
    "inb-start-half-10": (_NEAR_HALF, 10, "no"),
    "inb-start-half-10-matched": (_NEAR_HALF, 10, "yes"),
    "inb-start-random": ("near the marginals", 10, "yes"),
    "inb-paper": ("naive Bayes on the labels", 1, "yes"),
}
#: Titles in tables.
TITLES = {
    "nb": "NB",
    "nb-correct": "NB, right labels",
    "nb-ml": "NB, unsmoothed",
    "nb-ml-correct": "NB, unsmoothed, right labels",
    "nb-equal": "NB, unsmoothed, equal classes",
    "nb-equal-correct": "NB, unsmoothed, equal classes, right labels",
    "nbt": "NB-T",
    "inb-paper": "INB (paper's)",
    "inb-paper-equal": "INB (paper's), equal classes",
    "inb-start-random": "INB (paper's), ten random starts near the marginals",
    "inb-start-paper": "INB (paper's), printed start",
    "inb-start-paper-10": "INB (paper's), ten printed starts",
    "inb-start-paper-10-matched": "INB (paper's), ten printed starts, classes matched",
    "inb-start-half": "INB (paper's), start near one half",
    "inb-start-half-10": "INB (paper's), ten starts near one half",
    "inb-start-half-10-matched": "INB (paper's), ten starts near one half, classes matched",
    "inb": "INB (ours)",
    "nlnn": "NLNN",
    "nal": "NAL",
    "nal-complex": "NAL, complex",
    "nlnn-authors": "NLNN, authors' configuration",
    "nal-authors": "NAL, authors' configuration",
    "network": "a plain network",
    "decoupling": "Decoupling",
    "decoupling-published": "Decoupling, as published",
    "co-teaching": "Co-teaching",
    "co-teaching-published": "Co-teaching, as published",
    "mentornet": "MentorNet",
    "mentornet-published": "MentorNet, as published",
}
