"""Retrains a bot on its dialogs: the new model is used only if it is not worse, and retraining can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data.errors import InputError
from ..data.simulate import Array
from .bot import Bot, load_bot
from .dialog_tables import Dialogs, Replayed, read_dialogs, replay, select_rows
from .evaluate import splits
from .training import fit, fit_words_view, train

Row = tuple[str, int, str, str | None]  # dialog, position, message, label
_SPLITS = 5


class Comparison(NamedTuple):
    messages: int  # labeled messages that the old model was not trained on
    tested: int  # held-out messages, all splits together
    old: float  # accuracy on these, measured on their labels
    new: float

    @property
    def is_better(self) -> bool:
        return self.new >= self.old


def compare(bot: Bot, dialogs: Any, rows: Sequence[Row], *, seed: int = 0) -> tuple[Comparison, Dialogs]:
    """Compare a model trained on the old dialogs with one that is also trained on `rows`, on held-out dialogs.

    No dialog is in both parts. Labels by people who answered count as correct; those of the table may be wrong, which
    affects both models similarity.
    """
    old = read_dialogs(bot.config, dialogs)
    if not any(label is not None for *_, label in rows):
        raise InputError("no message has a label yet; label some on the Learn page, or when answering a handover")
    both = with_rows(bot, old, rows)
    n_old = len(old.messages)
    replayed = replay(bot.config, both)
    assert both.labels is not None
    labels = both.labels
    right = {"old": 0, "new": 0}
    tested = 0
    for learn, test in splits(both.dialog, _SPLITS, seed):
        test = test[[labels[row] is not None for row in test]]
        tested += len(test)
        for name, part in (("old", learn[learn < n_old]), ("new", learn)):
            right[name] += int((_predicted(bot, replayed, labels, part, test) == labels[test]).sum())
    share = {name: count / max(tested, 1) for name, count in right.items()}
    return Comparison(len(rows), tested, share["old"], share["new"]), both


def with_rows(bot: Bot, old: Dialogs, rows: Sequence[Row]) -> Dialogs:
    numbers: dict[str, int] = {}
    first = int(old.dialog.max()) + 1 if len(old.dialog) else 0
    dialog = [first + numbers.setdefault(name, len(numbers)) for name, *_ in rows]
    for *_, label in rows:
        if label is not None and label not in bot.config.categories:
            raise InputError(f"the stored label {label!r} is not a category of the bot; label these messages again")
    before = old.labels if old.labels is not None else np.full(len(old.messages), None, dtype=object)
    after = np.array([label for *_, label in rows], dtype=object)
    return Dialogs(
        np.concatenate([old.dialog, np.array(dialog, dtype=int)]),
        [*old.messages, *(message for _, _, message, _ in rows)],
        np.concatenate([before, after]),
        None,
        {},
    )


def _predicted(bot: Bot, replayed: Replayed, labels: Array, part: Array, test: Array) -> Array:
    part = part[[labels[row] is not None for row in part]]
    learned = select_rows(replayed, part)
    model = fit(learned.features, labels[part])
    view = fit_words_view(bot.config, model, learned, labels[part])
    places = [int(view.posterior(replayed.features[row] > 0, replayed.texts[row]).argmax()) for row in test]
    return np.asarray(model.classes_)[places]


def retrain_and_replace(folder: Path, both: Dialogs, *, seed: int = 0) -> Path:
    """Train on all dialogs and use the new bot; the previous one is kept as FOLDER.previous."""
    bot = load_bot(folder)
    retrained = train(replace(bot.config, folder=folder), both, random_state=seed)
    fresh = folder.with_name(f"{folder.name}.new")
    retrained.save(fresh)
    return _exchange(folder, fresh)


def restore_previous(folder: Path) -> Path:
    """Restore the bot before the last retraining; the replaced one is kept as FOLDER.previous."""
    previous = _previous(folder)
    if not previous.exists():
        raise InputError(f"there is no {previous} to restore; the bot has not been retrained yet")
    load_bot(previous)  # first, so that a broken bot does not replace a working one
    fresh = folder.with_name(f"{folder.name}.new")
    previous.rename(fresh)
    return _exchange(folder, fresh)


def _exchange(folder: Path, fresh: Path) -> Path:
    previous = _previous(folder)
    if previous.exists():
        for path in previous.iterdir():
            path.unlink()
        previous.rmdir()
    folder.rename(previous)
    fresh.rename(folder)
    return previous


def _previous(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.previous")
