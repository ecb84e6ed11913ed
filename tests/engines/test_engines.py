"""Every engine adds up the same sums."""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
import pytest

from noisybayes.dataset.rows import Rows
from noisybayes.engines import ENGINES


class Sums(NamedTuple):
    total: np.ndarray
    nested: tuple[np.ndarray, np.ndarray]


def chunk(values):
    return Rows(np.asarray(values, dtype=float)[:, None], np.zeros(len(values), dtype=int), None, None)


def sums(rows):
    return Sums(rows.X.sum(axis=0), (rows.X.max(axis=0), np.ones(1)))


@pytest.mark.parametrize(("workers", "n_chunks"), [(1, 17), (2, 1), (5, 2), (2, 67)])
@pytest.mark.parametrize("name", ENGINES)
def test_every_chunk_is_added_once_and_the_number_of_workers_changes_no_digit(name, workers, n_chunks):
    """Numbers of all sizes show in which order they were added."""
    chunks = [chunk(np.random.default_rng(i).normal(size=9) * 10.0 ** (i % 17 - 8)) for i in range(n_chunks)]
    result = ENGINES[name](workers)(sums, chunks)
    assert isinstance(result, Sums)
    np.testing.assert_allclose(result.total, sum(c.X.sum() for c in chunks))
    np.testing.assert_allclose(result.nested[1], n_chunks)
    np.testing.assert_array_equal(ENGINES[name](1)(sums, chunks).total, result.total)


@pytest.mark.parametrize("name", ENGINES)
def test_an_error_in_a_worker_reaches_the_caller(name):
    def fail(rows):
        raise ArithmeticError("no such sum")

    threads = threading.active_count()
    with pytest.raises(ArithmeticError, match="no such sum"):
        ENGINES[name](2)(fail, [chunk([1]), chunk([2]), chunk([3])])
    if name == "local":  # a cluster's own threads come and go
        assert threading.active_count() < threads + 2, "the two workers are gone"
