"""Trains a bot from a configuration and labeled dialogs, whose labels may be wrong."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..data.errors import InputError
from ..data.simulate import Array
from .bot import Bot, catalogue_of
from .config_values import Config
from .dialog_tables import Dialogs, Replayed, read_dialogs, replay
from .dictionaries import is_pattern
from .words_view import WordsView, fit_words


def train(config: Config, dialogs: Any, *, random_state: int = 0) -> Bot:
    """Train a bot on the labels of a data frame, a file or `Dialogs`."""
    if not isinstance(dialogs, Dialogs):
        dialogs = read_dialogs(config, dialogs)
    labels = labels_to_learn(config, dialogs)
    live = catalogue_of(config, config.folder)  # first, so that errors are reported before a long fit
    rows = replay(config, dialogs)
    model = fit(rows.features, labels, random_state)
    model.feature_names_in_ = np.array(list(config.features), dtype=object)  # so that a saved bot can check its model
    return Bot(config, model, fit_words_view(config, model, rows, labels), live)


def fit_words_view(config: Config, model: Any, rows: Replayed, labels: Array) -> WordsView:
    """Fit the words view, next to the model that was fitted on the same rows."""
    known = [word.rstrip("*") for words in config.words.values() for word, _ in words.spellings if not is_pattern(word)]
    if config.meanings is not None:
        known += [message for _, message in config.meanings.examples]
    # too few messages for folds, so there are no out-of-fold posteriors
    out_of_fold = getattr(model, "true_proba_", None)
    corrected = model.predict_true_proba(rows.features, labels) if out_of_fold is None else out_of_fold
    return fit_words(rows.features, rows.texts, labels, list(model.classes_), corrected, known)


def labels_to_learn(config: Config, dialogs: Dialogs) -> Array:
    column = config.columns.label
    if dialogs.labels is None:
        raise InputError(f"there is no label column {column!r}; name it in columns.label")
    if len({label for label in dialogs.labels if label is not None}) < 2:
        raise InputError(f"the column {column!r} has fewer than 2 different labels; training needs at least 2")
    return dialogs.labels


def fit(features: Array, labels: Array, random_state: int = 0) -> Any:
    """Messages without a label still help to estimate the features."""
    from ..estimators import BernoulliINB  # imported late: takes seconds, and replying does not need it
    from ..model.matrix import IdentifiabilityWarning

    model = BernoulliINB(missing_label=np.nan, random_state=random_state)
    with warnings.catch_warnings():  # warnings about single categories; `noisybayes audit` shows them
        warnings.simplefilter("ignore", IdentifiabilityWarning)
        return model.fit(features, labels)
