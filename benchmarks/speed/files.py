"""From a CSV file of messages to a report, each in its own process: against pandas, scikit-learn and cleanlab."""

from __future__ import annotations

import compileall
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from noisybayes._extras import require
from noisybayes._files import scratch_folder

from ..data.simulated_messages import write_messages
from ..result_files import Row, table
from .audit import hits
from .clock import command_cost, grouped, median, shown, shown_bytes

WORDS, N_CLASSES = 12, 13
MEMORY = 2.5e9  # bytes
#: Limits for the largest file, audited from disk.
LIMIT_S = 600
IN_MEMORY, FROM_DISK, PIPELINE = "noisybayes audit", f"noisybayes audit --memory {MEMORY / 1e9:g}GB", "pipeline"


class Case(NamedTuple):
    n_rows: int
    ways: tuple[str, ...]


CASES = (
    Case(2_400, (IN_MEMORY, PIPELINE)),
    Case(50_000, (IN_MEMORY, PIPELINE)),
    Case(1_000_000, (IN_MEMORY, FROM_DISK, PIPELINE)),
    Case(10_000_000, (FROM_DISK,)),
)
_PACKAGE = Path(__file__).parents[2]
_DISK_PER_MESSAGE = 1_000  # bytes; the file, rows on disk and results together


class Found(NamedTuple):
    suspect: Any  # (n,) bool
    matrix: Any = None  # the mislabeling matrix, if one was estimated


def measure(reps: int, seed: int = 0) -> Iterator[Row]:
    require("cleanlab", extra="bench", purpose="the speed of files against cleanlab")
    compileall.compile_dir(_PACKAGE, quiet=2)  # as pip does with installed packages, including the pipeline's libraries
    for case in CASES:
        with scratch_folder(Path(tempfile.gettempdir()), _DISK_PER_MESSAGE * case.n_rows) as folder:
            messages = folder / "messages.csv"
            write_messages(messages, case.n_rows, n_words=WORDS, n_classes=N_CLASSES, seed=seed)
            wrong = _column(messages, pl.col("label") != pl.col("true_label"))
            for rep in range(reps):
                yield from _in_turn(case, rep, messages, wrong)


def _in_turn(case: Case, rep: int, messages: Path, wrong: Any) -> Iterator[Row]:
    in_memory: Found | None = None
    for way in case.ways:
        out = messages.with_name("out")
        cost = command_cost(*_command(way, messages, out))
        result = _issues(out, case.n_rows) if way == PIPELINE else _audit(out, with_matrix=IN_MEMORY in case.ways)
        shutil.rmtree(out) if out.is_dir() else out.unlink()
        if way == IN_MEMORY:
            in_memory = result
        row = {"n_rows": case.n_rows, "way": way, "rep": rep, **cost._asdict(), **hits(result.suspect, wrong)}
        yield row | _difference(in_memory if way == FROM_DISK else None, result)


def _command(way: str, messages: Path, out: Path) -> list[Any]:
    if way == PIPELINE:
        return [sys.executable, Path(__file__).with_name("pipeline.py"), messages, out]
    limit = ["--memory", f"{MEMORY:.0f}"] if way == FROM_DISK else []
    columns = ["--label", "label", "--text", "text"]
    return [sys.executable, "-m", "noisybayes", "audit", messages, *columns, "--out", out, *limit]


def _audit(out: Path, with_matrix: bool) -> Found:
    suspect = _column(out / "corrected.csv", pl.col("suspect"))
    if not with_matrix:
        return Found(suspect)
    summary = json.loads((out / "audit.json").read_bytes())
    return Found(suspect, np.array(summary["mislabel_matrix"]["estimate"]))


def _issues(out: Path, n_rows: int) -> Found:
    suspect = np.zeros(n_rows, dtype=bool)
    suspect[_column(out, pl.col("row"))] = True
    return Found(suspect)


def _column(path: Path, what: pl.Expr) -> Any:
    return pl.scan_csv(path).select(what.alias("wanted")).collect(engine="streaming")["wanted"].to_numpy()


def _difference(one: Found | None, other: Found) -> Row:
    """Differences between the same audit in memory and from disk."""
    if one is None:
        return {"matrix_difference": np.nan, "flags_differ": np.nan}
    return {
        "matrix_difference": float(np.abs(one.matrix - other.matrix).max()),
        "flags_differ": int((one.suspect != other.suspect).sum()),
    }


def page(rows: list[Row]) -> str:
    lines = []
    for n_rows, of_size in grouped(rows, "n_rows").items():
        ways = grouped(of_size, "way")
        for way, mine in ways.items():
            wall = median(mine, "wall_s")
            compared = f"{wall / median(ways[PIPELINE], 'wall_s'):.2f}" if PIPELINE in ways else ""
            lines.append(
                [f"{n_rows:,}", way if way == PIPELINE else f"`{way}`", shown(wall), compared,
                 shown(median(mine, "cpu_s")), shown_bytes(_peak(mine)),
                 *(f"{median(mine, key):.3f}" for key in ("precision", "recall"))]
            )  # fmt: skip
    header = ["messages", "method", "time", "x pipeline", "CPU time", "peak memory", "precision of suspects", "recall"]
    return f"""## From a file to a report

A CSV file of simulated messages ({WORDS} words, {N_CLASSES} classes); each method runs in its own process, timed from
its start to the last file written. The pipeline is what one would write by hand: `pandas.read_csv`, `CountVectorizer`,
5-fold `cross_val_predict` of `MultinomialNB`, cleanlab's `find_label_issues`, and a CSV file of the issues. It produces
no report, no intervals and no model. Peak memory is that of the largest process.

{table(header, lines)}

{_same_from_disk(rows)}{_limits(rows)}
"""


def _peak(rows: list[Row]) -> int:
    return max(int(row["peak_bytes"]) for row in rows)


def _same_from_disk(rows: list[Row]) -> str:
    compared = [row for row in rows if not np.isnan(row["matrix_difference"])]
    if not compared:
        return ""
    matrix, flags = (max(row[key] for row in compared) for key in ("matrix_difference", "flags_differ"))
    return (
        f"From disk and in memory, {compared[0]['n_rows']:,} messages: entries of the mislabeling matrix differ by at "
        f"most {matrix:.1g}, and {flags:,.0f} messages are suspects in only one of the two.\n"
    )


def _limits(rows: list[Row]) -> str:
    n_rows, largest = max(grouped(rows, "n_rows").items())
    mine = [row for row in largest if row["way"] == FROM_DISK]
    slowest, peak = max(row["wall_s"] for row in mine), _peak(mine)
    verdict = "met" if slowest < LIMIT_S and peak < MEMORY else "not met"
    return (
        f"The limits for {n_rows:,} messages, {LIMIT_S / 60:.0f} minutes and {MEMORY / 1e9:g} GB, were {verdict}: "
        f"{shown(slowest)} and {shown_bytes(peak)} at most."
    )
