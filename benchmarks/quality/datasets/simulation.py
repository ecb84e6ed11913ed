"""The paper's simulation: its two tables, one data set per row."""

from __future__ import annotations

from functools import partial

from noisybayes.data.simulate import simulate

from ..tasks import MakeTask, Task, generator

INTERVALS = ((0.55, 0.65), (0.65, 0.75), (0.75, 0.85), (0.85, 0.95), (1.0, 1.0))
BALANCED_SIZES = (500, 1_000, 5_000)
UNBALANCED_SIZES = (1_000, 5_000, 10_000)
#: The paper tests on a fifth of n (100 rows at n = 500); these rows are added, so that half a point can be resolved.
EXTRA_TEST_ROWS = 4_000


def make(name: str, n: int, diagonal: tuple[float, float], balanced: bool, seed: int) -> Task:
    n_train = n * 4 // 5
    data = simulate(n + EXTRA_TEST_ROWS, diagonal=diagonal, balanced=balanced, random_state=generator(name, seed))
    return Task(
        name=name,
        kind="table",
        X=data.X[:n_train],
        y=data.y[:n_train],
        true=data.true[:n_train],
        X_test=data.X[n_train:],
        y_test=data.true[n_train:],
        seed=seed,
    )


def datasets() -> dict[str, MakeTask]:
    tasks: dict[str, MakeTask] = {}
    for prefix, sizes in (("simulation", BALANCED_SIZES), ("simulation-unbalanced", UNBALANCED_SIZES)):
        for n in sizes:
            for diagonal in INTERVALS:
                name = f"{prefix}-{n}-{diagonal[0]:.2f}"
                tasks[name] = partial(make, name, n, diagonal, sizes is BALANCED_SIZES)
    return tasks
