"""The data sets, one file each: name -> function(seed) -> Task."""

from __future__ import annotations

from ..tasks import MakeTask
from . import imbalanced, livestream, many_classes, newsgroups, noisy_ag_news, simulation, unbalanced

DATASETS: dict[str, MakeTask] = {
    **simulation.datasets(),
    **newsgroups.datasets(),
    **noisy_ag_news.datasets(),
    **livestream.datasets(),
    **imbalanced.datasets(),
    **many_classes.datasets(),
    **unbalanced.datasets(),
}
#: Names that stand for several data sets.
GROUPS: dict[str, tuple[str, ...]] = {
    "simulation": tuple(simulation.datasets()),
    "newsgroups": tuple(newsgroups.datasets()),
    "clean": tuple(name for name in DATASETS if name.endswith("-clean")),
    "made": ("imbalanced", "many-classes"),
    "unbalanced": tuple(unbalanced.datasets()),
}
#: Not in the group "all": three methods are compared on them, in a section of their own on the page.
NOT_IN_ALL = GROUPS["unbalanced"]
