"""The data sets, one file each: name -> function(seed) -> Task."""

from __future__ import annotations

from ..tasks import MakeTask
from . import (
    embedded,
    imbalanced,
    livestream,
    many_classes,
    newsgroups,
    noisy_ag_news,
    numeric_tables,
    ordinal,
    simulation,
    unbalanced,
)

DATASETS: dict[str, MakeTask] = {
    **simulation.datasets(),
    **newsgroups.datasets(),
    **noisy_ag_news.datasets(),
    **livestream.datasets(),
    **imbalanced.datasets(),
    **many_classes.datasets(),
    **unbalanced.datasets(),
    **numeric_tables.datasets(),
    **ordinal.datasets(),
    **embedded.datasets(),
}
#: Names of groups of data sets.
GROUPS: dict[str, tuple[str, ...]] = {
    "simulation": tuple(simulation.datasets()),
    "newsgroups": tuple(newsgroups.datasets()),
    "clean": tuple(name for name in DATASETS if name.endswith("-clean")),
    "made": ("imbalanced", "many-classes"),
    "unbalanced": tuple(unbalanced.datasets()),
    "tables": tuple(numeric_tables.datasets()),
    "ordinal": tuple(ordinal.datasets()),
    "embedded": tuple(embedded.datasets()),
}
#: Not in the group "all": only a few methods are compared on them, in separate sections of the page.
NOT_IN_ALL = (*GROUPS["unbalanced"], *GROUPS["tables"], *GROUPS["ordinal"], *GROUPS["embedded"])
