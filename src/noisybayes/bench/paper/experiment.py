"""What an experiment of the paper is. A new one is one file, and one line in `__init__`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..store import Row
from .measures import measure
from .methods import Draw, Result


class Search(NamedTuple):
    """How many ways to understand what the paper did were compared on a data set, and how many met its figure."""

    data: str
    varied: str
    tried: int
    figure: str  # of the paper, that they were compared with
    met: int


class Experiment(ABC):
    """Settings, how data are drawn in one of them, what is measured, and the section that is made from the rows."""

    TITLE: str
    METHODS: Sequence[str]
    REPS: int

    @abstractmethod
    def settings(self, quick: bool = False) -> Mapping[str, Any]:
        """Name of each setting -> what `draw` needs. The quick ones take seconds and need no files."""

    @abstractmethod
    def draw(self, setting: Any, seed: int, /) -> Draw:
        """The data of one repetition; they depend on the setting and the seed only."""

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
        """What is counted in the data once and for all, without any fit: name -> value. Stored with the rows."""
        return {}

    def facts_page(self, facts: Mapping[str, Any]) -> str:
        """What the section says of them."""
        return ""

    def searched(self, rows: list[Row], facts: Mapping[str, Any]) -> list[Search]:
        """How the reading of the paper was found that comes nearest to its figures."""
        return []

    def findings(self, rows: list[Row]) -> list[str]:
        """What did not come out as in the paper, in sentences; whatever they claim is looked up in the rows."""
        return []
