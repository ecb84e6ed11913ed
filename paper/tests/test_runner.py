"""Runs can be interrupted, repeated and shared out, and their rows stay the same."""

from __future__ import annotations

import numpy as np
import pytest

from paper import EXPERIMENTS, runner
from paper.methods import NEURAL
from paper.registry import METHODS, TITLES
from paper.runner import load, pending, run_job, select_methods

from .small import Tiny, rows_of, run_tiny

BY_NAME = pytest.mark.parametrize("name", EXPERIMENTS)


def test_all_settings_of_a_repetition_come_before_the_next(tmp_path):
    jobs = pending(Tiny(), [], Tiny.METHODS, 2, 5, quick=False)
    assert [(job.setting, job.rep) for job in jobs] == [("n = 100", 5), ("n = 150", 5), ("n = 100", 6), ("n = 150", 6)]


def test_a_setting_runs_only_the_methods_that_it_offers(tmp_path):
    run_tiny(tmp_path / "x.csv", reps=1)
    found = {(row["setting"], row["method"]) for row in load(tmp_path / "x.csv")}
    assert ("n = 100", "nbt") in found
    assert ("n = 150", "nbt") not in found
    assert run_tiny(tmp_path / "x.csv", reps=1) == []


def test_an_interrupted_run_goes_on_and_ends_with_the_same_rows(tmp_path):
    done = []

    def stop_after_two(job):
        done.append(job)
        if len(done) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_tiny(tmp_path / "cut.csv", report=stop_after_two)
    assert len(load(tmp_path / "cut.csv")) == 5  # three methods in the first setting, two in the second
    before = {(row["setting"], row["rep"], row["method"]): row["seconds"] for row in load(tmp_path / "cut.csv")}
    rest = run_tiny(tmp_path / "cut.csv")
    assert not {(job.setting, job.rep) for job in rest} & {(job.setting, job.rep) for job in done}
    run_tiny(tmp_path / "whole.csv")
    assert rows_of(tmp_path / "cut.csv") == rows_of(tmp_path / "whole.csv")
    after = {(row["setting"], row["rep"], row["method"]): row["seconds"] for row in load(tmp_path / "cut.csv")}
    assert {key: after[key] for key in before} == before, "finished rows were computed again"


def test_an_interrupted_write_loses_nothing(tmp_path, monkeypatch):
    run_tiny(tmp_path / "x.csv", reps=1)
    before = rows_of(tmp_path / "x.csv")

    def fail(writer, rows):
        writer.writerow(rows[0])
        raise KeyboardInterrupt

    monkeypatch.setattr("csv.DictWriter.writerows", fail)
    with pytest.raises(KeyboardInterrupt):
        run_tiny(tmp_path / "x.csv", reps=2)
    assert rows_of(tmp_path / "x.csv") == before


def test_methods_that_are_added_later_give_the_same_rows(tmp_path):
    run_tiny(tmp_path / "later.csv", methods=("nbt",))
    run_tiny(tmp_path / "later.csv", methods=("nb", "nb-correct"))
    run_tiny(tmp_path / "whole.csv")
    assert rows_of(tmp_path / "later.csv") == rows_of(tmp_path / "whole.csv")


def test_parallel_gives_the_same_rows(tmp_path):
    run_tiny(tmp_path / "one.csv", n_jobs=1)
    run_tiny(tmp_path / "two.csv", n_jobs=2)
    assert rows_of(tmp_path / "one.csv") == rows_of(tmp_path / "two.csv")


def same(a, b):
    a, b = (x.toarray() if hasattr(x, "toarray") else x for x in (a, b))
    return np.array_equal(a, b)


@BY_NAME
def test_data_depend_on_setting_and_repetition_only(name):
    experiment = EXPERIMENTS[name]
    setting = next(iter(experiment.settings(quick=True).values()))
    first, again, other = (experiment.draw(setting, seed) for seed in (0, 0, 1))
    for field in ("X", "y", "true", "X_test", "true_test"):
        assert same(getattr(first, field), getattr(again, field))
    assert not same(first.y, other.y)


def test_all_methods_of_a_repetition_get_the_same_data(monkeypatch):
    seen = []

    def spy(draw, seed):
        seen.append(draw)
        return METHODS["nb-correct"](draw, seed)

    monkeypatch.setattr(runner, "METHODS", dict.fromkeys(Tiny.METHODS, spy))
    run_job(Tiny(), Tiny().settings()["n = 100"], runner.Job("n = 100", 0, Tiny.METHODS))
    assert len(seen) == 3
    assert all(draw is seen[0] for draw in seen)


# --- choosing methods ------------------------------------------------------------------------------------------------


def test_methods_by_name_by_group_or_all():
    tables = EXPERIMENTS["table1"]
    assert select_methods("inb, nb", tables) == ["inb", "nb"]
    assert select_methods("bayes,nb", tables) == [name for name in tables.METHODS if name not in NEURAL]
    pytest.importorskip("torch")
    assert select_methods(None, tables) == list(tables.METHODS)
    assert select_methods("neural", tables) == [name for name in NEURAL if name in tables.METHODS]


def test_an_unknown_method_is_named_with_those_that_there_are():
    with pytest.raises(ValueError, match="there is no method 'svm' here; choose from nb, nb-correct, inb-paper, inb$"):
        select_methods("nb,svm", EXPERIMENTS["impact"])


def test_no_method_at_all_is_an_error():
    with pytest.raises(ValueError, match="no method was given; choose from nb, nb-correct, inb-paper, inb$"):
        select_methods("neural", EXPERIMENTS["impact"])


@BY_NAME
def test_every_method_of_an_experiment_exists_and_has_a_title(name):
    assert set(EXPERIMENTS[name].METHODS) <= set(METHODS)
    assert set(METHODS) == set(TITLES)


@BY_NAME
@pytest.mark.parametrize("quick", [True, False])
def test_every_setting_offers_methods_of_the_experiment(name, quick):
    experiment = EXPERIMENTS[name]
    for setting in experiment.settings(quick):
        assert set(experiment.methods(setting)) <= set(experiment.METHODS)
        assert {"nb", "text-nb"} & set(experiment.methods(setting))
