"""Who labeled the messages of the car dealership, and when they were received.

Labels are drawn from the mixture of all labelers (LABELER_MISTAKES in make_dealership). The labeler of each label is
then drawn by Bayes' theorem from P(labeler | label, true label, when), as if each had labeled their own messages.
"""

from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

FIRST_DAY, DAYS = datetime(2024, 3, 4), 84
OPEN_HOUR, HOURS = 8, 13


class Labeler(NamedTuple):
    name: str
    share: float  # share of the messages
    first: float  # error rate relative to the mixture, at the start
    last: float  # and at the end
    favourite: str | None = None  # the wrong label that this labeler prefers,
    favours: float = 1.0  # by this factor


LABELERS = (
    Labeler("Amira", 0.28, first=0.3, last=0.3),  # good
    Labeler("Boris", 0.22, first=0.8, last=0.8),  # average
    Labeler("Chen", 0.14, first=2.2, last=2.2),  # careless
    Labeler("Dolores", 0.16, first=0.4, last=0.4, favourite="price", favours=6.0),  # chooses price when in doubt
    Labeler("Emil", 0.20, first=2.5, last=0.2),  # improves
)
# Minimum share of right labels of any labeler.
LEAST_RIGHT = 0.1


def draw_times(count: int, rng: Random) -> list[datetime]:
    """When messages were received, earliest first: every day for twelve weeks, from 8 am to 9 pm."""
    times = [
        FIRST_DAY + timedelta(days=rng.randrange(DAYS), hours=OPEN_HOUR, minutes=rng.randrange(60 * HOURS))
        for _ in range(count)
    ]
    return sorted(times)


def mistakes_of(labeler: Labeler, of_all: dict[str, float], when: datetime) -> dict[str, float]:
    """Wrong label -> probability. of_all : the same for all labelers together"""
    elapsed = (when - FIRST_DAY) / timedelta(days=DAYS)
    times = labeler.first + (labeler.last - labeler.first) * elapsed
    chosen = {
        label: times * probability * (labeler.favours if label == labeler.favourite else 1.0)
        for label, probability in of_all.items()
    }
    most = max(1.0, sum(chosen.values()) / (1.0 - LEAST_RIGHT))
    return {label: probability / most for label, probability in chosen.items()}


def draw_labeler(label: str, true_label: str, of_all: dict[str, float], when: datetime, rng: Random) -> str:
    weights = []
    for labeler in LABELERS:
        mistakes = mistakes_of(labeler, of_all, when)
        chance = 1.0 - sum(mistakes.values()) if label == true_label else mistakes[label]
        weights.append(labeler.share * chance)
    return rng.choices([labeler.name for labeler in LABELERS], weights)[0]
