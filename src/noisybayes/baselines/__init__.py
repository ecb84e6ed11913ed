"""Methods that the paper compares with, as scikit-learn classifiers.

Importing them takes no torch, fitting does: pip install 'noisybayes[neural]'.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .base import NetworkClassifier
from .nal import NAL
from .nlnn import NLNN
from .plain import PlainNetwork

#: name -> what makes the classifier from its arguments; a new baseline is one file and one line here.
BASELINES: dict[str, Callable[..., NetworkClassifier]] = {
    "network": PlainNetwork,
    "nlnn": NLNN,
    "nal": NAL,
    "nal-complex": partial(NAL, variant="complex"),
}

__all__ = ["BASELINES", "NAL", "NLNN", "PlainNetwork"]
