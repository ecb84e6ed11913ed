"""The section of docs/quality.md on unbalanced texts: one line for each data set, three methods."""

from __future__ import annotations

import numpy as np

from ..result_files import Row, table
from .datasets import GROUPS
from .datasets.unbalanced import N_TRAIN, NOISES
from .label_measures import from_one_cell
from .summary import DEFAULT, mean, names
from .tasks import Array

DATASETS = frozenset(GROUPS["unbalanced"])
PEERS = ("cleanlab-lr", "cleanlab-multinomial")
METHODS = (DEFAULT, *PEERS)
#: Classifiers trained on the true labels.
BOUNDS = ("nb-clean", "lr-clean")
AP, AP_WITHIN, ORDER = "average_precision", "average_precision_within", "label_order"
#: A data set on which the default is this far behind the better peer is named.
FAR_BEHIND = 0.05
_COMMAND = f"noisybayes bench quality --datasets unbalanced --methods {','.join((*METHODS, *BOUNDS))}"
_NOTHING = "–"

TEXT = f"""## Unbalanced texts

Two or three classes of 20 Newsgroups (`comp`, `sci`, `rec`) or of NoisyAG-News (business, technology, world; its true
labels), subsampled to shares of 90/10, 75/25 or 60/30/10, {N_TRAIN:,} training rows, with noise injected in three ways:

- `class`: this percentage of every class, at random;
- `boundary`: this percentage of all rows, drawn from the rows where a logistic regression trained on the true labels is
  uncertain, towards its second choice;
- `majority`: this percentage of every class but the largest, towards larger classes.

The columns:

- *Difference*: AP of `{DEFAULT}` minus that of the better of the two peers.
- *AP within labels*: AP among the rows of one given label, averaged over the labels, in the order of the methods.
- *Wrong by label*: the share of errors among the rows of each given label, the largest class first, and beside it the
  mean P(wrong) of `{DEFAULT}`, both in percent.
- *Right label*: whether labels that are wrong more often have the higher mean P(wrong), in the order of the methods; a
  number is the share of pairs of labels (and seeds) where they do. Pairs whose error rates are within two standard
  errors of each other do not count.
"""


def section(rows: list[Row]) -> str:
    """`rows`: those of unbalanced data sets. Empty if the default has none."""
    rows = [row for row in rows if row["method"] in (*METHODS, *BOUNDS)]
    datasets = names((row for row in rows if row["method"] == DEFAULT), "dataset")
    if not datasets:
        return ""
    by_dataset = {name: [row for row in rows if row["dataset"] == name] for name in datasets}
    header = [
        "data set", "wrong, %", *(f"`{method}`" for method in METHODS), "difference", "AP within labels",
        "wrong by label, %", f"P(wrong) of `{DEFAULT}`, %", "right label",
    ]  # fmt: skip
    lines = [_line(name, mine) for name, mine in by_dataset.items()]
    lines += [_mean_line(title, mine) for title, mine in _parts(by_dataset).items()]
    seeds = len({row["seed"] for row in rows})
    repeat = f"{seeds} seed{'s' if seeds > 1 else ''}. Repeat with `{_COMMAND} --seeds {seeds} --fresh`."
    return f"{TEXT}\n{table(header, lines)}\n\n{_verdict(by_dataset)}{_bounds(by_dataset)} {repeat}\n"


def _line(name: str, rows: list[Row]) -> list[str]:
    ours = _of(rows, DEFAULT)
    return [
        _short(name),
        *_figures([rows]),
        _percents(_by_label(ours, "wrong_by_label")),
        _percents(_by_label(ours, "p_wrong_by_label")),
        " / ".join(_yes_or_no(mean(_of(rows, method), ORDER).value) for method in METHODS),
    ]


def _mean_line(title: str, datasets: list[list[Row]]) -> list[str]:
    """The column "right label": on how many of the data sets all pairs are in order."""
    counts = [_n_in_order(datasets, method) for method in METHODS]
    figures = [f"**{figure}**" for figure in _figures(datasets)]
    return [f"**{title}**", *figures, "", "", f"**{' / '.join(map(str, counts))} of {len(datasets)}**"]


def _n_in_order(datasets: list[list[Row]], method: str) -> int:
    return sum(mean(_of(rows, method), ORDER).value == 1 for rows in datasets)


def _figures(datasets: list[list[Row]]) -> list[str]:
    """Means over data sets of: share of wrong labels, AP of each method, difference, AP within labels."""
    within = [_mean_over(datasets, method, AP_WITHIN) for method in METHODS]
    return [
        _percents([_mean_over(datasets, DEFAULT, "noise_rate_true")]),
        *(_plain(_mean_over(datasets, method, AP)) for method in METHODS),
        _plain(float(np.mean([_difference(rows) for rows in datasets])), "+"),
        " / ".join(map(_plain, within)),
    ]


def _parts(by_dataset: dict[str, list[Row]]) -> dict[str, list[list[Row]]]:
    """The data sets of each kind of noise, and all of them."""
    kinds = {f"mean, {kind}": [rows for name, rows in by_dataset.items() if f"-{kind}-" in name] for kind in NOISES}
    return {title: part for title, part in kinds.items() if part} | {"mean of all": list(by_dataset.values())}


def _verdict(by_dataset: dict[str, list[Row]]) -> str:
    differences = {name: _difference(rows) for name, rows in by_dataset.items()}
    ahead = sum(value > 0 for value in differences.values())
    behind = [f"{_short(name)} ({_plain(value, '+')})" for name, value in differences.items() if value < -FAR_BEHIND]
    named = f"{len(behind)}: {', '.join(behind)}" if behind else "none"
    return (
        f"`{DEFAULT}` beats both peers on {ahead} of {len(differences)} data sets, and is more than {FAR_BEHIND} "
        f"behind the better one on {named}."
    )


def _bounds(by_dataset: dict[str, list[Row]]) -> str:
    """What classifiers trained on the true labels reach; empty where they were not measured."""
    datasets = list(by_dataset.values())
    if not all(_of(rows, bound) for rows in datasets for bound in BOUNDS):
        return ""
    both = " and ".join(f"`{bound}`" for bound in BOUNDS)
    figures = " and ".join(_plain(_mean_over(datasets, bound, AP)) for bound in BOUNDS)
    behind = [name for name, rows in by_dataset.items() if _difference(rows) < -FAR_BEHIND]
    there = "".join(
        f", on {_short(name)} " + " and ".join(_plain(mean(_of(by_dataset[name], bound), AP).value) for bound in BOUNDS)
        for name in behind
    )
    orders = "; ".join(
        f"{title.removeprefix('mean, ')} "
        + " and ".join(str(_n_in_order(part, bound)) for bound in BOUNDS)
        + f" of {len(part)}"
        for title, part in _parts(by_dataset).items()
        if title != "mean of all"
    )
    return (
        f" For comparison, {both}, trained on the *true* labels, reach a mean AP of {figures}{there}. They put the "
        f"labels in the right order on this many data sets: {orders}. Rows of a rare class are the ambiguous ones, "
        "whichever labels are wrong."
    )


def _difference(rows: list[Row]) -> float:
    """From the better peer; nan without peers."""
    theirs = [average.value for peer in PEERS if (average := mean(_of(rows, peer), AP)).n]
    return mean(_of(rows, DEFAULT), AP).value - max(theirs, default=np.nan)


def _short(dataset: str) -> str:
    return dataset.removeprefix("unbalanced-")


def _of(rows: list[Row], method: str) -> list[Row]:
    return [row for row in rows if row["method"] == method]


def _mean_over(datasets: list[list[Row]], method: str, measure: str) -> float:
    return float(np.mean([mean(_of(rows, method), measure).value for rows in datasets]))


def _by_label(rows: list[Row], column: str) -> Array:
    """(K,) means over seeds; empty if the rows were stored without this column, or failed."""
    cells = [from_one_cell(row[column]) for row in rows if row[column] != ""]
    return np.asarray(np.mean(cells, axis=0)) if cells else np.array([])


def _percents(values: Array | list[float]) -> str:
    return " / ".join(_NOTHING if np.isnan(value) else f"{100 * value:.1f}" for value in values) or _NOTHING


def _plain(value: float, sign: str = "-") -> str:
    return _NOTHING if np.isnan(value) else f"{value:{sign}.3f}"


def _yes_or_no(order: float) -> str:
    return {1.0: "yes", 0.0: "no"}.get(order, _NOTHING if np.isnan(order) else f"{order:.2f}")
