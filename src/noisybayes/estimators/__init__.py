"""The scikit-learn classes around `model/` and `audit/`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .inb import BernoulliINB, GaussianINB, MixedINB, MultinomialINB
    from .mislabel_classifier import MislabelClassifier
    from .saving import load

__all__ = ["BernoulliINB", "GaussianINB", "MislabelClassifier", "MixedINB", "MultinomialINB", "load"]

_HOME = {"MislabelClassifier": ".mislabel_classifier", "load": ".saving"}


def __getattr__(name: str) -> Any:
    # lazy: scikit-learn takes a second to import
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name, ".inb"), __name__), name)
