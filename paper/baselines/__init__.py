"""Methods that the paper compares with or discusses, as scikit-learn classifiers.

Importing them does not need torch; fitting the networks does: pip install 'noisybayes[neural]'.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .base import About, Baseline
from .bayesanil import BayesANIL
from .cmtnn import CMTNN
from .coteaching import CoTeaching
from .decoupling import Decoupling
from .ensemble_filter import EnsembleFilter
from .mentornet import MentorNet
from .naive_bayes_filter import NaiveBayesFilter
from .nal import NAL
from .nlnn import NLNN
from .plain import PlainNetwork
from .svm_filter import SVMFilter

#: name -> factory of the classifier; a new baseline is one file and one line here.
BASELINES: dict[str, Callable[..., Baseline]] = {
    "majority-filter": EnsembleFilter,
    "consensus-filter": partial(EnsembleFilter, vote="consensus"),
    "svm-filter": SVMFilter,
    "nb-filter": NaiveBayesFilter,
    "cmtnn": CMTNN,
    "bayesanil": BayesANIL,
    "network": PlainNetwork,
    "nlnn": NLNN,
    "nal": NAL,
    "nal-complex": partial(NAL, variant="complex"),
    "decoupling": Decoupling,
    "co-teaching": CoTeaching,
    "mentornet": MentorNet,
}

__all__ = [
    "BASELINES", "CMTNN", "NAL", "NLNN", "About", "Baseline", "BayesANIL", "CoTeaching", "Decoupling", "EnsembleFilter",
    "MentorNet", "NaiveBayesFilter", "PlainNetwork", "SVMFilter",
]  # fmt: skip
