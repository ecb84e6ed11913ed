"""The paper's tables and figures: name -> experiment. A new one is one file and one line."""

from __future__ import annotations

from .runner import Experiment
from .tables import TABLE1, TABLE2

EXPERIMENTS: dict[str, Experiment] = {"table1": TABLE1, "table2": TABLE2}
