"""Peer: doubtlab, an ensemble of reasons for doubt based on a logistic regression, as in its documentation."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from noisybayes._extras import require

from ..tasks import Task
from .outcome import Outcome, centred, logistic_regression, n_parameters, of_given


def with_logistic_regression(task: Task) -> Outcome:
    require("doubtlab", extra="bench", purpose="the peer doubtlab")
    reason, ensemble = import_module("doubtlab.reason"), import_module("doubtlab.ensemble")
    features = centred(task)
    model = logistic_regression().fit(features.train, task.y)
    doubt = ensemble.DoubtEnsemble(
        proba=reason.ProbaReason(model),
        wrong_prediction=reason.WrongPredictionReason(model),
        long_confidence=reason.LongConfidenceReason(model),
        short_confidence=reason.ShortConfidenceReason(model),
    )
    # its table is sorted by doubt
    n_reasons = doubt.get_predicates(features.train, task.y).sort_index().to_numpy(np.float64).sum(axis=1)
    proba = model.predict_proba(features.train)
    flagged = n_reasons > 0
    return Outcome(
        # doubtlab ranks by the number of reasons; among ties the less probable label comes first
        p_wrong=n_reasons + 1.0 - of_given(proba, model.classes_, task.y),
        flagged=flagged,
        review=flagged,
        suggested=np.where(flagged, model.classes_[proba.argmax(axis=1)], task.y),
        noise_rate=float(flagged.mean()),
        test_pred=model.predict(features.test),
        calibrated=False,
        n_parameters=n_parameters(model),
    )
