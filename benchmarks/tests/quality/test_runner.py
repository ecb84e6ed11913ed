"""Runs are stored row by row, go on where they stopped, survive failures, and hide the truth."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.data.datasets import DatasetUnavailableError
from benchmarks.quality import result_rows as stored
from benchmarks.quality.chosen_names import select
from benchmarks.quality.methods import METHODS, Outcome
from benchmarks.quality.result_rows import Job
from benchmarks.quality.runner import all_jobs, pending, run, run_job

from . import small

DATASETS = {"text": small.text, "table": small.table}
#: Columns that the first version did not write.
LATER = ("n_parameters", "average_precision_within", "label_order", *stored.BY_LABEL, "at_once")


def answer(task):
    n = len(task.y)
    none = np.zeros(n, dtype=bool)
    return Outcome(np.linspace(0, 1, n), none, none, task.y, 0.0, np.zeros(task.X_test.shape[0]), True)


def fail(task):
    raise RuntimeError("does not\nwork, at all")


def stop(task):
    if task.name != "warm-up":
        raise KeyboardInterrupt
    return answer(task)


def test_rows_are_stored_and_not_made_again(tmp_path):
    path = tmp_path / "results" / "quality.csv"
    methods = {"one": answer, "two": answer}
    jobs = all_jobs(DATASETS, methods, 2)
    assert len(jobs) == 8
    assert [job.seed for job in jobs] == [0] * 4 + [1] * 4
    steps = []
    run(pending(jobs, path), DATASETS, methods, path, steps.append)
    assert [step.row["dataset"] for step in steps] == ["text", "text", "table", "table"] * 2
    rows = stored.load(path)
    assert [stored.job_of(row) for row in rows] == jobs
    assert rows[0]["n_train"] == 150
    assert rows[0]["n_classes"] == 3
    assert rows[0]["seconds"] >= 0
    assert rows[0]["error"] == ""
    assert pending(jobs, path) == []
    assert pending(all_jobs(DATASETS, methods, 3), path) == all_jobs(DATASETS, methods, 3)[8:]


def test_seeds_may_start_later():
    assert [job.seed for job in all_jobs(["a"], ["b"], 3, first_seed=4)] == [4, 5, 6]


def test_an_interrupted_run_goes_on(tmp_path):
    path = tmp_path / "quality.csv"
    jobs = all_jobs(DATASETS, ["one", "two"], 1)
    with pytest.raises(KeyboardInterrupt):
        run(pending(jobs, path), DATASETS, {"one": answer, "two": stop}, path)
    assert pending(jobs, path) == jobs[1:]
    run(pending(jobs, path), DATASETS, {"one": fail, "two": answer}, path)  # `fail`: a stored row is not made again
    assert [row["error"] != "" for row in stored.load(path)] == [False, False, True, False]


def test_a_row_that_was_cut_short_is_made_again(tmp_path):
    path = tmp_path / "quality.csv"
    jobs = all_jobs(DATASETS, ["one"], 1)
    run(pending(jobs, path), DATASETS, {"one": answer}, path)
    whole = path.read_text()
    path.write_text(whole[:-10])
    assert pending(jobs, path) == jobs[1:]
    run(pending(jobs, path), DATASETS, {"one": answer}, path)
    assert [stored.job_of(row) for row in stored.load(path)] == jobs


def test_fresh_removes_the_chosen_rows_only(tmp_path):
    path = tmp_path / "quality.csv"
    methods = {"one": answer, "two": answer}
    run(pending(all_jobs(DATASETS, methods, 1), path), DATASETS, methods, path)
    chosen = all_jobs(["text"], ["two"], 1)
    assert pending(chosen, path, fresh=True) == chosen
    assert [stored.job_of(row) for row in stored.load(path)] == [
        Job("text", 0, "one"), Job("table", 0, "one"), Job("table", 0, "two"),
    ]  # fmt: skip


def test_a_failing_method_gives_a_row(tmp_path):
    path = tmp_path / "quality.csv"
    jobs = all_jobs(DATASETS, ["bad", "good"], 1)
    run(jobs, DATASETS, {"bad": fail, "good": answer}, path)
    rows = stored.load(path)
    assert [row["error"] for row in rows] == ["RuntimeError: does not work, at all", ""] * 2
    assert np.isnan(rows[0]["test_accuracy"])
    assert not np.isnan(rows[1]["test_accuracy"])


def test_a_data_set_that_cannot_be_had_is_reported_and_the_others_go_on(tmp_path):
    tried = []

    def nowhere(seed):
        tried.append(seed)
        raise DatasetUnavailableError("put it there")

    path = tmp_path / "quality.csv"
    datasets = {"away": nowhere, **DATASETS}
    steps = []
    run(all_jobs(datasets, ["one"], 2), datasets, {"one": answer}, path, steps.append)
    assert [step.unavailable for step in steps] == ["away: put it there", "", ""] * 2
    assert tried == [0]
    assert len(stored.load(path)) == 4


@pytest.mark.parametrize("name", METHODS)
def test_only_naive_bayes_on_clean_labels_sees_true_labels(name):
    seen = []

    def spy(task):
        seen.append(task)
        task.y[:] = 0  # a method that spoils what it is given
        return answer(task)

    task = small.table()
    run_job(Job("table", 0, name), task, spy)
    assert [given.name for given in seen] == ["warm-up", "small-table"]
    for given in seen:
        assert (given.true is not None) == (name in ("nb-clean", "lr-clean"))
        assert given.y_test is None
    np.testing.assert_array_equal(task.y, small.table().y)


def test_warnings_of_a_method_are_named():
    def warner(task):
        import warnings

        warnings.warn("first", UserWarning, stacklevel=1)
        warnings.warn("second", RuntimeWarning, stacklevel=1)
        return answer(task)

    assert run_job(Job("table", 0, "warner"), small.table(), warner)["warnings"] == "RuntimeWarning UserWarning"


def test_what_earlier_work_left_open_is_no_warning_of_a_method(tmp_path):
    circle = [(tmp_path / "left").open("w", encoding="utf-8")]
    circle.append(circle)
    del circle  # only the garbage collector finds it, which runs before the memory of a method is measured
    assert run_job(Job("table", 0, "answer"), small.table(), answer)["warnings"] == ""


def test_rows_of_another_version_are_not_mixed_in(tmp_path):
    path = tmp_path / "quality.csv"
    path.write_text("dataset,seed\na,1\n")
    with pytest.raises(ValueError, match="has different columns from those that this version writes; move it away"):
        stored.load(path)


def test_rows_of_earlier_versions_are_taken(tmp_path):
    path = tmp_path / "quality.csv"
    run(pending(all_jobs(["table"], ["one"], 1), path), DATASETS, {"one": answer}, path)
    columns = [column for column in stored.COLUMNS if column not in LATER]
    cells = [str(stored.load(path)[0][column]) for column in columns]
    path.write_text(",".join(columns) + "\n" + ",".join(f'"{cell}"' for cell in cells) + "\n")
    assert np.isnan(stored.load(path)[0]["n_parameters"])
    assert np.isnan(stored.load(path)[0]["label_order"])
    assert stored.load(path)[0]["p_wrong_by_label"] == ""
    assert stored.load(path)[0]["at_once"] == 1
    jobs = all_jobs(["table"], ["one"], 2)
    run(pending(jobs, path), DATASETS, {"one": answer}, path)
    assert [stored.job_of(row) for row in stored.load(path)] == jobs


def test_names_select():
    offered = {"a-1": 1, "a-2": 2, "b": 3}
    groups = {"a": ("a-1", "a-2")}
    assert select("all", offered, groups, "thing") == offered
    assert select("b, a, a-1", offered, groups, "thing") == {"b": 3, "a-1": 1, "a-2": 2}
    with pytest.raises(ValueError, match="there is no thing 'c'; choose from all, a, a-1, a-2, b"):
        select("a,c", offered, groups, "thing")
    with pytest.raises(ValueError, match="no thing was given; choose from all"):
        select(",", offered, groups, "thing")
