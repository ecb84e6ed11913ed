"""How many wrong labels a reviewer finds who reads the first rows of the list, on the sets of the panel where all true
labels are known: as ranked at first, after refits with his labels, with what his verdicts say of the other rows, and
with careless verdicts. Rows are stored in results/review.csv, one for each set and order.
"""

from __future__ import annotations

import sys
import warnings
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import noisybayes
from noisybayes.audit.pool import Given, Pool, fit_pool
from noisybayes.audit.verdicts import Verdicts, after_verdicts, suggestions
from noisybayes.data.simulate import Array

from .data.datasets import DatasetUnavailableError
from .panel import measured_commit
from .panel_sets import GROUPS, SETS, PanelSet
from .result_files import Row, table

RESULTS, KEY = "review.csv", ("set", "order")
#: The list is ranked again after as many verdicts, and the pool fitted again.
STEP, REFIT = 20, 100
#: Where the review is measured, as shares of the rows.
SHARES = (0.05, 0.1, 0.2)


class Order(NamedTuple):
    refits: bool = False
    learns: bool = False  # from the verdicts
    careless: float = 0.0  # share of the verdicts that are turned around


ORDERS = {
    "as ranked": Order(), "refitted": Order(refits=True), "verdicts": Order(True, True),
    "a tenth careless": Order(True, True, 0.1), "a quarter careless": Order(True, True, 0.25),
}  # fmt: skip


class Listed(NamedTuple):
    """The rows of a set, as an audit without verdicts has them."""

    columns: Any
    given: Array  # (n,) codes
    true: Array  # (n,) codes
    n_classes: int
    pool: Pool


def review(sets: Iterable[str], orders: Iterable[str]) -> Iterator[Row]:
    commit, group_of = measured_commit(), {each: group for group, members in GROUPS.items() for each in members}
    for name in sets:
        try:
            data = SETS[name]()
        except DatasetUnavailableError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        if (data.true == "").any():  # nobody could review all of its rows
            continue
        rows = listed(data)
        n, wrong = len(rows.given), rows.true != rows.given
        for order in orders:
            rng = np.random.default_rng(zlib.crc32(name.encode()))
            positions = reviewed(rows, ORDERS[order], round(SHARES[-1] * n), rng)
            hits = np.cumsum(wrong[positions])
            found = {f"found_{share:.0%}": round(_of_possible(hits, round(share * n), wrong), 4) for share in SHARES}
            yield {"set": name, "order": order, "group": group_of[name], "rows": n, **found, "commit": commit}


def _of_possible(hits: Array, n: int, wrong: Array) -> float:
    """Found wrong labels, of those that n rows can hold."""
    return float(hits[n - 1] / max(min(n, wrong.sum()), 1))


def listed(data: PanelSet) -> Listed:
    frame = pl.DataFrame({"text": data.texts, "label": data.given})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = noisybayes.audit(frame, label="label", text="text").findings.judged
    code_of = {str(label): code for code, label in enumerate(rows.classes.tolist())}
    # a true class that no given label names is wrong under each of them
    true = [code_of.get(label, len(code_of)) for label in data.true.tolist()]
    return Listed(rows.columns, rows.observed, np.array(true), len(code_of), rows.pool)


def reviewed(rows: Listed, order: Order, most: int, rng: np.random.Generator) -> Array:
    """Positions of the rows that are seen first. The truth of a row is known when it has been seen."""
    pool, seen, said = rows.pool, np.zeros(0, dtype=np.intp), np.zeros(0, dtype=bool)
    labels = np.full(len(rows.given), -1)
    every = np.arange(len(rows.given))
    while len(seen) < most:
        if order.refits and len(seen) and len(seen) % REFIT == 0:
            pool = fit_pool(rows.columns, Given(rows.given, labels, rows.n_classes))
        posterior = pool.unverified(every, rows.given)
        suggested, p_wrong = suggestions(posterior, rows.given), 1.0 - posterior[every, rows.given]
        if order.learns and len(seen):
            p_wrong = after_verdicts(posterior, rows.given, rows.columns, Verdicts(seen, said))
        queue = np.flatnonzero(labels < 0)
        batch = queue[np.argsort(-p_wrong[queue], kind="stable")[: min(STEP, most - len(seen))]]
        is_wrong = rows.true[batch] != rows.given[batch]
        said_now = is_wrong ^ (rng.random(len(batch)) < order.careless)
        # who takes a right label for a wrong one follows the suggestion
        right = np.where(is_wrong & (rows.true[batch] < rows.n_classes), rows.true[batch], suggested[batch])
        labels[batch] = np.where(said_now, right, rows.given[batch])
        seen, said = np.concatenate([seen, batch]), np.concatenate([said, said_now])
    return seen


def section(rows: list[Row]) -> str:
    """Of docs/results.md."""
    return f"""## A list that learns from its reader

Share of the wrong labels that a reviewer has found after reading the first rows of the list, of those that so many rows
can hold; means over the sets of the panel whose true labels are all known. After every {STEP}
verdicts the rows that nobody has seen are ranked by what the verdicts say of them, and after every {REFIT} the audit is
fitted again with them. *Refitted*: only the latter. *Careless*: verdicts that were turned around at random.

{page(rows)}

Repeat with `python -m benchmarks review --store`.
"""


def page(rows: list[Row]) -> str:
    """Means of each group and order, as a Markdown table."""
    shares = [f"found_{share:.0%}" for share in SHARES]
    lines = []
    for group, order in dict.fromkeys((row["group"], row["order"]) for row in rows):
        mine = [row for row in rows if (row["group"], row["order"]) == (group, order)]
        lines.append([group, order, len(mine), *(f"{np.mean([row[share] for row in mine]):.3f}" for share in shares)])
    return table(["group", "order", "sets", *(f"after {share:.0%} of the rows" for share in SHARES)], lines)
