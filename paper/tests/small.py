"""A tiny experiment that runs in milliseconds, and how to run it."""

from __future__ import annotations

from paper.experiment import Experiment
from paper.runner import load, pending, run
from paper.simulation_tables import TABLE1, Setting


class Tiny(Experiment):
    TITLE = "Tiny"
    METHODS = ("nb", "nb-correct", "nbt")
    REPS = 2

    def settings(self, quick=False):
        return {f"n = {n}": Setting(n, (0.6, 0.7), True, 20, 3) for n in (100, 150)}

    def methods(self, setting):
        return self.METHODS if setting == "n = 100" else ("nb", "nb-correct")

    def draw(self, setting, seed, /):
        return TABLE1.draw(setting, seed)

    def page(self, rows):
        return f"## Tiny\n\n{len(rows)} rows\n"


def run_tiny(path, methods=Tiny.METHODS, reps=2, seed=0, n_jobs=1, report=lambda job: None):
    tiny = Tiny()
    jobs = pending(tiny, load(path), methods, reps, seed, quick=False)
    run(tiny, jobs, quick=False, n_jobs=n_jobs, path=path, report=report)
    return jobs


def timeless(rows):
    return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]


def rows_of(path):
    """Stored rows without the seconds; nan as text, so that rows can be compared."""
    return [{key: str(value) for key, value in row.items()} for row in timeless(load(path))]
