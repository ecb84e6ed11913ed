"""Who labeled the messages of the car dealership, and when they were received.

Labels are drawn from what all labelers do together (LABELER_MISTAKES in make_dealership). Who gave a label is then
drawn by Bayes' theorem, P(labeler | label, true label, when): as if the labelers had chosen the labels one by one.
"""

from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

FIRST_DAY, DAYS = datetime(2024, 3, 4), 84
OPEN_HOUR, HOURS = 8, 13


class Labeler(NamedTuple):
    name: str
    share: float  # of the messages
    first: float  # times the mistakes of all, in the beginning
    last: float  # and in the end
    favourite: str | None = None  # a label that this labeler chooses by mistake more often,
    favours: float = 1.0  # this many times


LABELERS = (
    Labeler("Amira", 0.28, first=0.3, last=0.3),  # good
    Labeler("Boris", 0.22, first=0.8, last=0.8),  # as most are
    Labeler("Chen", 0.14, first=2.2, last=2.2),  # careless
    Labeler("Dolores", 0.16, first=0.4, last=0.4, favourite="price", favours=6.0),  # in doubt it is about the price
    Labeler("Emil", 0.20, first=2.5, last=0.2),  # learns
)
# What is left of right labels, however often a labeler is wrong.
LEAST_RIGHT = 0.1


def draw_times(count: int, rng: Random) -> list[datetime]:
    """When messages were received, the earliest first: every day of twelve weeks, from 8 am to 9 pm."""
    times = [
        FIRST_DAY + timedelta(days=rng.randrange(DAYS), hours=OPEN_HOUR, minutes=rng.randrange(60 * HOURS))
        for _ in range(count)
    ]
    return sorted(times)


def mistakes_of(labeler: Labeler, of_all: dict[str, float], when: datetime) -> dict[str, float]:
    """Wrong label -> probability. of_all : the same of all labelers together"""
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
