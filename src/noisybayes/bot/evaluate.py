"""Evaluates a bot on replayed dialogs, split so that no dialog is in both parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.naive_bayes import BernoulliNB

from ..data.errors import InputError
from ..data.simulate import Array
from .conditions import MessageContext
from .config_values import Config
from .dialog_tables import Dialogs, Replayed, read_dialogs, replay, select_rows
from .training import fit, fit_words_view, labels_to_learn
from .words_view import restricted

TEST_SHARE = 0.2
#: Thresholds for which the share answered is reported, besides the configured one.
THRESHOLDS = (0.0, 0.3, 0.5, 0.7, 0.9)

Fit = Callable[[Array, Array], Any]


class Agreement(NamedTuple):
    feature: str
    column: str
    given: int  # messages with 1 in the table
    ours: int
    agreement: float  # share of messages on which both agree


class Method(NamedTuple):
    name: str
    accuracy: float  # mean over the repetitions
    spread: float  # standard deviation over the repetitions


class Answered(NamedTuple):
    threshold: float
    share: float  # of messages that are not handed over
    accuracy: float | None  # among those, if there are any


class PerCategory(NamedTuple):
    category: str
    messages: int  # in all test parts together
    accuracy: float


class Evaluation(NamedTuple):
    messages: int
    dialogs: int
    reps: int
    seed: int
    against: str  # "true labels", or "labels" if the table has no true ones
    agreements: tuple[Agreement, ...]  # worst first; empty if the table has no features
    methods: tuple[Method, ...]
    answered: tuple[Answered, ...]  # by the bot as a whole
    per_category: tuple[PerCategory, ...]
    confusion: Array  # (C, C) messages in all test parts: [true category, predicted category]
    categories: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        plain = {name: value for name, value in self._asdict().items() if name not in _LISTS}
        lists = {name: [row._asdict() for row in getattr(self, name)] for name in _LISTS}
        return plain | lists | {"categories": list(self.categories), "confusion": self.confusion.tolist()}


_LISTS = ("agreements", "methods", "answered", "per_category")


class Outcome(NamedTuple):
    """The results of one split."""

    accuracy: dict[str, float]
    right: Array  # (n_test,) keys
    predicted: Array  # by the bot
    confidence: Array


def evaluate(
    config: Config,
    data: Any,
    *,
    reps: int = 20,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Replay the dialogs of a table: train on 80 % of them and answer the others, `reps` times."""
    dialogs = data if isinstance(data, Dialogs) else read_dialogs(config, data)
    labels_to_learn(config, dialogs)
    ours = replay(config, dialogs)
    truth = dialogs.labels if dialogs.true_labels is None else dialogs.true_labels
    outcomes = []
    for rep, (train, test) in enumerate(splits(dialogs.dialog, reps, seed), 1):
        outcomes.append(evaluate_split(config, dialogs, ours, truth, train, test, seed))
        if progress is not None:
            progress(rep)
    pooled = Outcome({}, *(np.concatenate([outcome[i] for outcome in outcomes]) for i in (1, 2, 3)))
    keys = tuple(config.categories)
    return Evaluation(
        messages=len(dialogs.messages),
        dialogs=int(dialogs.dialog.max()) + 1,
        reps=reps,
        seed=seed,
        against="labels" if dialogs.true_labels is None else "true labels",
        agreements=agreements(config, dialogs, ours.features),
        methods=_methods(outcomes),
        answered=_answered(pooled, config.threshold),
        per_category=_per_category(pooled, keys),
        confusion=_confusion(pooled, keys),
        categories=keys,
    )


def splits(dialog: Array, reps: int, seed: int) -> Iterator[tuple[Array, Array]]:
    """Training rows and test rows; no dialog is split between them."""
    numbers = np.unique(dialog)
    n_dialogs = len(numbers)
    n_test = max(1, round(TEST_SHARE * n_dialogs))
    if n_test >= n_dialogs:
        raise InputError(f"{n_dialogs} dialogs cannot be split into two parts; give at least 2")
    for rep in range(reps):
        chosen = np.random.default_rng([seed, rep]).permutation(numbers)[:n_test]
        test = np.isin(dialog, chosen)
        yield np.flatnonzero(~test), np.flatnonzero(test)


def agreements(config: Config, dialogs: Dialogs, ours: Array) -> tuple[Agreement, ...]:
    """How often each feature equals its column in the table, worst first."""
    rows = []
    for j, (key, feature) in enumerate(config.features.items()):
        if key in dialogs.given:
            given = dialogs.given[key]
            same = float((given == ours[:, j]).mean())
            rows.append(Agreement(key, feature.column, int(given.sum()), int(ours[:, j].sum()), same))
    return tuple(sorted(rows, key=lambda row: row.agreement))


def evaluate_split(
    config: Config, dialogs: Dialogs, ours: Replayed, truth: Any, train: Array, test: Array, seed: int = 0
) -> Outcome:
    """Train on the rows `train` with several methods, and compare with the true labels of the rows `test`."""
    labels = labels_to_learn(config, dialogs)
    test = test[[truth[row] is not None for row in test]]
    right = truth[test]
    accuracy: dict[str, float] = {}

    def learn(name: str, make: Fit, X: Array, given: Array) -> Any:
        rows = train[[given[row] is not None for row in train]]
        model = make(X[rows], given[rows])
        accuracy[name] = float((model.predict(X[test]) == right).mean())
        return model

    def noisy_fit(X: Array, y: Array) -> Any:
        return fit(X, y, seed)

    tables = {"features from the text": ours.features}
    if len(dialogs.given) == len(config.features):
        tables = {"given features": np.column_stack([dialogs.given[key] for key in config.features])} | tables
    model: Any = None
    for name, X in tables.items():
        model = learn(f"INB, {name}", noisy_fit, X, labels)
        learn(f"naive Bayes, {name}", _naive_bayes, X, labels)
        if dialogs.true_labels is not None:
            learn(f"naive Bayes on true labels, {name}", _naive_bayes, X, truth)
    posterior = _words_posteriors(config, model, ours, labels, train, test)
    predicted = model.classes_[posterior.argmax(axis=1)]
    accuracy["the bot: INB and words, from the text"] = float((predicted == right).mean())
    if any(category.answers is not None for category in config.categories.values()):
        answered = [
            compatible_posterior(config, model.classes_, ours.contexts[row], each)
            for row, each in zip(test, posterior, strict=True)
        ]
        chosen = model.classes_[np.array(answered).argmax(axis=1)]
        accuracy["the bot as it answers, by conditions of categories too"] = float((chosen == right).mean())
    if dialogs.true_labels is not None:
        accuracy["the labels themselves"] = float((labels[test] == right).mean())
    return Outcome(accuracy, right, predicted, posterior.max(axis=1))


def _words_posteriors(config: Config, model: Any, ours: Replayed, labels: Array, train: Array, test: Array) -> Array:
    """(n_test, K) posterior of the words view next to `model`, which was fitted on the labeled rows of `train`."""
    rows = train[[labels[row] is not None for row in train]]
    view = fit_words_view(config, model, select_rows(ours, rows), labels[rows])
    return np.array([view.posterior(ours.features[row] > 0, ours.texts[row]) for row in test])


def compatible_posterior(config: Config, classes: Array, context: MessageContext, posterior: Array) -> Array:
    """(K,) posterior that the bot uses, restricted by the conditions of the categories."""
    return restricted(posterior, config.compatible(context, [str(key) for key in classes]))


def _naive_bayes(X: Array, y: Array) -> Any:
    return BernoulliNB().fit(X, y.astype(str))


def _methods(outcomes: list[Outcome]) -> tuple[Method, ...]:
    names = outcomes[0].accuracy
    values = {name: np.array([outcome.accuracy[name] for outcome in outcomes]) for name in names}
    return tuple(Method(name, float(per_split.mean()), float(per_split.std())) for name, per_split in values.items())


def _answered(pooled: Outcome, own: float) -> tuple[Answered, ...]:
    rows = []
    for threshold in sorted({own, *THRESHOLDS}):
        answered = pooled.confidence >= threshold
        right = (pooled.predicted == pooled.right)[answered]
        accuracy = float(right.mean()) if right.size else None
        rows.append(Answered(threshold, float(answered.mean()), accuracy))
    return tuple(rows)


def _per_category(pooled: Outcome, keys: tuple[str, ...]) -> tuple[PerCategory, ...]:
    counts = []
    for key in keys:
        rows = pooled.right == key
        if rows.any():
            counts.append(PerCategory(key, int(rows.sum()), float((pooled.predicted[rows] == key).mean())))
    return tuple(counts)


def _confusion(pooled: Outcome, keys: tuple[str, ...]) -> Array:
    number = {key: i for i, key in enumerate(keys)}
    counts = np.zeros((len(keys), len(keys)), dtype=int)
    for right, predicted in zip(pooled.right, pooled.predicted, strict=True):
        counts[number[right], number[predicted]] += 1
    return counts
