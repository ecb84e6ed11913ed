"""Peer: cleanlab, as its documentation uses it: 5-fold probabilities, find_label_issues, CleanLearning."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from noisybayes._extras import require

from ..tasks import Array, Task
from .outcome import N_FOLDS, Features, Outcome, binary, centred, logistic_regression, n_parameters, tfidf


def with_logistic_regression(task: Task) -> Outcome:
    return outcome(logistic_regression(), centred(task), task.y, task.seed)


def with_bernoulli(task: Task) -> Outcome:
    return outcome(BernoulliNB(), binary(task), task.y, task.seed)


def with_multinomial(task: Task) -> Outcome:
    return outcome(MultinomialNB(), tfidf(task), task.y, task.seed)


def with_scaled_regression(task: Task) -> Outcome:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return outcome(make_pipeline(StandardScaler(), logistic_regression()), _as_it_is(task), task.y, task.seed)


def with_forest(task: Task) -> Outcome:
    from sklearn.ensemble import RandomForestClassifier

    return outcome(RandomForestClassifier(random_state=task.seed), _as_it_is(task), task.y, task.seed)


def with_boosting(task: Task) -> Outcome:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return outcome(HistGradientBoostingClassifier(random_state=task.seed), _as_it_is(task), task.y, task.seed)


def _as_it_is(task: Task) -> Features:
    return Features(task.X, task.X_test)


def outcome(classifier: Any, features: Features, y: Array, seed: int) -> Outcome:
    cleanlab = require("cleanlab", extra="bench", purpose="the peer cleanlab")
    # cleanlab takes labels 0..K-1 without gaps
    classes, labels = np.unique(y, return_inverse=True)
    proba = cleanlab.count.estimate_cv_predicted_probabilities(
        features.train, labels, classifier, cv_n_folds=N_FOLDS, seed=seed
    )
    # The same rows, sooner: it would fork this process for each call, which can also hang a process with threads.
    processes = {"n_jobs": 1}
    flagged = cleanlab.filter.find_label_issues(labels, proba, **processes)
    # CleanLearning would compute the same probabilities; passing them halves its time
    learner = cleanlab.classification.CleanLearning(classifier, cv_n_folds=N_FOLDS, find_label_issues_kwargs=processes)
    learner.fit(features.train, labels, pred_probs=proba)
    return Outcome(
        p_wrong=1.0 - cleanlab.rank.get_label_quality_scores(labels, proba),
        flagged=flagged,
        review=flagged,
        suggested=np.where(flagged, classes[proba.argmax(axis=1)], y),
        noise_rate=float(1.0 - np.trace(cleanlab.count.estimate_joint(labels, proba))),
        test_pred=classes[learner.predict(features.test)],
        calibrated=False,
        n_parameters=n_parameters(learner.clf),
    )
