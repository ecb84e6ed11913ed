"""docs/methods.md: every method in a paragraph, and side by side in figures; made from the stored rows."""

from __future__ import annotations

from pathlib import Path

from ..store import Row, table
from . import rows as stored
from .descriptions import Description, descriptions
from .methods import NEEDS_TRUTH, OURS, TOLD_RATES
from .page import COMMAND, RESULTS, measured_on
from .shown import SHOWN, cells
from .summary import DEFAULT, compare, in_order, mean, names

#: Some methods were given their last shape with accuracy on the seeds before these in sight.
SEEDS = (4, 5, 6)
ACCURACY = "test_accuracy"
_RATES = ("half", "right", "double")
_RIGHT = "bayesanil-right"
LIVESTREAM = "livestream"
#: The paper's rate of wrong labels; of which kind they are there, it does not say.
NEWSGROUPS = tuple(f"newsgroups-{kind}-20" for kind in ("uniform", "pair", "structured"))
#: Shown one by one; all of them in their mean.
REPRESENTATIVE = (
    "simulation-500-0.55", "simulation-1000-0.75", "simulation-5000-0.55", "simulation-unbalanced-10000-0.55",
)  # fmt: skip
_COMMAND = (
    f"{COMMAND} --datasets simulation,{','.join(NEWSGROUPS)},{LIVESTREAM} --methods all,rates --seeds {len(SEEDS)} "
    f"--first-seed {SEEDS[0]}"
)

HEAD = f"""# Methods

The methods that the paper compares with or discusses, ours and those of other packages, under one interface. Those in
`noisybayes.baselines` are scikit-learn classifiers: `fit(X, y)`, `predict`, `predict_proba`, and `verified=` for labels
that somebody has checked. This page is made by `noisybayes bench page` from the rows in `results/{RESULTS}` and from
the classes themselves; no number on it was typed. All methods see the same rows and the same wrong labels.
"""
GUIDE = """## Which one to use

Written for the tables below; look at them for data like yours.

- **Nothing is known about the mistakes**: `inb`, our default. It needs neither a noise rate nor clean rows, and tells
  which classes are taken for which. In the simulation, where what it assumes holds, it is at or near the top
  throughout, and far ahead of filters and networks where rows are few and mistakes many.
- **Texts**, as on 20 Newsgroups: `inb` too, which finds the wrong labels as well as any and takes a second or two. In
  test accuracy, `mislabel-lr` is level with it, and Co-teaching somewhat ahead where mistakes fall on all labels alike
  (it is told the noise rate), each at many times its time. Networks that are told nothing fall behind under mistakes
  between pairs of classes; plain EM (`inb-em`, `inb-paper`) does under all of them.
- **The same, in a fraction of the time**: `inb-em`, if features are about independent given the class. On Live
  Streaming and on texts, where they are not, it falls behind `inb`.
- **The noise rate is known**: `bayesanil`, the simplest. In the simulation it forgives a rate that is wrong (see
  below), on 20 Newsgroups it does not. It takes all classes to be mislabeled alike, and it too needs features that are
  about independent.
- **Features depend on each other, and mistakes on the features**, as on Live Streaming: a classifier that takes no
  features for independent. A network that stops early is best there; `network`, which does nothing about noise, is
  hardly behind `nal`, `nal-complex`, `nlnn` and `cmtnn`. They need torch and more time, and are far behind in the
  simulation. Logistic regression in `cleanlab-lr` or `mislabel-lr` comes close to them in a moment.
- **Somebody has verified labels**: ours and all in `noisybayes.baselines` take them as `verified=`. MentorNet is made
  for that; without them, as here, it has to be told the noise rate, as Co-teaching has.
- **Doubtful rows are to be dropped before another classifier learns**: `nb-filter` or cleanlab with naive Bayes where
  naive Bayes fits, `svm-filter` where it does not. `consensus-filter` drops less than `majority-filter`, which drops
  too much where classes are hard to tell apart.
- **A list for a person to go through**: the rankings are compared in [Quality](quality.md), a whole review in
  [Review](review.md).
"""
FIGURES = f"""## Side by side

Accuracy on test rows with true labels, in percent, means over the seeds {SEEDS[0]} to {SEEDS[-1]}. Earlier seeds are
left out: how Co-teaching and MentorNet end their training was chosen with test accuracy on seeds 0 to 3 in sight.
NLNN, too, got some of its shape with test accuracy on the paper's data in sight. On Live Streaming other seeds are only
other splits of the same rows, so that the figures of these three may still be somewhat optimistic there.

The simulation is the paper's: the name has n, of which 80 % are for training, and the lower end of the interval of
P(right label). 20 Newsgroups is the mean of three kinds of noise, 20 % of the labels each. Methods that must know the
noise rate are told 0.2, whatever the data; none has a clean subset. Seconds are those of fitting, finding and
predicting. Parameters are fitted numbers, also those of a filter or of a second network. **Bold**: best, `nb-clean` and
`lr-clean` apart.
"""
NO_ROWS = f"There are no stored rows of these seeds yet. Measure them with `{_COMMAND}`.\n"


def render_page(results: Path) -> str:
    rows = of_the_page(results)
    methods = [row for row in rows if row["method"] not in TOLD_RATES]
    measured = [FIGURES, _table(methods), _repeat(rows), _places(methods)] if methods else [FIGURES, NO_ROWS]
    sections = [HEAD, GUIDE, *measured, _told_rates(rows), "## The methods\n", *map(_paragraph, descriptions())]
    return "\n".join(section for section in sections if section)


def write_page(root: Path) -> Path:
    path = root / "docs" / "methods.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_page(root / "results"), encoding="utf-8")
    return path


def of_the_page(results: Path) -> list[Row]:
    return in_order(row for row in stored.load(results / RESULTS) if row["seed"] in SEEDS and _is_shown(row["dataset"]))


def _is_shown(dataset: str) -> bool:
    return dataset in (LIVESTREAM, *NEWSGROUPS) or dataset.startswith("simulation-")


def settings(rows: list[Row]) -> dict[str, list[Row]]:
    """The paper's settings by their names; those that have rows."""
    parts = {
        "simulation": [row for row in rows if row["dataset"] not in (LIVESTREAM, *NEWSGROUPS)],
        "20 Newsgroups": _on(rows, *NEWSGROUPS),
        "Live Streaming": _on(rows, LIVESTREAM),
    }
    return {name: part for name, part in parts.items() if part}


def _on(rows: list[Row], *datasets: str) -> list[Row]:
    return [row for row in rows if row["dataset"] in datasets]


def _table(rows: list[Row]) -> str:
    found = settings(rows)
    n_simulations = len(names(found.get("simulation", []), "dataset"))
    titles = {"simulation": f"mean of {n_simulations} simulations"}
    parts = {
        **{name.removeprefix("simulation-"): (_on(rows, name), ACCURACY) for name in REPRESENTATIVE},
        **{titles.get(name, name): (part, ACCURACY) for name, part in found.items()},
        **{f"seconds, {name}": (part, "seconds") for name, part in found.items()},
        **{f"parameters, {name}": (part, "n_parameters") for name, part in found.items()},
    }
    methods = names(rows, "method")
    shown = [cells(of, methods, measure, with_error=False) for of, measure in parts.values()]
    return table(["method", *parts], zip([f"`{name}`" for name in methods], *shown, strict=True)) + "\n"


def _repeat(rows: list[Row]) -> str:
    return f"{measured_on(rows)} Repeat with `{_COMMAND} --fresh`.\n"


def _places(rows: list[Row]) -> str:
    """Where ours are not first."""
    simulated = settings(rows).get("simulation", [])
    lines = [
        _place("Mean of the simulations", simulated),
        *(_place(name, _on(rows, name)) for name in names(rows, "dataset") if name in REPRESENTATIVE),
        *(_place(name, _on(rows, name)) for name in NEWSGROUPS),
        _place("Live Streaming", _on(rows, LIVESTREAM)),
        _verdicts(simulated),
    ]
    return "### Where ours is not first\n\n" + "\n".join(f"- {line}" for line in lines if line) + "\n"


def _place(title: str, rows: list[Row]) -> str:
    """By the figures as they are shown."""
    means = {
        method: mean([row for row in rows if row["method"] == method], ACCURACY) for method in names(rows, "method")
    }
    shown = {m: SHOWN[ACCURACY].show(means[m].value) for m in means if means[m].n and m not in NEEDS_TRUTH}
    if DEFAULT not in shown:
        return ""
    ahead = [method for method in shown if float(shown[method]) > float(shown[DEFAULT])]
    if not ahead:
        return f"{title}: no method is ahead of our default, `{DEFAULT}`, with {shown[DEFAULT]} %."
    first = max(ahead, key=lambda method: means[method].value)
    whose = "ours too" if first in OURS else "a peer"
    return (
        f"{title}: `{first}` ({whose}) is first with {shown[first]} %; our default, `{DEFAULT}`, has "
        f"{shown[DEFAULT]} % and is number {len(ahead) + 1} of {len(shown)}."
    )


def _verdicts(rows: list[Row]) -> str:
    found = {name: compare(_on(rows, name), ACCURACY, 1) for name in names(rows, "dataset")}
    compared = {name: comparison for name, comparison in found.items() if comparison is not None}
    if not compared:
        return ""
    verdicts = [comparison.verdict for comparison in compared.values()]
    worse = [
        f"{name} ({100 * c.ours:.2f}; `{c.peer}` {100 * c.theirs:.2f})"
        for name, c in compared.items()
        if c.verdict == "worse"
    ]
    return (
        f"Of {len(compared)} simulated data sets, `{DEFAULT}` is ahead of the best peer on {verdicts.count('better')}, "
        f"level with it (within two standard errors, seed by seed) on {verdicts.count('level')}, and behind on "
        f"{len(worse)}{': ' + ', '.join(worse) if worse else ''}."
    )


def _told_rates(rows: list[Row]) -> str:
    """BayesANIL with half, all and twice the true share of wrong labels."""
    parts = {title: part for title, part in _by_noise(rows).items() if _RIGHT in _told(part, ACCURACY)}
    if not parts:
        return ""
    lines, sentences = [[title, _noise(part)] for title, part in parts.items()], []
    for measure in (ACCURACY, "f1_flagged"):
        found = [_told(part, measure) for part in parts.values()]
        show = SHOWN[measure].show
        for line, values in zip(lines, found, strict=True):
            line += [show(values[name]) if name in values else "–" for name in TOLD_RATES]
        shown = [{name: float(show(value)) for name, value in values.items()} for values in found]
        led = sum(max(values.values()) == values[_RIGHT] for values in shown)
        loss = max(values[_RIGHT] - min(values.values()) for values in shown)
        sentences.append(
            f"{SHOWN[measure].words}, no wrong rate is ahead of the right one in {led} of {len(lines)} lines, and the "
            f"most that a wrong rate loses is {loss:.3g}"
        )
    header = [
        "data sets",
        "wrong labels, %",
        *(f"{what}, told {rate}" for what in ("test, %", "F1") for rate in _RATES),
    ]
    return f"""## BayesANIL when its noise rate is wrong

BayesANIL must be told the share of wrong labels. Here it is told half of it, all of it and twice as much, which only
somebody with the true labels could. Accuracy on test rows, and F1 of the labels taken for wrong; means over the data
sets of a line and the seeds {SEEDS[0]} to {SEEDS[-1]}. –: a rate that high is impossible on some of them.

{table(header, lines)}

In {sentences[0]} points. In {sentences[1]}.
"""


def _told(rows: list[Row], measure: str) -> dict[str, float]:
    """The means of those that have one on all of the data sets."""
    found = {name: mean([row for row in rows if row["method"] == name], measure) for name in TOLD_RATES}
    most = max(m.n for m in found.values())
    return {name: m.value for name, m in found.items() if most and m.n == most}


def _noise(rows: list[Row]) -> str:
    return SHOWN["noise_rate_estimated"].show(mean(rows, "noise_rate_true").value)


def _by_noise(rows: list[Row]) -> dict[str, list[Row]]:
    """The simulations by the lower end of their interval of P(right label), which ends their name; those with noise."""
    noisy = [row for row in rows if row["noise_rate_true"] > 0]
    simulated = settings(noisy).get("simulation", [])
    ends = sorted({str(row["dataset"]).rpartition("-")[2] for row in simulated})
    parts = {f"simulations from {end}": [r for r in simulated if str(r["dataset"]).endswith(f"-{end}")] for end in ends}
    return {**parts, "20 Newsgroups": _on(noisy, *NEWSGROUPS), "Live Streaming": _on(noisy, LIVESTREAM)}


def _paragraph(about: Description) -> str:
    facts = [f"Source: {about.source}." if about.source else "", f"Must be known beforehand: {about.known}."]
    if about.networks:
        facts.append(f"Networks: {about.networks}.")
    return f"### {', '.join(about.methods)}\n\n{about.text} {' '.join(filter(None, facts))}\n"
