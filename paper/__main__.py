"""`python -m paper NAME` runs an experiment; `python -m paper page` makes docs/reproduce.md from the stored rows."""

from __future__ import annotations

import argparse
from pathlib import Path

from .data import DataUnavailableError
from .methods import NEURAL
from .page import EXPERIMENTS, write_page
from .rows import read_rows
from .run import NEURAL_REPS, pending, remember, results_path, run, select_methods


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m paper", description=__doc__)
    parser.add_argument("name", choices=[*EXPERIMENTS, "page"], help="Experiment, or the page of all of them.")
    parser.add_argument("--reps", type=int, help="Repetitions; the default depends on the experiment.")
    parser.add_argument("--methods", help="Names separated by commas, or the groups bayes and neural; default: all.")
    parser.add_argument("--setting", action="append", default=[], help="Settings whose names begin with this.")
    parser.add_argument("--jobs", type=int, default=-1, help="Number of processes; -1: one per core.")
    parser.add_argument("--seed", type=int, default=0, help="Random seed of the first repetition.")
    parser.add_argument("--untimed", action="store_true", help="Store no seconds: for a busy machine.")
    parser.add_argument("--root", type=Path, default=Path(), help="The folder that contains results/ and docs/.")
    options = parser.parse_args(arguments)
    if options.name == "page":
        print(f"wrote {write_page(options.root)}")
        return
    experiment, path = EXPERIMENTS[options.name], results_path(options.root, options.name)
    try:
        methods = select_methods(options.methods, experiment)
    except ValueError as error:
        parser.error(str(error))
    reps = options.reps or experiment.REPS
    neural_reps = options.reps or min(experiment.REPS, NEURAL_REPS)
    beginnings = tuple(options.setting) or ("",)
    settings = [name for name in experiment.settings() if name.startswith(beginnings)]
    if not settings:
        parser.error(f"no setting begins with {beginnings[0]!r}; choose from {'; '.join(experiment.settings())}")
    left = []
    for group, n in ((set(methods) - set(NEURAL), reps), (set(methods) & set(NEURAL), neural_reps)):
        names = [name for name in methods if name in group]
        left += pending(experiment, read_rows(path), names, range(options.seed, options.seed + n), settings)
    if left:  # rows computed on another machine keep its name until this one computes some
        remember(options.root, options.name, methods)
    try:
        for done, job in enumerate(run(experiment, left, options.jobs, path, not options.untimed), 1):
            print(f"{done} of {len(left)}: {job.setting}, repetition {job.rep}", flush=True)
    except DataUnavailableError as error:
        parser.exit(1, f"{error}\n")
    rows = [row for row in read_rows(path) if row["method"] in methods and 0 <= row["rep"] - options.seed < reps]
    print(f"\n{experiment.page(rows)}")


if __name__ == "__main__":
    main()
