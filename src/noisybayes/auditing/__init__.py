"""The audit of labels: which are wrong, how many, why, and what it costs. Numbers in, numbers out."""

from __future__ import annotations

from .findings import Findings
from .rules import Rule

__all__ = ["Findings", "Rule"]
