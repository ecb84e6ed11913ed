"""A source of scores that was learned once and is never relearned: views, and evidence on single rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AlreadyLearned:
    learned: Any  # has out_of_fold, shares, terms and by_view
    additive = False
    n_threads = 1

    def learn(self, data: Any, weights: Any, model: Any, reweighted: bool, left_out: Any = None) -> Any:
        return self.learned
