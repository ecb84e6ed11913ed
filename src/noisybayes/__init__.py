"""Naive Bayes that learns from mislabeled data."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import audit as _audit_modules  # loaded first, so that importing one does not hide the function of this name
from ._version import __version__ as __version__

del _audit_modules, globals()["audit"]

if TYPE_CHECKING:
    from .auditing.label_issues import find_label_issues, label_quality_scores
    from .auditing.pipeline import audit
    from .auditing.result import Audit
    from .data.simulate import simulate
    from .estimators import BernoulliINB, GaussianINB, MislabelClassifier, MixedINB, MultinomialINB, load
    from .report.row_scorer import scorer

__all__ = [
    "Audit",
    "BernoulliINB",
    "GaussianINB",
    "MislabelClassifier",
    "MixedINB",
    "MultinomialINB",
    "audit",
    "find_label_issues",
    "label_quality_scores",
    "load",
    "scorer",
    "simulate",
]

_HOME = {
    "simulate": ".data.simulate", "audit": ".auditing.pipeline", "Audit": ".auditing.result",
    "scorer": ".report.row_scorer",
    "find_label_issues": ".auditing.label_issues", "label_quality_scores": ".auditing.label_issues",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    # scikit-learn takes over a second to import: nobody should wait for it to read a help text
    if name not in __all__:
        raise AttributeError(f"module 'noisybayes' has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name, ".estimators"), __name__), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
