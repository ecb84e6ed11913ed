"""Packs the suspects for the page's script: short lists, long texts cut, as many as fit."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .highlights import Piece, length_of, pieces
from .phrases import Summary, clip

EVIDENCE_LIMIT = 10
#: More would not be read in a page; the files have all of them.
MOST_ROWS = 1_000
CELL_LIMIT = 60
OPEN_CELLS = 6  # with more cells, those without marks are folded
LABEL_LIMIT = 80
LONG_CELL = 60  # characters; longer cells count as texts


class Packed(NamedTuple):
    """One suspect. Labels and columns are positions in the table's lists; report.js reads the fields in this order."""

    row: Any
    id: str | None
    given: int
    suggested: int
    p_wrong: float
    p_suggested: float
    cells: list[list[Any]]  # [column, piece, piece, ...]; those with evidence first
    n_open: int  # how many of them are shown; the others are folded
    evidence: list[list[Any]]  # [feature, weight, column or -1]
    rest: float
    label_weight: float
    log_odds: float


class Table:
    """The lists that the packed rows point into, and the packing."""

    def __init__(self, summary: Summary) -> None:
        self.suspects: Sequence[Mapping[str, Any]] = summary["suspects"]
        pairs = [(pair["given"], pair["true"]) for pair in summary["confused_pairs"]]
        pairs += [(suspect["given"], suspect["suggested"]) for suspect in self.suspects]
        self._label = _positions(label for pair in pairs for label in pair)
        self._column = _positions(column for suspect in self.suspects for column in suspect["cells"])
        self.labels = [clip(name, LABEL_LIMIT) for name in self._label]
        self.columns = [clip(name, LABEL_LIMIT) for name in self._column]

    def label(self, name: Any) -> int:
        return self._label[str(name)]

    def pack(self, suspect: Mapping[str, Any]) -> Packed:
        evidence = sorted(suspect["evidence"], key=lambda item: -abs(item["weight"]))[:EVIDENCE_LIMIT]
        weights = [number(item["weight"], 2) for item in evidence]
        label_weight, log_odds = number(suspect["label_weight"], 2), number(suspect["log_odds"], 2)
        return Packed(
            row=suspect["row"],
            id=None if suspect.get("id") is None else clip(str(suspect["id"]), LABEL_LIMIT),
            given=self.label(suspect["given"]),
            suggested=self.label(suspect["suggested"]),
            p_wrong=_uncertain(suspect["p_wrong"]),
            p_suggested=_uncertain(suspect["p_suggested"]),
            cells=(cells := self._cells(suspect["cells"], evidence)),
            n_open=_n_open(cells),
            evidence=[
                [clip(str(item["feature"]), LABEL_LIMIT), weight, self._column.get(str(item.get("column")), -1)]
                for item, weight in zip(evidence, weights, strict=True)
            ],
            # Includes rounding errors, so that the numbers shown add up.
            rest=round(log_odds - label_weight - sum(weights), 2),
            label_weight=label_weight,
            log_odds=log_odds,
        )

    def _cells(self, cells: Mapping[str, Any], evidence: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
        """Cells with the strongest evidence first; if there are few cells, in the order of the table."""
        packed: list[list[Any]] = []
        for column, value in cells.items():
            shown: list[Piece] = [] if value is None else pieces(short_number(str(value)), str(column), evidence)
            if shown:
                packed.append([self._column[str(column)], *shown])
        return packed if len(packed) <= OPEN_CELLS else sorted(packed, key=_rank)[:CELL_LIMIT]

    @staticmethod
    def length(cell: Sequence[Any]) -> int:
        """Characters of a packed cell."""
        return length_of(cell[1:])

    def fit(self, room: int) -> list[str]:
        """The most suspicious rows, as JSON: at most `MOST_ROWS`, and as many as fit into `room` bytes."""
        room -= size(self.data([]))
        rows: list[str] = []
        for suspect in self.suspects[:MOST_ROWS]:
            row = safe_json(self.pack(suspect))
            room -= size(row) + 1
            if room < 0:
                break
            rows.append(row)
        return rows

    def data(self, rows: Sequence[str]) -> str:
        head = f'"labels":{safe_json(self.labels)},"columns":{safe_json(self.columns)}'
        return f'{{{head},"rows":[{",".join(rows)}]}}'


def _rank(cell: Sequence[Any]) -> tuple[int, int]:
    return rank_of(cell[1:])


def rank_of(cell: Sequence[Piece]) -> tuple[int, int]:
    """Texts, then other cells by the position of their evidence; cells without evidence last."""
    marked = [piece[1] for piece in cell if not isinstance(piece, str)]
    return (0 if length_of(cell) > LONG_CELL else 1 if marked else 2), min(marked, default=0)


def _n_open(cells: Sequence[Sequence[Any]]) -> int:
    if len(cells) <= OPEN_CELLS:
        return len(cells)
    return min(max(sum(_rank(cell)[0] < 2 for cell in cells), 1), OPEN_CELLS)


def short_number(text: str) -> str:
    """Shorten a long number: 0.1184000015258789 -> 0.1184."""
    if not _LONG_NUMBER.fullmatch(text):
        return text
    value = float(text)
    return f"{value:.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


_LONG_NUMBER = re.compile(r"-?(?=.{6,}$)\d+\.\d+")


def _uncertain(p: float) -> float:
    """Round a probability, but never up to 1."""
    return min(number(p, 5), 0.99999)


def _positions(names: Iterable[Any]) -> dict[str, int]:
    return {name: i for i, name in enumerate(dict.fromkeys(map(str, names)))}


def number(value: float, digits: int) -> float:
    """Rounded; an infinite weight becomes a large one, since JSON has no infinity."""
    value = float(value)
    if math.isnan(value):
        return 0.0
    return round(max(min(value, 999.0), -999.0), digits)


def size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def safe_json(value: Any) -> str:
    """JSON that cannot end the script element around it, whatever the texts contain."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
