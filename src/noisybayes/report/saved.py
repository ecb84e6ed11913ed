"""A saved model: the feature recipe and the classifier, in one folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from .._files import recover
from ..audit.classifier import TableClassifier
from ..auditing.summary import FORMAT as SUMMARY_FORMAT
from ..data.errors import InputError
from ..data.roles import Roles
from ..data.untrusted import is_text, listed, one_sentence, only_keys, read_json_file
from ..text.features import Recipe

FORMAT = 1
_RECIPE, _POOL = "recipe.json", "pool.npz"
# enough for all suspects of a large table, with their cells
_MOST_SUMMARY_BYTES = 500_000_000


@dataclass(frozen=True)
class TableModel:
    """A fitted classifier and the recipe to compute its features from a table."""

    model: Any
    recipe: Recipe
    roles: Roles

    def predict(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The most probable label of every row, from the features alone, and its probability."""
        proba = self.model.predict_proba(self.recipe.transform(frame))
        best = proba.argmax(axis=1)
        return pl.DataFrame(
            {
                "label": [str(label) for label in self.model.classes_[best].tolist()],
                "probability": proba[np.arange(len(best)), best],
            }
        )


def save_model(folder: Path, model: Any, recipe: Recipe, roles: Roles) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stored = {"format": FORMAT, "roles": roles._asdict(), "recipe": recipe.to_dict()}
    (folder / _RECIPE).write_text(json.dumps(stored, ensure_ascii=False), encoding="utf-8")
    model.save(folder / (_POOL))


def load_model(folder: str | Path) -> TableModel:
    """Load the model that an audit wrote to its folder `model` (the audit's folder works too)."""
    folder = Path(folder)
    if not folder.exists():
        recover(folder)
    folder = _model_folder(folder)
    file = folder / _POOL
    if not (folder / _RECIPE).is_file() or not file.is_file():
        raise InputError(f"there is no model in {folder}; `noisybayes fit` and `noisybayes audit --out` write one")
    with one_sentence(f"the model in {folder} is damaged or from another version", "fit it again"):
        stored = only_keys(read_json_file(folder / _RECIPE), _RECIPE, ("format", "roles", "recipe"))
        if stored["format"] != FORMAT:
            raise ValueError(f"its format is {repr(stored['format'])[:20]}, but this version reads {FORMAT}")
        roles, recipe = _roles(stored["roles"]), Recipe.from_dict(stored["recipe"])
        model = TableClassifier.load(file)
        if model.n_features_in_ != recipe.blocks[-1].stop:
            raise ValueError(
                f"{_RECIPE} has {recipe.blocks[-1].stop} features, but {file.name} expects {model.n_features_in_}"
            )
        return TableModel(model, recipe, roles)


def _roles(stored: Any) -> Roles:
    if isinstance(stored, dict):
        stored = {
            "second_opinion": None,
            "labeler": None,
            "source": [],
            "fold_by": None,
            **stored,
        }  # missing in older models
    only_keys(stored, "roles", Roles._fields)
    names = ("label", "id", "verified", "verified_random", "second_opinion", "labeler", "fold_by")
    for name in names:
        if not (is_text(stored[name]) or (stored[name] is None and name != "label")):
            raise ValueError(f"the role {name} names no column")
    features = {
        name: tuple(listed(stored[name], f"the role {name}", is_text))
        for name in ("text", "categorical", "numeric", "binary", "source")
    }
    columns: dict[str, Any] = {name: stored[name] for name in names} | features
    return Roles(**columns)


def model_version(folder: str | Path) -> tuple[int, ...]:
    """Changes whenever the files of a model are rewritten; empty if there is no model."""
    folder = _model_folder(Path(folder))
    try:
        files = [(folder / name).stat() for name in (_RECIPE, _POOL)]
    except FileNotFoundError:
        return ()
    return tuple(number for file in files for number in (file.st_mtime_ns, file.st_size))


def _model_folder(folder: Path) -> Path:
    inner = folder / "model"
    return inner if not (folder / _RECIPE).exists() and (inner / _RECIPE).exists() else folder


def load_summary(folder: str | Path) -> dict[str, Any]:
    """The summary of an audit, from the audit.json in its folder (or that file itself)."""
    path = Path(folder)
    if not path.exists():
        recover(path)
    path = path / "audit.json" if path.is_dir() else path
    if not path.is_file():
        raise InputError(f"there is no {path}; `noisybayes audit FILE --out FOLDER` writes it")
    with one_sentence(f"{path} is damaged", "run `noisybayes audit` again"):
        summary = read_json_file(path, _MOST_SUMMARY_BYTES)
    if not isinstance(summary, dict) or summary.get("format") != SUMMARY_FORMAT:
        raise InputError(f"{path} is not an audit of this version; run `noisybayes audit` again")
    return summary
