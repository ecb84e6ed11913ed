"""Methods for word counts, as in `noisybayes bench quality`: function(Draw, seed) -> Result."""

from __future__ import annotations

import numpy as np
from benchmarks.quality.methods import METHODS as QUALITY
from benchmarks.quality.tasks import Task

from .methods import Draw, Method, Result

#: Our name -> name in the quality benchmark.
QUALITY_NAMES = {
    "text-nb": "nb-noisy",
    "text-nb-correct": "nb-clean",
    "text-inb": "inb",
    "text-cleanlab": "cleanlab-lr",
    "text-mislabel": "mislabel-lr",
}


def _as_in_quality(name: str) -> Method:
    def method(draw: Draw, seed: int) -> Result:
        task = Task("by date", "text", draw.X, draw.y, draw.true, draw.X_test, None, seed)
        outcome = QUALITY[name](task if name.endswith("-clean") else task.without_truth())
        return Result(np.eye(draw.n_classes)[outcome.test_pred], parameters=int(outcome.n_parameters))

    return method


TEXT_METHODS: dict[str, Method] = {name: _as_in_quality(quality) for name, quality in QUALITY_NAMES.items()}
TEXT_TITLES = {
    "text-nb": "NB",
    "text-nb-correct": "NB, right labels",
    "text-inb": "INB (ours)",
    "text-cleanlab": "cleanlab, logistic regression",
    "text-mislabel": "MislabelClassifier, logistic regression",
}
