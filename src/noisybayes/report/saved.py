"""A model that reads tables: the recipe of the features and the classifier, in one folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..auditing.summary import FORMAT as SUMMARY_FORMAT
from ..data.errors import InputError
from ..data.roles import Roles
from ..estimators import load
from ..text.features import Recipe

FORMAT = 1
_RECIPE, _CLASSIFIER = "recipe.json", "classifier.inb"


@dataclass(frozen=True)
class TableModel:
    """A fitted classifier and how it reads a table."""

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
    model.save(folder / _CLASSIFIER)


def load_model(folder: str | Path) -> TableModel:
    """Read what an audit wrote to its folder `model` (the audit's folder itself will do too)."""
    folder = _model_folder(Path(folder))
    try:
        stored = json.loads((folder / _RECIPE).read_text(encoding="utf-8"))
        if stored.get("format") != FORMAT:
            raise ValueError(f"its format is {stored.get('format')!r}, but this version reads {FORMAT}")
        roles: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in stored["roles"].items()
        }
        recipe = Recipe.from_dict(stored["recipe"])
        return TableModel(load(folder / _CLASSIFIER), recipe, Roles(**roles))
    except FileNotFoundError:
        raise InputError(
            f"there is no model in {folder}; `noisybayes fit` and `noisybayes audit --out` write one"
        ) from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"the model in {folder} is damaged or of another version: {error}") from None


def model_version(folder: str | Path) -> tuple[int, ...]:
    """Other numbers after the files of a model were written again; none where there is no model."""
    folder = _model_folder(Path(folder))
    try:
        files = [(folder / name).stat() for name in (_RECIPE, _CLASSIFIER)]
    except FileNotFoundError:
        return ()
    return tuple(number for file in files for number in (file.st_mtime_ns, file.st_size))


def _model_folder(folder: Path) -> Path:
    inner = folder / "model"
    return inner if not (folder / _RECIPE).exists() and (inner / _RECIPE).exists() else folder


def load_summary(folder: str | Path) -> dict[str, Any]:
    """The summary of an audit, from the audit.json in its folder (or that file itself)."""
    path = Path(folder)
    path = path / "audit.json" if path.is_dir() else path
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no {path}; `noisybayes audit FILE --out FOLDER` writes it") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is damaged: {error}") from None
    if not isinstance(summary, dict) or summary.get("format") != SUMMARY_FORMAT:
        raise InputError(f"{path} is not an audit of this version; run `noisybayes audit` again")
    return summary
