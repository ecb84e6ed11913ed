"""The scikit-learn classes."""

from .inb import BernoulliINB, GaussianINB, MixedINB, MultinomialINB
from .persist import load

__all__ = ["BernoulliINB", "GaussianINB", "MixedINB", "MultinomialINB", "load"]
