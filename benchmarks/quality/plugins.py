"""Any CSV file with observed and true labels as a data set, described by a small TOML file."""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

from .csv_tasks import Source, load, make
from .datasets import DATASETS, GROUPS
from .tasks import MakeTask

DEFAULT_FOLDER = "bench-data"


@dataclass(frozen=True)
class Plugin:
    """The fields of the TOML file. Paths of CSV files are relative to its folder."""

    name: str
    file: str
    observed: str
    true: str
    text: tuple[str, ...] = ()  # columns of text, joined
    features: tuple[str, ...] = ()  # or columns of a table
    test_file: str = ""  # rows to test on, with true labels; without it a random share of the rows is held out
    test_share: float = 0.2

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[\w.-]+", self.name):
            raise ValueError(f"the name {self.name!r} of a data set may contain only letters, digits, dots, - and _")
        if self.name in DATASETS or self.name in GROUPS or self.name == "all":
            raise ValueError(f"the name {self.name!r} is taken by a built-in data set; choose another one")
        if bool(self.text) == bool(self.features):
            raise ValueError(f"{self.name}: name either columns of text or feature columns")
        if not 0 < self.test_share < 1:
            raise ValueError(f"{self.name}: test_share must be between 0 and 1, got {self.test_share}")

    def source(self, folder: Path) -> Source:
        return Source(
            name=self.name,
            file=_file_of(folder, self.file),
            observed=self.observed,
            true=self.true,
            text=self.text,
            features=self.features,
            test_file=_file_of(folder, self.test_file) if self.test_file else None,
            test_share=self.test_share,
        )


def write(plugin: Plugin, folder: Path) -> Path:
    """Check the plug-in against its CSV files and write its TOML file."""
    load(plugin.source(folder))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{plugin.name}.toml"
    # JSON strings, numbers and lists of strings are also valid TOML
    lines = [f"{f.name} = {json.dumps(getattr(plugin, f.name), ensure_ascii=False)}\n" for f in fields(plugin)]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def read(path: Path) -> Plugin:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        lists = {key: tuple(value) for key, value in content.items() if isinstance(value, list)}
        return Plugin(**{**content, **lists})
    except (tomllib.TOMLDecodeError, TypeError, ValueError) as error:
        known = ", ".join(f.name for f in fields(Plugin))
        raise ValueError(f"{path} does not describe a data set: {error} (its fields: {known})") from None


def datasets_in(folder: Path) -> dict[str, MakeTask]:
    """The data sets of all TOML files in a folder, in the order of the file names."""
    tasks: dict[str, MakeTask] = {}
    for path in sorted(folder.glob("*.toml")):
        plugin = read(path)
        if plugin.name in tasks:
            raise ValueError(f"{path}: another file in the folder describes a data set named {plugin.name!r}")
        tasks[plugin.name] = partial(make, plugin.source(folder))
    return tasks


def path_within(folder: Path, file: Path) -> str:
    """A file's path as written in a TOML file of the folder."""
    return Path(os.path.relpath(file, folder)).as_posix()


def _file_of(folder: Path, path: str) -> Path:
    # not through a folder that may not exist yet
    return Path(os.path.normpath(folder / path))
