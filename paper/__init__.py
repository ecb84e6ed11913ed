"""The paper's tables and figures: name -> experiment. A new one is one file and one line."""

from __future__ import annotations

from .by_date import BY_DATE
from .experiment import Experiment
from .impact import IMPACT
from .livestream import LIVESTREAM
from .matrices import MATRICES
from .newsgroups import NEWSGROUPS
from .published import PUBLISHED_EXPERIMENT
from .roc import ROC
from .simulation_tables import TABLE1, TABLE2
from .starts import STARTS_EXPERIMENT

EXPERIMENTS: dict[str, Experiment] = {
    "table1": TABLE1,
    "table2": TABLE2,
    "matrices": MATRICES,
    "starts": STARTS_EXPERIMENT,
    "roc": ROC,
    "impact": IMPACT,
    "newsgroups": NEWSGROUPS,
    "by-date": BY_DATE,
    "livestream": LIVESTREAM,
    "published": PUBLISHED_EXPERIMENT,
}
