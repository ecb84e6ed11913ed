"""A bot from a configuration and labeled dialogs, wrong labels among them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..data.errors import InputError
from ..data.simulate import Array
from .bot import Bot, catalogue_of
from .config_values import Config
from .dialogs import Dialogs, Replayed, read_dialogs, replay
from .words import is_pattern
from .words_view import WordsView, fit_words


def train(config: Config, dialogs: Any, *, random_state: int = 0) -> Bot:
    """Learn the categories from the labels of a data frame or file of dialogs, or of `Dialogs` that were read."""
    if not isinstance(dialogs, Dialogs):
        dialogs = read_dialogs(config, dialogs)
    labels = labels_to_learn(config, dialogs)
    live = catalogue_of(config, config.folder)  # first: errors there are reported before a long fit
    rows = replay(config, dialogs)
    model = fit(rows.features, labels, random_state)
    model.feature_names_in_ = np.array(list(config.features), dtype=object)  # by which a saved bot knows its model
    return Bot(config, model, fit_words_beside(config, model, rows, labels), live)


def fit_words_beside(config: Config, model: Any, rows: Replayed, labels: Array) -> WordsView:
    """The view of the words, beside the model that was fitted to the same rows."""
    known = [word.rstrip("*") for words in config.words.values() for word, _ in words.spellings if not is_pattern(word)]
    if config.meanings is not None:
        known += [message for _, message in config.meanings.examples]
    # a handful of messages cannot be split into folds: then there are no out-of-fold posteriors
    out_of_fold = getattr(model, "true_proba_", None)
    corrected = model.predict_true_proba(rows.features, labels) if out_of_fold is None else out_of_fold
    return fit_words(rows.features, rows.texts, labels, list(model.classes_), corrected, known)


def labels_to_learn(config: Config, dialogs: Dialogs) -> Array:
    column = config.columns.label
    if dialogs.labels is None:
        raise InputError(f"there is no column {column!r} with labels to learn from; name it in columns.label")
    if len({label for label in dialogs.labels if label is not None}) < 2:
        raise InputError(f"the column {column!r} holds fewer than 2 different labels; nothing can be learned from it")
    return dialogs.labels


def fit(features: Array, labels: Array, random_state: int = 0) -> Any:
    """Messages without a label help to learn the features."""
    from ..estimators import BernoulliINB  # late: a bot that answers does without what takes seconds to import
    from ..model.mislabel import DriftWarning, IdentifiabilityWarning

    model = BernoulliINB(missing_label=np.nan, random_state=random_state)
    with warnings.catch_warnings():  # doubts about single categories; `noisybayes audit` is the place to look at them
        warnings.simplefilter("ignore", DriftWarning)
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        return model.fit(features, labels)
