"""The scikit-learn classes."""

from .inb import BernoulliINB, GaussianINB, MixedINB, MultinomialINB
from .mislabel_classifier import MislabelClassifier
from .persist import load

__all__ = ["BernoulliINB", "GaussianINB", "MislabelClassifier", "MixedINB", "MultinomialINB", "load"]
