"""The experiments of docs/benchmarks.md by name."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

#: name -> module with `measure(reps, seed)` (yields rows) and `page(rows)` (Markdown), and what it does.
EXPERIMENTS: dict[str, tuple[str, str]] = {
    "recovery": ("recovery", "The paper's simulation: error of the feature probabilities, accuracy on new rows."),
    "verified": ("verified", "How much verified labels improve the estimated number of errors under human mistakes."),
    "stream": ("stream", "partial_fit on a stream, after one pass and after three, against the batch fit."),
    "sample": (
        "sample",
        "An audit fitted on a sample: rows outside against rows inside, for samples of several sizes.",
    ),
    "bot": ("responder", "The auto-responder: its tests, mislabeled examples, learning, a furniture shop, speed."),
    "load": ("load", "A live stream of 2,000 viewers: waits, lost or duplicated messages, leads, handovers, events."),
}


def module(name: str) -> ModuleType:
    """Imported when asked for, so that the process of one experiment does not load the others."""
    return import_module(f"benchmarks.{EXPERIMENTS[name][0]}")
