"""Every order ranks every row once, puts wrong labels first, and learns true labels only of rows that it has shown."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.review import orders
from benchmarks.review.orders import ORDERS

from . import small

over_orders = pytest.mark.parametrize("name", ORDERS)
over_tables = pytest.mark.parametrize("kind", small.TABLES)


@pytest.fixture(autouse=True)
def few_batches(monkeypatch):
    monkeypatch.setattr(orders, "REFIT_PERCENT", 25)


def ranked(name, table, ask=None, seed=0):
    ask = ask or (lambda rows: table.true[rows])
    return np.concatenate(list(ORDERS[name](table.kind, table.X, table.y, ask, seed)))


@over_orders
@over_tables
def test_every_row_comes_once_and_wrong_labels_come_early(name, kind):
    table = small.TABLES[kind]()
    order = ranked(name, table)
    assert np.array_equal(np.sort(order), np.arange(len(table.y)))
    wrong = table.y != table.true
    assert wrong[order[:40]].mean() > 2 * wrong.mean()


@over_orders
def test_the_same_seed_gives_the_same_order(name):
    table = small.text()
    assert np.array_equal(ranked(name, table, seed=3), ranked(name, table, seed=3))


@pytest.mark.parametrize("name", [name for name in ORDERS if name != "inb-refit"])
def test_one_fit_asks_nobody(name):
    def nobody(rows):
        raise AssertionError("asked")

    ranked(name, small.text(), nobody)


def test_only_rows_that_were_shown_are_asked_about_and_each_once():
    table = small.text()
    shown, asked = [], []

    def ask(rows):
        assert set(rows) <= set(np.concatenate(shown))
        asked.extend(rows)
        return table.true[rows]

    batches = ORDERS["inb-refit"](table.kind, table.X, table.y, ask, 0)
    shown.extend(batches)
    assert len(set(asked)) == len(asked) == len(table.y)
    assert [len(batch) for batch in shown] == [50] * 4


def test_the_first_batch_of_the_refit_is_the_top_of_one_fit():
    table = small.text()
    first = next(ORDERS["inb-refit"](table.kind, table.X, table.y, lambda rows: table.true[rows], 0))
    assert np.array_equal(first, ranked("inb", table)[: len(first)])


def test_the_verdicts_change_what_comes_next():
    table = small.text()
    honest = ranked("inb-refit", table)
    agreeing = ranked("inb-refit", table, ask=lambda rows: table.y[rows])
    assert not np.array_equal(honest, agreeing)
