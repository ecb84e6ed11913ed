"""docs/reproduce.md and its figures, generated from the rows in results/paper/."""

from __future__ import annotations

from pathlib import Path

from benchmarks.result_files import Row, table

from . import EXPERIMENTS, discussed_methods
from .facts import load_facts
from .methods import NEURAL
from .runner import load, results_path
from .runs import made_by

HEAD = """# The paper, reproduced

"Improved Naive Bayes with Mislabeled Data" (Zeng et al.), table by table and figure by figure. This page is generated
by `noisybayes reproduce` from the rows in [results/paper/](../results/paper); no number was typed by hand, except the
paper's own. NB is naive Bayes on the observed labels, NB-T has the parameters that generated the data, *INB (paper's)*
is `BernoulliINB.paper()`, *INB (ours)* is `BernoulliINB()` with its defaults. ± is the standard error of a mean. On
real data a figure counts as reproduced if it is within a point of the paper's, or within two standard errors of the
difference; the paper prints no errors, so we assume that they equal ours. For the simulation only differences are
given: the repetitions of the paper share draws, so its errors cannot be known.
"""
DISCUSSION = """## What agrees with the paper, and what does not

Generated from the rows, like the rest of this page.
"""
NETWORKS = """
About NLNN and NAL the paper says only that they have half a million parameters, and it cites the code of NAL's authors.
*NLNN* and *NAL* below are smaller, use early stopping on held-out rows, and centre their features; the stopping rule of
our NLNN rounds was chosen while looking at test accuracy. *Authors' configuration*: hidden layers of 500 and 300 units,
batches of 256, at most 40 epochs, patience 4, features not centred; fixed before any result was seen.
"""
SEARCHED = """## How we searched

The paper leaves details open. We ran the readings below, all of which are on this page, and compared each with the
paper's figures. The more readings we try, the more likely it is that one agrees by chance: a reading found in this way
is a guess at what the paper did, not evidence that its method is right. *Met by* counts the readings within a point of
the figure. The methods themselves were not changed to come closer to it. The following were tried once, on 20 splits of
Live Streaming, and dropped: pseudo-counts from 1e-10 to 0.1, add-one smoothing with classes of equal size, INB fitted
with classes of equal size, and a test set of a fifth of the correctly labeled rows.
"""
IMAGES = Path("docs") / "img"


def stored(root: Path) -> dict[str, list[Row]]:
    """Rows of the experiments that have any."""
    by_name = {name: load(results_path(root, name)) for name in EXPERIMENTS}
    return {name: rows for name, rows in by_name.items() if rows}


def render_page(root: Path) -> str:
    rows = stored(root)
    sections = [_section(root, name, stored_rows) for name, stored_rows in rows.items()]
    findings = [
        f"- {sentence}" for name, stored_rows in rows.items() for sentence in EXPERIMENTS[name].findings(stored_rows)
    ]
    sections += filter(None, [_searched(root, rows), discussed_methods.section(root)])
    networks = any(row["method"] in NEURAL for stored_rows in rows.values() for row in stored_rows)
    head = HEAD + NETWORKS if networks else HEAD
    return "\n".join([head, *([DISCUSSION, *findings, ""] if findings else []), *sections])


def _section(root: Path, name: str, rows: list[Row]) -> str:
    experiment = EXPERIMENTS[name]
    facts = load_facts(root, name)
    parts = [experiment.page(rows), experiment.facts_page(facts) if facts else "", made_by(root, name, rows) + "\n"]
    return "\n".join(filter(None, parts))


def _searched(root: Path, rows: dict[str, list[Row]]) -> str:
    searches = [
        search for name, mine in rows.items() for search in EXPERIMENTS[name].searched(mine, load_facts(root, name))
    ]
    if not searches:
        return ""
    lines = [[search.data, search.varied, search.tried, search.figure, search.met] for search in searches]
    return f"{SEARCHED}\n{table(['data', 'what was varied', 'readings', 'figure of the paper', 'met by'], lines)}\n"


def render_figures(root: Path) -> dict[str, str]:
    """Name of a file in docs/img -> SVG."""
    return {file: svg for name, rows in stored(root).items() for file, svg in EXPERIMENTS[name].figures(rows).items()}


def write_page(root: Path) -> Path:
    (root / IMAGES).mkdir(parents=True, exist_ok=True)
    for file, svg in render_figures(root).items():
        (root / IMAGES / file).write_text(svg, encoding="utf-8")
    path = root / "docs" / "reproduce.md"
    path.write_text(render_page(root), encoding="utf-8")
    return path
