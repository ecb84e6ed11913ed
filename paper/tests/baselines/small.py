"""Small data that all baselines learn within a second, and settings to do so."""

from __future__ import annotations

import numpy as np

from paper.baselines import BASELINES

D = 60
NAMES = np.array(["red", "green", "blue"])
#: 30 % of the labels of two classes are wrong, all in one direction; columns are true classes.
CHANNEL = np.array([[0.7, 0.0, 0.1], [0.3, 0.7, 0.1], [0.0, 0.3, 0.8]])
QUICK = {
    "hidden_layer_sizes": 20, "learning_rate": 0.03, "batch_size": 100, "max_epochs": 30, "patience": 5,
    "random_state": 0,
}  # fmt: skip


def draw(n, seed, channel=CHANNEL):
    """Binary features that tell three classes apart almost without fail; observed and true labels as codes."""
    rng = np.random.default_rng(seed)
    true = rng.integers(3, size=n)
    prob = np.random.default_rng(99).uniform(0.1, 0.9, (3, D))
    X = (rng.random((n, D)) < prob[true]).astype(float)
    return X, rng.multinomial(1, channel.T[true]).argmax(axis=1), true


X, Y, TRUE = draw(400, seed=0)
X_TEST, _, TRUE_TEST = draw(1_000, seed=1)


def quick(name, **changes):
    """The baseline with those of the settings that it has."""
    model = BASELINES[name]()
    wanted = QUICK | changes
    return model.set_params(**{key: value for key, value in wanted.items() if key in model.get_params()})


def accuracy(model):
    return np.mean(model.predict(X_TEST) == TRUE_TEST)
