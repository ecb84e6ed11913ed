"""The scikit-learn classes, and the models without scikit-learn that they wrap."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .inb import BernoulliINB, GaussianINB, MixedINB, MultinomialINB
    from .mislabel_classifier import MislabelClassifier
    from .persist import load

__all__ = ["BernoulliINB", "GaussianINB", "MislabelClassifier", "MixedINB", "MultinomialINB", "load"]

_HOME = {"MislabelClassifier": ".mislabel_classifier", "load": ".persist"}


def __getattr__(name: str) -> Any:
    # lazy, so that models without the scikit-learn classes do not import scikit-learn
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name, ".inb"), __name__), name)
