"""How well wrong labels are found: data set x method x seed -> stored rows -> docs/results.md and docs/quality.md.

task = DATASETS["newsgroups-uniform-20"](seed)
measure(task, answer("inb", task))["average_precision"]
"""

from .datasets import DATASETS, GROUPS
from .measures import measure
from .methods import METHODS, answer, methods_for
from .tasks import Outcome, Task

__all__ = ["DATASETS", "GROUPS", "METHODS", "Outcome", "Task", "answer", "measure", "methods_for"]
