"""Reviews are counted right, stored one by one, go on where they stopped, and can be made anew."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.data.datasets import DatasetUnavailableError
from benchmarks.review.review_tables import DATASETS, Table
from benchmarks.review.runner import PERCENTS, RUNS, Job, all_jobs, job_of, load, pending, review, run
from noisybayes.data import datasets

from . import small

WRONG = np.arange(400) % 4 == 3
TABLE = Table("table", np.zeros((400, 1)), WRONG.astype(int), np.zeros(400, dtype=int))


def best(kind, X, y, ask, seed):
    yield np.argsort(-y, kind="stable")


def worst_in_batches(kind, X, y, ask, seed):
    for rows in np.array_split(np.argsort(y, kind="stable"), 50):
        assert (ask(rows) == 0).all()
        yield rows


def stop(kind, X, y, ask, seed):
    if len(y) == 400:
        raise KeyboardInterrupt
    yield np.arange(len(y))


def test_found_and_precision_are_counted():
    rows = list(review(Job("d", "best", 0), TABLE, best))
    assert [row["percent"] for row in rows] == list(PERCENTS)
    by_percent = {row["percent"]: row for row in rows}
    assert by_percent[10]["found"] == 0.4
    assert by_percent[10]["precision"] == 1.0
    assert by_percent[25]["found"] == 1.0
    assert by_percent[30]["precision"] == round(100 / 120, 6)
    assert (by_percent[1]["rows"], by_percent[1]["wrong"]) == (400, 100)
    assert {row["found"] for row in review(Job("d", "worst", 0), TABLE, worst_in_batches)} == {0.0}


def test_seconds_are_those_until_then():
    seconds = [row["seconds"] for row in review(Job("small", "worst", 0), TABLE, worst_in_batches)]
    assert np.diff(seconds).min() >= 0


def test_rows_are_stored_and_not_made_again(tmp_path):
    tables, orders = {"one": lambda seed: TABLE, "two": lambda seed: TABLE}, {"best": best, "worst": worst_in_batches}
    jobs = all_jobs(tables, orders, 2)
    assert [job.seed for job in jobs] == [0] * 4 + [1] * 4
    steps = []
    run(pending(jobs, tmp_path), tables, orders, tmp_path, steps.append)
    assert [step.job for step in steps] == jobs
    rows = load(tmp_path)
    assert len(rows) == len(jobs) * len(PERCENTS)
    assert {job_of(row) for row in rows} == set(jobs)
    assert [(row["dataset"], row["method"]) for row in load(tmp_path, RUNS)] == [
        ("one", "best"), ("one", "worst"), ("two", "best"), ("two", "worst"),
    ]  # fmt: skip
    assert pending(jobs, tmp_path) == []
    assert pending(all_jobs(tables, orders, 3), tmp_path) == all_jobs(tables, orders, 3)[8:]


def test_an_interrupted_run_goes_on(tmp_path):
    tables, jobs = {"one": lambda seed: TABLE}, all_jobs(["one"], ["best", "stop"], 1)
    with pytest.raises(KeyboardInterrupt):
        run(jobs, tables, {"best": best, "stop": stop}, tmp_path)
    assert pending(jobs, tmp_path) == jobs[1:]


def test_fresh_rows_take_the_place_of_the_old(tmp_path):
    tables, jobs = {"one": lambda seed: TABLE}, [Job("one", "best", 0)]
    run(jobs, tables, {"best": worst_in_batches}, tmp_path)
    assert pending(jobs, tmp_path, fresh=True) == jobs
    run(jobs, tables, {"best": best}, tmp_path)
    rows = load(tmp_path)
    assert len(rows) == len(PERCENTS)
    assert rows[0]["found"] > 0


def test_a_data_set_that_cannot_be_had_is_named_and_the_others_go_on(tmp_path):
    def unavailable(seed):
        raise DatasetUnavailableError("not here")

    tables, steps = {"gone": unavailable, "one": lambda seed: TABLE}, []
    run(all_jobs(tables, ["best"], 1), tables, {"best": best}, tmp_path, steps.append)
    assert [step.unavailable for step in steps] == ["gone: not here", ""]
    assert {row["dataset"] for row in load(tmp_path)} == {"one"}


@pytest.mark.parametrize("name", DATASETS)
def test_a_real_table_is_sound_and_repeats(name):
    try:
        table, again, other = (DATASETS[name](seed) for seed in (0, 0, 1))
    except DatasetUnavailableError as error:
        pytest.skip(str(error))
    assert table.X.shape[0] == len(table.y) == len(table.true)
    assert 0.15 < np.mean(table.y != table.true) < 0.25
    assert np.array_equal(table.y, again.y)
    assert not np.array_equal(table.y, other.y)
    assert np.array_equal(np.bincount(table.true), np.bincount(other.true))
    if name == "livestream":
        assert (table.X.shape, int((table.y != table.true).sum())) == ((1_416, 22), 275)


def test_a_folder_without_the_data_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv(datasets.FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(DatasetUnavailableError, match="put noisy_ag_news/train.csv"):
        datasets.noisy_ag_news()


def test_the_small_tables_have_wrong_labels():
    assert all((make().y != make().true).any() for make in small.TABLES.values())
