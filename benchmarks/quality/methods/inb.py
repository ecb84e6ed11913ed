"""Ours: the improved naive Bayes classifiers of this package."""

from __future__ import annotations

from typing import Any

import numpy as np

from noisybayes.auditing.hedging import hedged
from noisybayes.auditing.judged import judge
from noisybayes.estimators import BernoulliINB, MultinomialINB

from ..tasks import Array, Task
from .outcome import Features, Outcome, binary, n_parameters, of_given, tfidf


def default(task: Task, **settings: Any) -> Outcome:
    """MultinomialINB on TF-IDF for text, BernoulliINB for tables, with default settings."""
    return multinomial(task, **settings) if task.kind == "text" else bernoulli(task, **settings)


def em(task: Task) -> Outcome:
    """The default, but fitted by the generative EM."""
    return default(task, method="em")


def bernoulli(task: Task, **settings: Any) -> Outcome:
    return outcome(BernoulliINB(**settings), binary(task), task.y)


def multinomial(task: Task, **settings: Any) -> Outcome:
    return outcome(MultinomialINB(**settings), tfidf(task), task.y)


def paper(task: Task) -> Outcome:
    return outcome(BernoulliINB.paper(), binary(task), task.y)


def outcome(model: Any, features: Features, y: Array) -> Outcome:
    """Fit one of our models and compute all of its outcome."""
    model.fit(features.train, y)
    # out of sample where the fit was cross-fitted
    posterior = getattr(model, "true_proba_", None)
    if posterior is None:
        posterior = model.predict_true_proba(features.train, y)
    by_matrix = 1.0 - of_given(posterior, model.classes_, y)
    # as an audit reports it
    p_wrong = hedged(judge(model, features.train, y)).p_wrong if hasattr(model, "true_proba_") else by_matrix
    suggested = model.classes_[posterior.argmax(axis=1)]
    flagged = suggested != y
    return Outcome(
        p_wrong=p_wrong,
        flagged=flagged,
        review=_work_list(model, p_wrong, flagged),
        suggested=suggested,
        noise_rate=float(by_matrix.mean()),
        test_pred=model.predict(features.test),
        calibrated=True,
        n_parameters=n_parameters(model),
    )


def _work_list(model: Any, p_wrong: Array, flagged: Array) -> Array:
    count = getattr(model, "review_count_", None)
    if count is None:
        return flagged
    review = np.zeros(len(p_wrong), dtype=bool)
    review[np.argsort(-p_wrong, kind="stable")[: int(count)]] = True
    return review
