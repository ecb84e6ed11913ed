"""Speed: each task against the usual alternative, alternating in one run so that ratios are reliable."""

from __future__ import annotations

import compileall
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

import noisybayes
from noisybayes import BernoulliINB, GaussianINB, MultinomialINB, simulate
from noisybayes.audit.cluster import local_cluster
from noisybayes.model.matrix import IdentifiabilityWarning
from noisybayes.text.counts import count_all
from noisybayes.text.tokens import Tokenizer

from .data.simulated_messages import write_messages
from .result_files import Row, machine, read_rows, table

# --- seconds and memory ----------------------------------------------------------------------------------------------


def seconds(fn: Callable[..., Any], *arguments: Any) -> float:
    start = time.perf_counter()
    fn(*arguments)
    return time.perf_counter() - start


def peak_memory(fn: Callable[..., Any], *arguments: Any) -> int:
    """Peak number of bytes allocated during a call."""
    tracemalloc.start()
    try:
        fn(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class Cost(NamedTuple):
    wall_s: float
    cpu_s: float  # user and system, of all its processes
    peak_bytes: int  # resident, of its largest process


# a process inherits the peak memory of its parent, so the parent of what is measured has to be small
_LAUNCHER = """
import json, os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
unit = 1 if sys.platform == "darwin" else 1024
print(json.dumps([time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit]))
sys.exit(status != 0)
"""


def command_cost(*command: Any) -> Cost:
    """Run a command to its end; it and its child processes are killed if this process is interrupted."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", _LAUNCHER, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    try:
        output, complaints = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    if process.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} failed: {complaints.strip()[-2_000:]}")
    return Cost(*json.loads(output))


def median(rows: Sequence[Row], key: str) -> float:
    return float(np.median([row[key] for row in rows]))


def ratio(rows: Sequence[Row], over: str, under: str) -> float:
    """The median of the ratios: both were measured in succession, so what slowed one also slowed the other."""
    return float(np.median([row[over] / row[under] for row in rows]))


def grouped(rows: Sequence[Row], key: str) -> dict[Any, list[Row]]:
    return {value: [row for row in rows if row[key] == value] for value in dict.fromkeys(row[key] for row in rows)}


def shown(s: float) -> str:
    if s >= 120:
        return f"{s / 60:.1f} min"
    return f"{s:.2f} s" if s >= 1 else f"{1_000 * s:.0f} ms" if s >= 0.01 else f"{1_000 * s:.1f} ms"


def shown_bytes(n: float) -> str:
    return f"{n / 1e9:.2f} GB" if n >= 1e9 else f"{n / 1e6:.1f} MB"


# --- one iteration of EM ---------------------------------------------------------------------------------------------

ITERATIONS = 6
#: Rows, columns, words of a row, classes: long texts with many classes, short messages, a large vocabulary.
SHAPES = ((200_000, 10_000, 60, 20), (1_000_000, 20_000, 12, 13), (100_000, 50_000, 200, 4))
PAIRS: dict[str, tuple[Any, Any]] = {
    "Bernoulli": (BernoulliINB, BernoulliNB),
    "multinomial": (MultinomialINB, MultinomialNB),
}


def em(reps: int, seed: int) -> Iterator[Row]:
    for shape in SHAPES:
        X, y = random_texts(np.random.default_rng(seed), *shape)
        size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        n_rows, n_columns, words, n_classes = shape
        for name, (ours, theirs) in PAIRS.items():
            extra = peak_memory(iteration_seconds, ours, X, y) / size
            for rep in range(reps):
                yield {
                    "shape": f"{n_rows:,} x {n_columns:,}, {words} words, {n_classes} classes",
                    "family": name,
                    "rep": rep,
                    "em_iteration_s": iteration_seconds(ours, X, y),
                    "sklearn_s": seconds(lambda theirs=theirs, X=X, y=y: theirs().fit(X, y).predict_proba(X)),
                    "stream_s": seconds(lambda X=X: (X.indices.copy(), X.data.copy())),
                    "extra_memory_share": extra,
                }


def random_texts(rng: np.random.Generator, n_rows: int, n_columns: int, words: int, n_classes: int) -> tuple[Any, Any]:
    """Rows of distinct random words, a fifth of them from the row's class; one label in five is wrong."""
    true = rng.integers(n_classes, size=n_rows)
    own = true[:, None] * (n_columns // n_classes) + rng.integers(n_columns // n_classes, size=(n_rows, words // 5))
    other = rng.integers(n_columns, size=(n_rows, words - words // 5))
    columns = np.sort(np.hstack([own, other]), axis=1).astype(np.int32)
    starts = np.arange(0, n_rows * words + 1, words, dtype=np.int32)
    ones = np.ones(n_rows * words, np.float32)
    X = sparse.csr_array((ones, columns.reshape(-1), starts), shape=(n_rows, n_columns))
    X.sum_duplicates()
    X.data[:] = 1
    wrong = rng.random(n_rows) < 0.2
    return X, np.where(wrong, rng.integers(n_classes, size=n_rows), true)


def iteration_seconds(estimator: Any, X: Any, y: Any) -> float:
    """Of an iteration of EM after the first: all, less what comes before and after."""

    def fit(max_iter: int) -> None:
        with warnings.catch_warnings():  # a fixed number of iterations, not run to convergence
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", IdentifiabilityWarning)
            estimator(method="em", alpha=1.0, tol=0.0, max_iter=max_iter).fit(X, y)

    return (seconds(fit, 1 + ITERATIONS) - seconds(fit, 1)) / ITERATIONS


def em_page(rows: list[Row]) -> str:
    lines = []
    for shape, of_shape in grouped(rows, "shape").items():
        for family, mine in grouped(of_shape, "family").items():
            iteration, theirs, stream = (median(mine, f"{key}_s") for key in ("em_iteration", "sklearn", "stream"))
            lines.append(
                [shape, family, shown(iteration), shown(theirs), f"{ratio(mine, 'em_iteration_s', 'sklearn_s'):.2f}",
                 shown(stream), f"{iteration / stream:.0f} x", f"{100 * mine[0]['extra_memory_share']:.0f} %"]
            )  # fmt: skip
    header = ["rows", "family", "one EM iteration", "scikit-learn, fit + predict_proba", "ratio", "stream X once",
              "multiple of that limit", "peak memory beyond X, share of X"]  # fmt: skip
    return f"""## One EM iteration

Sparse rows in single precision; an iteration is an E-step and an M-step over all rows. The alternative is one fit and
one prediction of scikit-learn's naive Bayes on the same matrix.

{table(header, lines)}
"""


# --- small tables ----------------------------------------------------------------------------------------------------

#: Rows and columns of the paper's simulation.
SMALL = ((400, 500), (4_000, 500))


def small_fits(reps: int, seed: int) -> Iterator[Row]:
    for n_rows, n_columns in SMALL:
        data = simulate(n_rows, n_features=n_columns, random_state=seed)
        X = data.X.astype(np.float64)
        name = f"{n_rows:,} x {n_columns:,}"
        yield from _default_and_em(name, BernoulliINB(), BernoulliINB.paper(), X, data.y, reps)
    wine = load_wine()
    yield from _default_and_em("wine, 178 x 13", GaussianINB(), GaussianINB(method="em"), wine.data, wine.target, reps)


def _default_and_em(name: str, default: Any, em: Any, X: Any, y: Any, reps: int) -> Iterator[Row]:
    default.fit(X, y), em.fit(X, y)  # late imports are not measured
    family = type(default).__name__
    for rep in range(reps):
        times = {"default_s": seconds(default.fit, X, y), "em_s": seconds(em.fit, X, y)}
        yield {"table": name, "family": family, "rep": rep, **times}


def small_fits_page(rows: list[Row]) -> str:
    lines = [
        [name, f"`{mine[0]['family']}`", shown(median(mine, "default_s")), shown(median(mine, "em_s")),
         f"{ratio(mine, 'default_s', 'em_s'):.1f}"]
        for name, mine in grouped(rows, "table").items()
    ]  # fmt: skip
    return f"""## Small tables

The default fit selects how to score and how often to reweight the labels (by fits that leave out one fold each), and
fits in folds; the paper's EM is a single fit.

{table(["rows x columns", "classifier", "default fit", "the paper's EM", "ratio"], lines)}
"""


# --- texts to features -----------------------------------------------------------------------------------------------

VOCABULARY = 20_000
#: Texts, and words of each.
TEXTS = ((1_000_000, 12), (50_000, 200))


def texts(reps: int, seed: int) -> Iterator[Row]:
    for n_texts, words in TEXTS:
        rng = np.random.default_rng(seed)
        known = np.array([f"w{rng.integers(10**6)}x{i}" for i in range(VOCABULARY)])
        # realistic word frequencies: that of the k-th word is proportional to about 1 / k
        ranks = np.exp(rng.random((n_texts, words)) * np.log(VOCABULARY)).astype(int) - 1
        messages = [" ".join(row) for row in known[ranks]]
        series = pl.Series(messages)
        for rep in range(reps):
            yield {
                "case": f"{n_texts:,} texts of {words} words",
                "rep": rep,
                "n_texts": n_texts,
                "ours_s": seconds(count_all, series, Tokenizer("words")),
                "sklearn_s": seconds(CountVectorizer().fit_transform, messages),
            }


def texts_page(rows: list[Row]) -> str:
    lines = []
    for case, mine in grouped(rows, "case").items():
        ours, theirs = median(mine, "ours_s"), median(mine, "sklearn_s")
        lines.append([case, shown(ours), shown(theirs), f"{ratio(mine, 'sklearn_s', 'ours_s'):.1f} x",
                      f"{mine[0]['n_texts'] / ours:,.0f}"])  # fmt: skip
    return f"""## Texts to features

Counts of all words of the texts: the same matrix that `CountVectorizer()` returns.

{table(["texts", "noisybayes", "CountVectorizer", "faster", "texts per second"], lines)}
"""


# --- from a file to a report -----------------------------------------------------------------------------------------

WORDS, N_CLASSES = 12, 13
AUDIT, PIPELINE = "noisybayes audit", "pipeline"
#: Messages -> the ways to audit them.
FILES = {
    2_400: (AUDIT, PIPELINE),
    50_000: (AUDIT, PIPELINE),
    1_000_000: (AUDIT, PIPELINE),
    10_000_000: (AUDIT,),
    30_000_000: (AUDIT,),
}
#: More messages are audited once: does the audit need more memory for them?
MANY = 10_000_000


def audit_to_pipeline(n_rows: int, reps: int = 3, seed: int = 0, of: str = "wall_s") -> tuple[float, float]:
    """Seconds of `noisybayes audit` and of the pipeline for a file of `n_rows` messages: medians of alternating runs.

    of : "wall_s", or "cpu_s" on a machine that is busy with other work
    """
    by_way = grouped(list(_file(n_rows, (AUDIT, PIPELINE), reps, seed)), "way")
    return median(by_way[AUDIT], of), median(by_way[PIPELINE], of)


def files(reps: int, seed: int) -> Iterator[Row]:
    for n_rows, ways in FILES.items():
        yield from _file(n_rows, ways, reps if n_rows <= MANY else 1, seed)


def _file(n_rows: int, ways: Sequence[str], reps: int, seed: int) -> Iterator[Row]:
    # as pip does with installed packages, including the pipeline's libraries
    compileall.compile_dir(Path(noisybayes.__file__).parent, quiet=2)
    with _messages(n_rows, seed) as messages:
        out = messages.with_name("out")
        wrong = _column(messages, pl.col("label") != pl.col("true_label"))
        for rep in range(reps):
            for way in ways:
                row: Row = {"n_rows": n_rows, "way": way, "rep": rep, **_audited(way, messages, out)._asdict()}
                suspects = _suspects(out, n_rows)
                shutil.rmtree(out) if out.is_dir() else out.unlink()
                row |= hits(suspects, wrong)
                yield row


@contextmanager
def _messages(n_rows: int, seed: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="noisybayes-speed-") as folder:
        messages = Path(folder) / "messages.csv"
        write_messages(messages, n_rows, n_words=WORDS, n_classes=N_CLASSES, seed=seed)
        yield messages


def _audited(way: str, messages: Path, out: Path, *options: str) -> Cost:
    if way == PIPELINE:
        return command_cost(sys.executable, Path(__file__).with_name("pipeline.py"), messages, out)
    columns = ["--label", "label", "--text", "text"]
    return command_cost(sys.executable, "-m", "noisybayes", "audit", messages, *columns, "--out", out, *options)


def _suspects(out: Path, n_rows: int) -> Any:
    """(n_rows,) bool"""
    if out.is_dir():
        return _column(out / "corrected.csv", pl.col("suspect"))
    suspect = np.zeros(n_rows, dtype=bool)
    suspect[_column(out, pl.col("row"))] = True
    return suspect


def _column(path: Path, what: pl.Expr) -> Any:
    files = sorted(path.iterdir()) if path.is_dir() else path
    frame = pl.scan_csv(path) if path.suffix != ".parquet" else pl.scan_parquet(files)
    return frame.select(what.alias("wanted")).collect(engine="streaming")["wanted"].to_numpy()


def hits(suspect: Any, wrong: Any) -> Row:
    """How many rows are suspects, the share of them whose label is wrong, and the share of wrong labels among them."""
    n_hits, n_suspects = int((suspect & wrong).sum()), int(suspect.sum())
    precision, recall = n_hits / max(n_suspects, 1), n_hits / max(int(wrong.sum()), 1)
    return {"suspects": n_suspects, "precision": precision, "recall": recall}


def files_page(rows: list[Row]) -> str:
    lines = []
    for n_rows, of_size in grouped(rows, "n_rows").items():
        ways = grouped(of_size, "way")
        for way, mine in ways.items():
            wall = median(mine, "wall_s")
            compared = f"{wall / median(ways[PIPELINE], 'wall_s'):.2f}" if PIPELINE in ways else ""
            lines.append(
                [f"{n_rows:,}", way if way == PIPELINE else f"`{way}`", shown(wall), compared,
                 shown(median(mine, "cpu_s")), shown_bytes(max(row["peak_bytes"] for row in mine)),
                 *(f"{median(mine, key):.3f}" for key in ("precision", "recall"))]
            )  # fmt: skip
    header = ["messages", "method", "time", "x pipeline", "CPU time", "peak memory", "precision of suspects", "recall"]
    return f"""## From a file to a report

A CSV file of simulated messages ({WORDS} words, {N_CLASSES} classes); each method runs in its own process, timed from
its start to the last file written. The pipeline is what one would write by hand: `pandas.read_csv`, `CountVectorizer`,
5-fold `cross_val_predict` of `MultinomialNB`, cleanlab's `find_label_issues`, and a CSV file of the issues. It produces
no report and no model. Peak memory is that of the largest process.

{table(header, lines)}
"""


# --- an audit on a cluster -------------------------------------------------------------------------------------------

CLUSTER_ROWS = (1_000_000, 10_000_000)
WORKERS = 2


def cluster_audit(reps: int, seed: int) -> Iterator[Row]:
    for n_rows in CLUSTER_ROWS:
        with _messages(n_rows, seed) as messages:
            here, there = messages.with_name("here"), messages.with_name("there")
            for rep in range(reps):
                cost = _audited(AUDIT, messages, here, "--format", "parquet")
                local = {f"local_{name}": value for name, value in cost._asdict().items()}
                cluster = _on_cluster(messages, there)
                tables = [folder / "corrected.parquet" for folder in (here, there)]
                suspects = [_column(path, pl.col("suspect")) for path in tables]
                for folder in (here, there):
                    shutil.rmtree(folder)
                differ = int((suspects[0] != suspects[1]).sum())
                yield {"n_rows": n_rows, "rep": rep, **local, **cluster, "flags_differ": differ}


def _on_cluster(messages: Path, out: Path) -> Row:
    from distributed import Client

    def cpu(client: Client) -> float:
        return float(sum(client.run(time.process_time).values()))

    with local_cluster(WORKERS) as cluster, Client(cluster, set_as_default=False) as client:
        before = cpu(client)
        options = ("--format", "parquet", "--engine", "dask", "--scheduler", cluster.scheduler_address)
        driver = _audited(AUDIT, messages, out, *options)
        # getrusage would report the peak of this process, which started the workers, if that was larger
        statuses = client.run(Path("/proc/self/status").read_text).values()
        return {
            "dask_wall_s": driver.wall_s,
            "dask_cpu_s": driver.cpu_s + cpu(client) - before,
            "driver_peak_bytes": driver.peak_bytes,
            "worker_peak_bytes": max(1_024 * int(re.findall(r"VmHWM:\s+(\d+)", text)[0]) for text in statuses),
        }


def cluster_audit_page(rows: list[Row]) -> str:
    times, processes = ("local_wall_s", "dask_wall_s", "local_cpu_s", "dask_cpu_s"), ("local", "driver", "worker")
    lines = [
        [f"{n_rows:,}", *(shown(median(mine, key)) for key in times),
         *(f"{ratio(mine, f'dask_{kind}_s', f'local_{kind}_s'):.2f} x" for kind in ("wall", "cpu")),
         *(shown_bytes(max(row[f"{who}_peak_bytes"] for row in mine)) for who in processes),
         f"{max(row['flags_differ'] for row in mine):,}"]
        for n_rows, mine in grouped(rows, "n_rows").items()
    ]  # fmt: skip
    header = ["messages", "time: one process", "Dask", "CPU time: one process", "Dask", "time, Dask / one process",
              "CPU time", "peak memory: one process", "driver", "a worker", "suspects that differ"]  # fmt: skip
    return f"""## An audit on a cluster

From a CSV file of simulated messages ({WORDS} words, {N_CLASSES} classes) to a report and a corrected table in Parquet:
`{AUDIT}`, and `noisybayes audit --engine dask` with {WORKERS} worker processes on the same machine, which read, score
and write. The driver is the process of the command, and fits; CPU time is the sum over driver and workers.

{table(header, lines)}
"""


# --- the works and their page ----------------------------------------------------------------------------------------

#: name -> what yields its rows, and what makes its section of the page of them
WORKS: dict[str, tuple[Callable[[int, int], Iterator[Row]], Callable[[list[Row]], str]]] = {
    "em": (em, em_page),
    "small_fits": (small_fits, small_fits_page),
    "texts": (texts, texts_page),
    "files": (files, files_page),
    "cluster_audit": (cluster_audit, cluster_audit_page),
}
HEAD = """# Speed

This page is generated by `python -m benchmarks speed` from the rows in [results/speed/](../results/speed); no number
was typed by hand. Each task and its usual alternative are measured in the same run, one after the other, so ratios are
more reliable than seconds. Figures are medians over the repetitions.
"""


def measure(work: str, reps: int, seed: int = 0) -> Generator[Row]:
    for row in WORKS[work][0](reps, seed):
        yield {**row, "machine": machine()}


def results_path(root: Path, work: str) -> Path:
    return root / "results" / "speed" / f"{work}.csv"


def render_page(root: Path) -> str:
    sections = [HEAD]
    for name, (_, page) in WORKS.items():
        if results_path(root, name).exists():
            rows = read_rows(results_path(root, name))
            measured = "; ".join(dict.fromkeys(str(row["machine"]) for row in rows))
            repeat = f"Measured on: {measured}. Repeat with `python -m benchmarks speed {name}`."
            sections.append(f"{page(rows).rstrip()}\n\n{repeat}\n")
    return "\n".join(sections)


def write_page(root: Path) -> Path:
    path = root / "docs" / "speed.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_page(root), encoding="utf-8")
    return path
