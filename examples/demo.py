"""Find the wrong labels in the dealership's messages, and check the answer against the true labels."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.feature_extraction.text import CountVectorizer

from noisybayes import BernoulliINB

DATA = Path(__file__).with_name("dealership.csv")
SHOWN = 12


def main() -> None:
    console = Console()
    with DATA.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    messages = [row["message"] for row in rows]
    given = np.array([row["label"] for row in rows])
    true = np.array([row["true_label"] for row in rows])  # only to check the result, never to get it

    words = CountVectorizer(binary=True)
    X = words.fit_transform(messages).astype(np.float64)
    start = time.perf_counter()
    model = BernoulliINB().fit(X, given)
    seconds = time.perf_counter() - start

    posterior = model.true_proba_  # of each row, found without the row's own fold
    p_wrong = 1 - posterior[np.arange(len(given)), np.searchsorted(model.classes_, given)]
    suggested = model.classes_[posterior.argmax(axis=1)]
    suspects = np.flatnonzero(suggested != given)
    suspects = suspects[np.argsort(-p_wrong[suspects])]

    console.print(matrix_table(model))
    # every tenth or so: the very first suspects are all equally certain
    chosen = suspects[np.linspace(0, len(suspects) - 1, SHOWN).astype(int)]
    console.print(f"\n[bold]{SHOWN} of the suspects[/bold], from the surest to the least sure")
    for i in chosen:
        reasons = evidence(model, X[[i]].indices, words.get_feature_names_out(), suggested[i], given[i])
        console.print(f"\n  {messages[i]}", markup=False, highlight=False)
        console.print(
            f"  [red]{given[i]}[/red] → [green]{suggested[i]}[/green]   P(wrong) {p_wrong[i]:.3f}, "
            f"because of: {', '.join(reasons)}",
            highlight=False,
        )
    console.print()
    wrong = given != true
    found = wrong[suspects].sum()
    console.print(
        f"[bold]{len(suspects)} of {len(given):,} labels look wrong[/bold] "
        f"(estimated share of wrong labels {p_wrong.mean():.1%}, fitted in {seconds:.2f} s)."
    )
    console.print(
        f"Checked against the true labels, which the model never saw: {wrong.sum()} are wrong; {found} of the "
        f"{len(suspects)} suspects are among them (precision {found / len(suspects):.0%}, "
        f"recall {found / wrong.sum():.0%})."
    )
    console.print(
        f"Right labels before: {np.mean(given == true):.1%}, after taking every suggestion: "
        f"[bold]{np.mean(suggested == true):.1%}[/bold]."
    )


def matrix_table(model: BernoulliINB) -> Table:
    table = Table(title="How messages of each true category (columns) were labeled (rows), %", title_justify="left")
    table.add_column("labeled as")
    for number in range(1, len(model.classes_) + 1):
        table.add_column(str(number), justify="right")
    for number, (name, row) in enumerate(zip(model.classes_, model.mislabel_matrix_, strict=True), start=1):
        table.add_row(
            f"{number:2} {str(name)[:18]}", *(cell(p, own) for p, own in zip(row, model.classes_ == name, strict=True))
        )
    return table


def cell(p: float, own: bool) -> str:
    text = "·" if p < 0.005 else f"{100 * p:.0f}"
    if own:
        return f"[green]{text}[/green]"
    return f"[bold red]{text}[/bold red]" if p >= 0.1 else text


def evidence(model, present, words, suggested, given, most=3) -> list[str]:  # type: ignore[no-untyped-def]
    """The words of the message that speak most for the suggested label against the given one."""
    log_odds = np.log(model.feature_prob_) - np.log1p(-model.feature_prob_)
    for_suggested, for_given = np.searchsorted(model.classes_, [suggested, given])
    weight = (log_odds[for_suggested] - log_odds[for_given])[present]
    return [words[j] for j in present[np.argsort(-weight)[:most]]]


if __name__ == "__main__":
    main()
