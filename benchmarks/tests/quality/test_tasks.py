"""Every data set yields a sound task."""

from __future__ import annotations

import time
import urllib.request
from urllib.error import URLError

import numpy as np
import pytest
from scipy import sparse

from benchmarks.data.datasets import DatasetUnavailableError
from benchmarks.quality.datasets import DATASETS, GROUPS, NOT_IN_ALL, simulation
from benchmarks.quality.tasks import generator
from benchmarks.quality.word_counts import count_words, vocabulary

MADE = [name for name in DATASETS if name.startswith(("simulation", "imbalanced", "many"))]
REAL = [name for name in DATASETS if name not in (*MADE, *NOT_IN_ALL)]
UNAVAILABLE: dict[str, str] = {}


def check(task, name):
    n = task.X.shape[0]
    assert task.name == name
    assert task.X_test.shape == (len(task.y_test), task.X.shape[1])
    assert task.y.shape == task.true.shape == (n,)
    labels = np.unique(np.concatenate([task.y, task.true, task.y_test]))
    np.testing.assert_array_equal(labels, np.arange(len(labels)))
    assert all(np.issubdtype(part.dtype, np.integer) for part in (task.y, task.true, task.y_test))
    assert sparse.issparse(task.X) == (task.kind == "text")
    values = task.X.data if task.kind == "text" else task.X
    assert task.X.dtype == np.float64
    assert (values == np.rint(values)).all()
    assert values.min() >= 0
    if task.kind == "table":
        assert values.max() == 1
    hidden = task.without_truth()
    assert hidden.true is None
    assert hidden.y_test is None


def equal(one, other):
    return (one.X != other.X).sum() == 0 and (one.y == other.y).all() and (one.y_test == other.y_test).all()


def test_the_names_are_those_that_were_promised():
    assert len([name for name in DATASETS if name.startswith("simulation")]) == 30
    assert {"simulation-500-0.55", "simulation-unbalanced-10000-1.00"} <= set(DATASETS)
    assert [name for name in DATASETS if not name.startswith("simulation") and name not in NOT_IN_ALL] == [
        "newsgroups-clean", "newsgroups-uniform-10", "newsgroups-uniform-20", "newsgroups-uniform-40",
        "newsgroups-pair-10", "newsgroups-pair-20", "newsgroups-pair-40", "newsgroups-structured-10",
        "newsgroups-structured-20", "newsgroups-structured-40", "noisy-ag-news", "noisy-ag-news-clean", "livestream",
        "livestream-clean", "imbalanced", "many-classes",
    ]  # fmt: skip
    assert not set(GROUPS) & set(DATASETS)
    assert {name for group in GROUPS.values() for name in group} <= set(DATASETS)
    assert GROUPS["clean"] == ("newsgroups-clean", "noisy-ag-news-clean", "livestream-clean")


@pytest.mark.parametrize("name", MADE)
def test_a_made_data_set_is_sound_and_repeats(name, monkeypatch):
    monkeypatch.setattr(simulation, "EXTRA_TEST_ROWS", 50)
    task = DATASETS[name](0)
    check(task, name)
    assert equal(task, DATASETS[name](0))
    assert not equal(task, DATASETS[name](1))
    wrong = (task.y != task.true).mean()
    if name.startswith("simulation"):
        low, high = next(interval for interval in simulation.INTERVALS if name.endswith(f"{interval[0]:.2f}"))
        assert task.X.shape == (int(name.split("-")[-2]) * 4 // 5, 500)
        assert 1 - high - 0.06 <= wrong <= 1 - low + 0.06
    else:
        assert wrong == pytest.approx(0.15, abs=0.03)


def test_the_made_texts_are_as_described():
    imbalanced, many = DATASETS["imbalanced"](0), DATASETS["many-classes"](0)
    np.testing.assert_allclose(np.bincount(imbalanced.true) / 4_000, [0.5, 0.2, 0.15, 0.08, 0.05, 0.02], atol=0.03)
    assert many.true.max() == 119
    assert many.X.sum() / many.X.shape[0] == pytest.approx(13, abs=0.5)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.filterwarnings("ignore:Retry downloading")
def test_a_real_data_set_is_sound_and_repeats(name, monkeypatch):
    def no_net(*args, **kwargs):
        raise URLError("tests do not download")

    monkeypatch.setattr(urllib.request, "urlopen", no_net)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    family = name.split("-")[0]
    if family in UNAVAILABLE:
        pytest.skip(UNAVAILABLE[family])
    try:
        task = DATASETS[name](0)
    except DatasetUnavailableError as error:
        UNAVAILABLE[family] = str(error)
        pytest.skip(str(error))
    check(task, name)
    assert equal(task, DATASETS[name](0))
    assert not equal(task, DATASETS[name](1))
    shape, n_classes, noise = {"newsgroups": ((15_076, 7_302), 20, 0.0), "noisy": ((10_000, 13_750), 4, 0.198),
                               "livestream": ((1_132, 22), 13, 0.194)}[family]  # fmt: skip
    if family == "newsgroups" and not name.endswith("clean"):
        noise = int(name.split("-")[-1]) / 100
    assert task.X.shape == shape
    assert task.true.max() + 1 == n_classes
    assert (task.y != task.true).mean() == pytest.approx(0.0 if name.endswith("clean") else noise, abs=0.02)


def test_random_numbers_depend_on_data_set_and_seed():
    drawn = {(name, seed): generator(name, seed).integers(2**62) for name in ("a", "b") for seed in (0, 1)}
    assert len(set(drawn.values())) == 4
    assert drawn["a", 0] == generator("a", 0).integers(2**62)


def test_the_vocabulary_is_that_of_the_training_texts():
    counts = count_words(["aa bb bb", "aa cc bb bb", "bb aa dd bb", "ee ee"])  # columns: aa bb cc dd ee
    np.testing.assert_array_equal(vocabulary(counts[:3]), [0, 1])
    np.testing.assert_array_equal(vocabulary(counts[:3], limit=1), [1])  # twice as often as aa
