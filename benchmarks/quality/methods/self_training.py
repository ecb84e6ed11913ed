"""Peer: scikit-learn's self-training, after the least certain fifth of the labels was removed."""

from __future__ import annotations

import numpy as np
from sklearn.semi_supervised import SelfTrainingClassifier

from ..tasks import Task
from .naive_bayes import classifier
from .outcome import Outcome, n_parameters, of_given, out_of_fold, tfidf

_DROPPED_SHARE = 0.2
_NO_LABEL = -1  # scikit-learn's marker for it


def with_naive_bayes(task: Task) -> Outcome:
    """With the same naive Bayes as `nb-noisy`, so that the two differ only in the self-training."""
    features = tfidf(task)
    proba = out_of_fold(classifier(task), features.train, task.y, task.seed)
    p_given = of_given(proba, np.unique(task.y), task.y)
    dropped = np.zeros(len(task.y), dtype=bool)
    dropped[np.argsort(p_given, kind="stable")[: round(_DROPPED_SHARE * len(task.y))]] = True
    model = SelfTrainingClassifier(classifier(task))
    model.fit(features.train, np.where(dropped, _NO_LABEL, task.y))
    suggested = model.predict(features.train)
    flagged = dropped & (suggested != task.y)
    return Outcome(
        p_wrong=1.0 - p_given,
        flagged=flagged,
        review=flagged,
        suggested=suggested,
        noise_rate=float(flagged.mean()),
        test_pred=model.predict(features.test),
        calibrated=False,
        n_parameters=n_parameters(model),
    )
