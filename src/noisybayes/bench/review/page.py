"""docs/review.md and its pictures, made from the stored rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..paper.plots import COLOURS, Line, line_plot
from ..store import Row, table
from .orders import ORDERS, REFIT_PERCENT
from .runner import PERCENTS, RESULTS, RUNS, load
from .summary import OURS, REFIT, best_possible, expected_at_random, mean_at, methods_in
from .words import in_short, sentences

COMMAND = "noisybayes bench review"
#: The percentages of the tables and of the words.
AT = (5, 10, 20, 30)
_TOLD_FIRST = 10
RANDOM, BEST = "at random", "best possible"
_GREY, _BLACK = "#7f7f7f", "#000000"

HEAD = f"""# A review, simulated

Somebody goes through a table and corrects its labels, but gets through only a part of the rows. In which order should
the rows come? Here the true labels are known: they are the reviewer's answers and the measure, and no order sees them
before a row is reviewed. All rows of a table are in the queue; none are kept for a test. This page is made by
`{COMMAND}` from the rows in [results/{RESULTS}](../results/{RESULTS}); no number on it was typed.
"""
NO_ROWS = f"""There are no stored rows yet. Install the peer with `pip install '.[bench]'` in a clone and run
`{COMMAND}`: it stores the rows of each review as soon as it is finished, and writes this page.
"""
ORDER_NOTES = {
    OURS: "ours: by P(wrong) of one fit, `BernoulliINB` for a table, `MultinomialINB` on TF-IDF for texts, defaults",
    REFIT: f"ours, fitted again after each {REFIT_PERCENT} % of the rows: the verdicts so far are verified labels, the "
    "rows that are left are ranked again",
    "cleanlab-nb": "cleanlab with `BernoulliNB` for a table, `MultinomialNB` on TF-IDF for texts, 5-fold: the rows "
    "that `find_label_issues` lists, in its order, then the others by label quality score",
    "cleanlab-lr": "the same with logistic regression",
    RANDOM: "what a random order finds on average: exactly the share of the rows reviewed, so none was drawn",
    BEST: "all wrong labels first",
}
NOTES = {
    "livestream": (
        "Live Streaming dialogs",
        "The paper's data: messages of customers to a car dealer, binary features, labels of volunteers. The reviewer "
        "gives the labels of the paper's experts.",
    ),
    "noisy-ag-news": (
        "NoisyAG-News",
        "News texts with labels of human annotators. The reviewer gives the labels of the original data set.",
    ),
    "newsgroups-structured-20": (
        "20 Newsgroups, structured noise",
        "Wrong labels made by a matrix in which every class is confused with a few others; each seed draws them again.",
    ),
}


def render_page(root: Path) -> str:
    rows = load(root)
    if not rows:
        return f"{HEAD}\n{NO_ROWS}"
    by_dataset = _by_dataset(rows)
    sections = [_section(name, mine) for name, mine in by_dataset.items()]
    return "\n".join([HEAD, _made_by(root, rows), _in_short(by_dataset), _orders(rows), *sections])


def render_figures(root: Path) -> dict[str, str]:
    """Name of a file in docs/img -> SVG."""
    return {_figure_name(name): _figure(name, rows) for name, rows in _by_dataset(load(root)).items()}


def write_page(root: Path) -> Path:
    images = root / "docs" / "img"
    images.mkdir(parents=True, exist_ok=True)
    for file, svg in render_figures(root).items():
        (images / file).write_text(svg, encoding="utf-8")
    path = root / "docs" / "review.md"
    path.write_text(render_page(root), encoding="utf-8")
    return path


def _by_dataset(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The known data sets in their own order, then any others."""
    names = sorted({str(row["dataset"]) for row in rows}, key=lambda name: [*NOTES, name].index(name))
    return {name: [row for row in rows if row["dataset"] == name] for name in names}


def _made_by(root: Path, rows: Sequence[Row]) -> str:
    machines = "; ".join(dict.fromkeys(str(run["machine"]) for run in load(root, RUNS)))
    seeds = len({row["seed"] for row in rows})
    return f"Measured on: {machines}. Repeat with `{COMMAND} --seeds {seeds} --fresh`.\n"


def _in_short(by_dataset: dict[str, list[Row]]) -> str:
    """Empty if there is nothing to compare."""
    told = {name: in_short(rows, AT) for name, rows in by_dataset.items()}
    lines = [f"- {_title(name)[0]}: {words}." for name, words in told.items() if words]
    return "\n".join(["## In short", "", *lines, ""]) if lines else ""


def _orders(rows: Sequence[Row]) -> str:
    names = [*methods_in(rows), RANDOM, BEST]
    lines = [[_code(name), ORDER_NOTES[name]] for name in names]
    return f"""## The orders

{table(["order", "rows come"], lines)}

Means over seeds, after ± their standard error. A seed changes the folds and the order of rows that look alike, and
the wrong labels where these are made; the error says nothing of other tables. "Level": the difference, seed by seed, is
within two standard errors. The better peer is picked on the result, percentage by percentage. Seconds are those of
the order alone, up to {AT[-1]} % of the rows, of the fastest seed.
"""


def _section(name: str, rows: list[Row]) -> str:
    title, note = _title(name)
    return f"""## {title}

{note} {_facts(rows)}

![Wrong labels found against rows reviewed](img/{_figure_name(name)})

Share of all wrong labels that have been found, in % (and the share of reviewed rows whose label is wrong, in %):

{_table(rows)}

{sentences(rows, AT, _TOLD_FIRST)}
"""


def _title(name: str) -> tuple[str, str]:
    return NOTES.get(name, (name, ""))


def _facts(rows: Sequence[Row]) -> str:
    wrong = 100 * sum(row["wrong"] for row in rows) / sum(row["rows"] for row in rows)
    seeds = len({row["seed"] for row in rows})
    return f"{rows[0]['rows']:,} rows, {wrong:.1f} % of the labels are wrong; {seeds} seed{'s' if seeds > 1 else ''}."


def _table(rows: list[Row]) -> str:
    lines = []
    for method in methods_in(rows):
        cells = [f"{mean_at(rows, method, p).shown()} ({mean_at(rows, method, p, 'precision').value:.0f})" for p in AT]
        lines.append([_code(method), *cells, f"{_fastest(rows, method):.1f}"])
    share = sum(row["wrong"] for row in rows) / sum(row["rows"] for row in rows)
    for name, bound in ((RANDOM, expected_at_random), (BEST, best_possible)):
        found = {p: bound(rows, p) for p in AT}
        cells = [f"{value:.1f} ({100 * share * value / expected_at_random(rows, p):.0f})" for p, value in found.items()]
        lines.append([name, *cells, "–"])
    return table(["order", *(f"{p} % reviewed" for p in AT), "seconds"], lines)


def _fastest(rows: list[Row], method: str) -> float:
    """Other work on the machine can only make a seed slower."""
    return float(min(row["seconds"] for row in rows if (row["method"], row["percent"]) == (method, AT[-1])))


def _figure_name(name: str) -> str:
    return f"review-{name}.svg"


def _figure(name: str, rows: list[Row]) -> str:
    lines = [Line(BEST, _points(best_possible(rows, p) for p in PERCENTS), dashed=True, colour=_BLACK)]
    colours = dict(zip(ORDERS, COLOURS, strict=False))
    for method in methods_in(rows):
        heights = (mean_at(rows, method, p).value for p in PERCENTS)
        lines.append(Line(method, _points(heights), colour=colours[method]))
    lines.append(Line(RANDOM, _points(expected_at_random(rows, p) for p in PERCENTS), dashed=True, colour=_GREY))
    return line_plot(lines, _title(name)[0], "rows reviewed, %", "wrong labels found, %")


def _points(heights: Iterable[float]) -> list[tuple[float, float]]:
    return [(0.0, 0.0), *((float(percent), height) for percent, height in zip(PERCENTS, heights, strict=True))]


def _code(name: str) -> str:
    return f"`{name}`" if name in ORDERS else name
