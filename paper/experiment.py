"""An experiment of the paper. A new one is one file and one line in `__init__`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.result_files import Row

from .measures import measure
from .methods import Draw, Result


class Search(NamedTuple):
    """How many readings of the paper were compared on a data set, and how many met its figure."""

    data: str
    varied: str
    tried: int
    figure: str  # the paper's figure that they were compared with
    met: int


class Experiment(ABC):
    """Settings, how data are drawn in each, what is measured, and the section generated from the rows."""

    TITLE: str
    METHODS: Sequence[str]
    REPS: int

    @abstractmethod
    def settings(self, quick: bool = False) -> Mapping[str, Any]:
        """Name of each setting -> what `draw` needs. The quick settings take seconds and need no files."""

    @abstractmethod
    def draw(self, setting: Any, seed: int, /) -> Draw:
        """The data of one repetition; they depend only on the setting and the seed."""

    @abstractmethod
    def page(self, rows: list[Row]) -> str: ...

    def methods(self, setting: str) -> Sequence[str]:
        """Those of METHODS that are run in this setting."""
        return self.METHODS

    def measure(self, data: Draw, result: Result) -> Row:
        return measure(data, result)

    def figures(self, rows: list[Row]) -> dict[str, str]:
        """Name of a file in docs/img -> SVG."""
        return {}

    def facts(self) -> dict[str, Any]:
        """Figures counted in the data once, without any fit: name -> value. Stored with the rows."""
        return {}

    def facts_page(self, facts: Mapping[str, Any]) -> str:
        """What the section says about them."""
        return ""

    def searched(self, rows: list[Row], facts: Mapping[str, Any]) -> list[Search]:
        """How the reading of the paper that comes closest to its figures was found."""
        return []

    def findings(self, rows: list[Row]) -> list[str]:
        """Sentences on what differs from the paper; every claim is looked up in the rows."""
        return []
