"""The experiments of `noisybayes bench` by name."""

from __future__ import annotations

from types import ModuleType

from . import audience, coverage, load, recovery, responder_accuracy, stream, verified

#: name -> module with `measure(...)` (yields rows) and `page(rows)` (Markdown); a new one is one file and one line.
EXPERIMENTS: dict[str, ModuleType] = {
    "recovery": recovery,
    "coverage": coverage,
    "verified": verified,
    "stream": stream,
    "bot": responder_accuracy,
    "load": load,
    "audience": audience,
}
