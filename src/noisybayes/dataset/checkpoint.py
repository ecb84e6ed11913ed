"""The state of a fit in a folder, so that an interrupted fit can resume with the same result."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from .._files import whole_file


class Checkpoint:
    """Named values; without a folder nothing is kept. `fit_id` identifies the fit that the state belongs to."""

    def __init__(self, folder: Path | None = None, fit_id: Any = None) -> None:
        self.folder, self.fit_id = folder, fit_id

    def load(self, name: str) -> Any:
        """The value last saved under this name, or None."""
        if self.folder is None or not self._path(name).exists():
            return None
        try:
            with self._path(name).open("rb") as file:
                fit_id, value = pickle.load(file)
        except (pickle.UnpicklingError, EOFError, AttributeError, ImportError) as error:
            raise ValueError(f"{self._path(name)} is damaged ({error}); remove it to start the fit over") from None
        if fit_id != self.fit_id:
            raise ValueError(f"{self.folder} contains the state of another fit; remove it, or choose another folder")
        return value

    def save(self, name: str, value: Any) -> None:
        """The file appears whole or not at all."""
        if self.folder is not None:
            with whole_file(self._path(name)) as temporary, temporary.open("wb") as file:
                pickle.dump((self.fit_id, value), file, protocol=5)

    def _path(self, name: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{name}.pickle"


NO_CHECKPOINT = Checkpoint()
