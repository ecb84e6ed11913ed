"""Runs can be interrupted, repeated and shared out, and their rows stay the same; the command line."""

from __future__ import annotations

import pytest

from paper.__main__ import main
from paper.experiment import Experiment
from paper.page import EXPERIMENTS
from paper.rows import read_rows
from paper.run import pending, results_path, run, select_methods
from paper.simulation import TABLE1, Setting


class Tiny(Experiment):
    """Runs in milliseconds."""

    TITLE = "Tiny"
    METHODS = ("nb", "nb-correct", "nbt")
    REPS = 2

    def settings(self):
        return {f"n = {n}": Setting(n, (0.6, 0.7)) for n in (100, 150)}

    def methods(self, setting):
        return self.METHODS if setting == "n = 100" else ("nb", "nb-correct")

    def draw(self, setting, seed, /):
        return TABLE1.draw(setting, seed)

    def page(self, rows):
        return f"## Tiny\n\n{len(rows)} rows\n"


def run_tiny(path, methods=Tiny.METHODS, n_jobs=1, stop_after=None):
    tiny = Tiny()
    jobs = pending(tiny, read_rows(path), methods, range(2), tiny.settings())
    for done, _ in enumerate(run(tiny, jobs, n_jobs, path), 1):
        if done == stop_after:
            break
    return [(job.setting, job.rep) for job in jobs]


def rows_of(path):
    """Without the seconds; nan as text, so that rows can be compared."""
    return [{key: str(value) for key, value in row.items() if key != "seconds"} for row in read_rows(path)]


def test_an_interrupted_run_continues_and_ends_with_the_same_rows(tmp_path):
    cut, whole = tmp_path / "cut.csv", tmp_path / "whole.csv"
    # all settings of a repetition come before the next repetition
    assert run_tiny(whole) == [("n = 100", 0), ("n = 150", 0), ("n = 100", 1), ("n = 150", 1)]
    run_tiny(cut, stop_after=2)
    before = read_rows(cut)
    assert len(before) == 5  # three methods in the first setting, two in the second
    assert run_tiny(cut) == [("n = 100", 1), ("n = 150", 1)]
    assert rows_of(cut) == rows_of(whole)
    assert all(row in read_rows(cut) for row in before if row["mse"] == row["mse"]), "rows were computed again"
    assert run_tiny(cut) == []


def test_methods_added_later_and_parallel_runs_give_the_same_rows(tmp_path):
    for methods in (("nbt",), ("nb", "nb-correct")):
        run_tiny(tmp_path / "later.csv", methods)
    run_tiny(tmp_path / "parallel.csv", n_jobs=2)
    run_tiny(tmp_path / "whole.csv")
    assert rows_of(tmp_path / "later.csv") == rows_of(tmp_path / "parallel.csv") == rows_of(tmp_path / "whole.csv")


def test_methods_by_name_or_by_group():
    assert select_methods("inb, nb", TABLE1) == ["inb", "nb"]
    assert select_methods("bayes,nb", TABLE1) == ["nb", "nb-correct", "inb-paper", "inb", "nbt"]


# --- the command line ------------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "table1", Tiny())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--setting", "no such"), "no setting begins with 'no such'; choose from n = 100; n = 150"),
        (("--methods", "svm"), "there is no method 'svm' here; choose from nb, nb-correct, nbt"),
    ],
)
def test_bad_options_end_before_anything_runs(tiny, tmp_path, capsys, arguments, sentence):
    with pytest.raises(SystemExit):
        main(["table1", *arguments, "--root", str(tmp_path)])
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_run_stores_rows_machine_and_no_seconds_if_asked(tiny, tmp_path, capsys):
    arguments = ("--reps", "1", "--jobs", "1", "--methods", "nb", "--root", str(tmp_path))
    main(["table1", *arguments, "--seed", "7", "--setting", "n = 15", "--untimed"])
    assert "1 of 1: n = 150, repetition 7" in capsys.readouterr().out
    (row,) = read_rows(results_path(tmp_path, "table1"))
    assert (row["setting"], row["rep"], row["method"]) == ("n = 150", 7, "nb")
    assert row["seconds"] != row["seconds"]
    (run,) = read_rows(results_path(tmp_path, "runs"))
    assert "scikit-learn" in run["machine"]
