"""Is the drift warning raised where EM drifts, and only there?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from noisybayes.data.simulate import simulate
from noisybayes.estimators import BernoulliINB
from noisybayes.estimators.latent import DRIFT_ALARM

METHODS: dict[str, Callable[[], BernoulliINB]] = {
    "em": partial(BernoulliINB, method="em"),
    "paper": BernoulliINB.paper,
    "crossfit": BernoulliINB,
}


def measure(seed: int) -> Iterator[tuple[str, str, float]]:
    rng = np.random.default_rng(seed)
    data = simulate(600, n_features=200, n_classes=3, diagonal=(0.8, 0.9), random_state=seed)
    rates = np.where(rng.random((3, 15)) < 0.5, 0.2, 0.8)
    topic = (rng.random((600, 15)) < rates[rng.integers(3, size=600)]).astype(float)
    X = np.hstack([data.X, np.repeat(topic, 5, axis=1)])
    paper = [
        simulate(n, diagonal=diagonal, random_state=seed)
        for n in (500, 1_000)
        for diagonal in ((0.55, 0.65), (0.75, 0.85))
    ]
    for name, make in METHODS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the warning itself is counted
            model = make().fit(X, data.y)
            yield f"hidden topic, {name}", "alarm", model.drift_ > DRIFT_ALARM
            yield f"hidden topic, {name}", "accuracy", np.mean(model.predict(X) == data.true)
            for each in paper:
                fitted = make().fit(each.X, each.y)
                yield f"the paper's simulation, {name}", "alarm", fitted.drift_ > DRIFT_ALARM
                yield f"the paper's simulation, {name}", "accuracy", np.mean(fitted.predict(each.X) == each.true)
