"""docs/trust.md, made from results/trust.csv."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..store import Row, read_rows, table
from . import corrections, coverage, human, labelers

HEAD = """# Can the numbers be trusted?

This page is made by `noisybayes bench trust` from the rows in [results/trust.csv](../results/trust.csv); no number on
it was typed. Every part compares an audit with a truth that it never sees. Intervals are asked to hold the truth in
90 % of the cases.
"""
RESULTS = "trust.csv"


def render_page(rows: Sequence[Row]) -> str:
    sections = (_coverage, _labelers, _human, _verdicts, _corrections, _alarms)
    return "\n".join([HEAD, *(text for section in sections if (text := section(rows)))])


def write_page(root: Path) -> Path:
    path = root / "docs" / "trust.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = root / "results" / RESULTS
    path.write_text(render_page(read_rows(stored) if stored.exists() else []), encoding="utf-8")
    return path


def _values(rows: Sequence[Row], part: str, case: str, measure: str) -> list[float]:
    return [float(r["value"]) for r in rows if (r["part"], r["case"], r["measure"]) == (part, case, measure)]


def _mean(rows: Sequence[Row], part: str, case: str, measure: str, digits: int = 2) -> str:
    values = _values(rows, part, case, measure)
    return f"{np.mean(values):.{digits}f}" if values else "–"


def _cases(rows: Sequence[Row], part: str) -> list[str]:
    return list(dict.fromkeys(str(row["case"]) for row in rows if row["part"] == part))


def _seeds(rows: Sequence[Row], part: str) -> int:
    return len({row["seed"] for row in rows if row["part"] == part})


def _coverage(rows: Sequence[Row]) -> str:
    cases = _cases(rows, "coverage")
    if not cases:
        return ""

    def line(case: str, measures: Sequence[str]) -> list[str]:
        return [case, *(_mean(rows, "coverage", case, measure) for measure in measures)]

    rate = ["rate in range", "width of range"]
    rate += [f"{what}, {m} checks" for m in coverage.CHECKS for what in ("rate covered", "width")]
    rate_header = ["regime", "0 checks: in the range", "width"]
    rate_header += [text for m in coverage.CHECKS for text in (f"{m} checks: covered", "width")]
    accuracy = [f"accuracy covered, {m} checks" for m in (0, *coverage.CHECKS)]
    other = ["matrix covered", "cost told", "cost covered", "cost off by", *accuracy]
    other_header = ["regime", "matrix", "cost told", "cost", "cost off by"]
    other_header += [f"true accuracy, {m} checks" for m in (0, *coverage.CHECKS)]
    seeds = _seeds(rows, "coverage")
    return f"""## How often intervals hold the truth

{seeds} fits in each regime, and of each fit several samples of checked rows. Without checks the noise rate is a
plausible range, which has no probability; a dash means that the number was never reported.

### Share of wrong labels

{table(rate_header, (line(case, rate) for case in cases))}

### Mislabeling matrix, cost in accuracy, true accuracy of another classifier

{table(other_header, (line(case, other) for case in cases))}

{_misses(rows, cases)}
"""


#: Intervals should hold the truth this often.
LOW, HIGH = 0.85, 0.95
#: What is given with an interval, and why it may miss.
_REASONS = {
    "rate covered": "a share of wrong labels of exactly 0 is in every interval that begins at 0; where the model "
    "predicts nearly all checks, a floor of the variance keeps the interval wider than it need be",
    "matrix covered": "of clean labels the matrix is the identity, an end of what is possible",
    "cost covered": "the interval holds the uncertainty of the matrix, and is wide; where it is wider than 15 points "
    "(not among *cost told*), the audit tells its ends and not its middle",
    "accuracy covered, 0 checks": "without checks it is a plausible range, from mistakes that do not depend "
    "on the row to mistakes near the boundary",
}


def _misses(rows: Sequence[Row], cases: Sequence[str]) -> str:
    """What is not within the range that is asked, and why."""
    found = []
    for measure, reason in _REASONS.items():
        names = [measure] if measure != "rate covered" else [f"{measure}, {m} checks" for m in coverage.CHECKS]
        means = {
            case: [np.mean(values) for name in names if (values := _values(rows, "coverage", case, name))]
            for case in cases
        }
        below = [case for case, values in means.items() if values and min(values) < LOW]
        above = [case for case, values in means.items() if values and max(values) > HIGH]
        parts = [f"{text}: {'; '.join(part)}" for text, part in (("too low", below), ("too high", above)) if part]
        if parts:
            found.append(f"- *{measure}*: {'. '.join(parts)}. Why: {reason}.")
    if not found:
        return ""
    return f"Not within {LOW:.0%} and {HIGH:.0%}:\n\n" + "\n".join(found)


def _labelers(rows: Sequence[Row]) -> str:
    cases = _cases(rows, "labelers")
    if not cases:
        return ""
    lines = [
        [case, *(_mean(rows, "labelers", case, what, 3) for what in ("covered", "width", "off by"))] for case in cases
    ]
    means = {case: np.mean(_values(rows, "labelers", case, "covered")) for case in cases}
    below = [case for case, share in means.items() if share < LOW]
    above = [case for case, share in means.items() if share > HIGH]
    parts = [f"{text}: {'; '.join(part)}" for text, part in (("too low", below), ("too high", above)) if part]
    outside = ""
    if parts:
        outside = (
            f"\nNot within {LOW:.0%} and {HIGH:.0%}: {'; '.join(parts)}. Labelers are taken to be drawn from one "
            "population: those at its ends (who look at nothing, who are nearly perfect) are drawn to its middle, and "
            "where all are alike, what sets them apart is still not known to be nothing.\n"
        )
    fits = _seeds(rows, "labelers") * len(labelers.REGIMES)
    return f"""## Who errs

{fits} tables of {labelers.N_LABELERS} labelers (good, careless, biased to one class, some who swap two classes, some
who look at nothing; or all alike), with {labelers.FEWEST} to {labelers.MOST:,} rows each. How often the interval of
a labeler's error rate holds the rate at which this labeler errs in the long run, its width, and how far off the
estimate is.

{table(["labelers", "covered", "width", "mean absolute error"], lines)}
{outside}"""


def _human(rows: Sequence[Row]) -> str:
    cases = _cases(rows, "human")
    if not cases:
        return ""
    lines = [
        [case, len(_values(rows, "human", case, "off by")), *(
            _mean(rows, "human", case, measure, 3) for measure in ("off by", "covered", "width")
        )]
        for case in cases
    ]  # fmt: skip
    return f"""## The mistakes of people

NoisyAG-News, 10,000 texts with the labels of one annotator. Rows are drawn at random and checked, {human.DRAWS} samples
for each seed: as `--sample` draws them, with weights, and with equal chances.

{table(["rows checked", "samples", "mean absolute error of the rate", "covered", "width"], lines)}
"""


def _verdicts(rows: Sequence[Row]) -> str:
    cases = _cases(rows, "verdicts")
    if not cases:
        return ""
    measures = ("recall of the rest", "precision of the rest", "estimated rate", "careless ones shown again")
    lines = [[case, *(_mean(rows, "verdicts", case, measure, 3) for measure in measures)] for case in cases]
    return f"""## Careless verdicts

The example data, verdicts from the top of the list, of which some keep a wrong label; {_seeds(rows, "verdicts")} seeds.
Recall and precision are those of the suspects among the rows that were not looked at.

{table(["case", *measures], lines)}
"""


def _corrections(rows: Sequence[Row]) -> str:
    cases = _cases(rows, "corrections")
    if not cases:
        return ""
    gains = {case: _values(rows, "corrections", case, "gain") for case in cases}
    warned = {case: _values(rows, "corrections", case, "warned") for case in cases}
    pairs = [(g, w) for case in cases for g, w in zip(gains[case], warned[case], strict=True)]
    harm = [(g, w) for g, w in pairs if g < -0.005]
    harmless = [w for g, w in pairs if g >= -0.005]
    lines = []
    for data in dict.fromkeys(case.split(", ")[0] for case in cases):
        for kind in ("true labels", "human", *corrections.KINDS):
            mine = [case for case in cases if case.startswith(f"{data}, {kind}")]
            if mine:
                means = (_over(rows, mine, name) for name in ("gain", "changed", "warned", "suspects", "suspects F1"))
                lines.append([data, kind, *means, f"{min(min(gains[case]) for case in mine):+.3f}"])
    header = ["data", "mistakes", "gain", "changed", "with a warning", "suspects", "F1 of suspects", "least gain"]
    return f"""## Corrections

Labels after correction against labels as given, {_seeds(rows, "corrections")} seeds, mistakes in 10, 20 and 40 % of the
labels. In {len(harm)} of {len(pairs)} audits the labels were worse by more than half a point,
{sum(1 for _, w in harm if not w)} of these without a warning. Of the {len(harmless)} others
{int(sum(harmless))} carried a warning.

{table(header, lines)}
"""


def _over(rows: Sequence[Row], cases: Sequence[str], measure: str) -> str:
    return f"{np.mean([value for case in cases for value in _values(rows, 'corrections', case, measure)]):.3f}"


def _alarms(rows: Sequence[Row]) -> str:
    cases = _cases(rows, "alarms")
    if not cases:
        return ""
    lines = []
    for case in cases:
        alarms = _values(rows, "alarms", case, "alarm")
        lines.append([case, f"{int(sum(alarms))} of {len(alarms)}", _mean(rows, "alarms", case, "accuracy")])
    return f"""## The alarm of drift

`drift_` above 0.05: more labels are doubted than naive Bayes of the labels as given fails to predict. The hidden topic
is that of [the concepts](concepts.md#the-robust-fit), where EM drifts.

{table(["data and fit", "alarms", "accuracy"], lines)}
"""
