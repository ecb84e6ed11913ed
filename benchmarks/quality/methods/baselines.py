"""The methods that the paper compares with or discusses: the classes of paper.baselines with default settings.

None sees a true label or the noise rate (except in `told_rates`, where that is the point). Those that assume a rate get
0.2, their default, on all data. MentorNet has no clean subset and uses its predefined curriculum. Networks predict the
rows that they were trained on.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from paper.baselines import BASELINES, NAL, NLNN
from sklearn.naive_bayes import MultinomialNB

from ..tasks import Array, Task
from .outcome import Features, Method, Outcome, binary, n_parameters, of_given, tfidf

# The default mini-batch size and patience are for about a thousand rows. With many rows an epoch has many steps, and
# the best epoch is among the first few.
_MANY_ROWS = 2_000
_MANY_ROWS_SETTINGS = {"batch_size": 256, "patience": 4, "max_epochs": 40}
#: For naive Bayes on words, in a filter and in BayesANIL; the default is for tables of zeros and ones.
_TEXT_SETTINGS = {"estimator": MultinomialNB(), "event_model": "multinomial"}


def methods() -> dict[str, Method]:
    return {name: partial(_answer, name) for name in BASELINES}


def given_rates() -> dict[str, Method]:
    """BayesANIL given half, all and twice the true share of wrong labels, which is computed from the true labels."""
    factors = {"half": 0.5, "right": 1.0, "double": 2.0}
    return {f"bayesanil-{name}": partial(_with_given_rate, factor) for name, factor in factors.items()}


def need_torch() -> tuple[str, ...]:
    return tuple(name for name, make in BASELINES.items() if make().needs_torch)


def _answer(name: str, task: Task) -> Outcome:
    return _answer_of(_model(name, task), task)


def _with_given_rate(factor: float, task: Task) -> Outcome:
    if task.true is None:
        raise ValueError("BayesANIL with a known noise rate needs the true labels")
    rate = factor * float((task.y != task.true).mean())
    return _answer_of(_model("bayesanil", task).set_params(noise_rate=rate), task)


def _answer_of(model: Any, task: Task) -> Outcome:
    features = _features(model, task)
    model.fit(features.train, task.y)
    return _of_filter(model, features, task.y) if hasattr(model, "kept_") else _of_belief(model, features, task.y)


def _model(name: str, task: Task) -> Any:
    """With the settings that this method accepts."""
    settings: dict[str, Any] = {"random_state": task.seed}
    if task.kind == "text":
        settings |= _TEXT_SETTINGS
    if task.X.shape[0] >= _MANY_ROWS:
        settings |= _MANY_ROWS_SETTINGS
    model = BASELINES[name]()
    own = model.get_params(deep=False)
    return model.set_params(**{key: value for key, value in settings.items() if key in own})


def _features(model: Any, task: Task) -> Features:
    """Words: present or not for networks, whose features should have one scale; otherwise TF-IDF, as for the peers."""
    return binary(task) if model.needs_torch else tfidf(task)


def _of_filter(model: Any, features: Features, y: Array) -> Outcome:
    """A dropped label is flagged as wrong, and the classifier trained on the others suggests a label."""
    proba = model.predict_proba(features.train)
    # there are few votes: among ties, the label that the classifier finds less probable comes first
    _, level = np.unique(model.suspicion_, return_inverse=True)
    return Outcome(
        p_wrong=level + (1.0 - of_given(proba, model.classes_, y)) / 2,
        flagged=~model.kept_,
        review=~model.kept_,
        suggested=model.classes_[proba.argmax(axis=1)],
        noise_rate=float(1.0 - model.kept_.mean()),
        test_pred=model.predict(features.test),
        calibrated=False,
        n_parameters=n_parameters(model),
    )


def _of_belief(model: Any, features: Features, y: Array) -> Outcome:
    """By P(true | x, observed) if the labels are modelled, otherwise by P(label | x)."""
    belief = _belief(model, features.train, y)
    p_wrong = 1.0 - of_given(belief, model.classes_, y)
    suggested = model.classes_[belief.argmax(axis=1)]
    return Outcome(
        p_wrong=p_wrong,
        flagged=suggested != y,
        review=suggested != y,
        suggested=suggested,
        noise_rate=float((suggested != y).mean()),
        test_pred=model.predict(features.test),
        calibrated=_models_labels(model),
        n_parameters=n_parameters(model),
    )


def _models_labels(model: Any) -> bool:
    return hasattr(model, "true_proba_") or isinstance(model, NLNN | NAL)


def _belief(model: Any, X: Any, y: Array) -> Array:
    if hasattr(model, "true_proba_"):
        return np.asarray(model.true_proba_)
    proba = model.predict_proba(X)
    if not _models_labels(model):
        return np.asarray(proba)
    joint = proba * model.mislabel_matrix_[np.searchsorted(model.classes_, y)]
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))
