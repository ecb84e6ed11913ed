"""`noisybayes bot evaluate` in the terminal: how good a bot is on unseen dialogs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..bot import Config
    from ..bot.evaluate import Evaluation


def show_evaluation(config: Config, evaluation: Evaluation) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(
        f"{evaluation.messages:,} messages in {evaluation.dialogs:,} dialogs, "
        f"{evaluation.reps} random splits by dialog."
    )
    if evaluation.agreements:
        mean = sum(row.agreement for row in evaluation.agreements) / len(evaluation.agreements)
        rows = [
            (config.features[row.feature].title, row.column, f"{row.given:,}", f"{row.ours:,}", f"{row.agreement:.1%}")
            for row in evaluation.agreements
        ]
        title = f"agreement of the features with the given ones: {mean:.1%} on average, the worst first"
        _print_table(console, title, ("feature", "column", "given", "ours", "agreement"), rows)
    against = "the true labels" if evaluation.against == "true labels" else "the labels of the file, which may be wrong"
    methods = [(row.name, f"{row.accuracy:.1%}", f"{row.spread:.1%}") for row in evaluation.methods]
    _print_table(console, f"accuracy against {against}", ("method", "mean", "sd"), methods)
    answered = [
        (f"{row.threshold:g}", f"{row.share:.1%}", "-" if row.accuracy is None else f"{row.accuracy:.1%}")
        for row in evaluation.answered
    ]
    title = f"the bot as a whole (threshold {config.threshold:g}): below the threshold a person answers"
    _print_table(console, title, ("threshold", "answered", "right among these"), answered)
    titles = {key: category.title for key, category in config.categories.items()}
    per = [(titles[row.category], f"{row.messages:,}", f"{row.accuracy:.1%}") for row in evaluation.per_category]
    _print_table(console, "the bot by category, all splits together", ("category", "messages", "right"), per)
    numbers = [str(i) for i in range(1, len(titles) + 1)]
    matrix = [
        (f"{number} {titles[key]}", *(f"{count:,}" if count else "." for count in row))
        for number, key, row in zip(numbers, evaluation.categories, evaluation.confusion.tolist(), strict=True)
    ]
    title = "confusion, all splits together: rows are true categories, columns predicted ones"
    _print_table(console, title, ("category", *numbers), matrix)
    _print_table(console, "most frequent mistakes", ("right", "predicted", "messages"), _mistakes(evaluation, titles))


def _mistakes(evaluation: Evaluation, titles: dict[str, str], shown: int = 10) -> list[tuple[str, str, str]]:
    counts = [
        (int(evaluation.confusion[i, j]), titles[right], titles[predicted])
        for i, right in enumerate(evaluation.categories)
        for j, predicted in enumerate(evaluation.categories)
        if i != j and evaluation.confusion[i, j]
    ]
    return [(right, predicted, f"{count:,}") for count, right, predicted in sorted(counts, reverse=True)[:shown]]


def _print_table(console: Any, title: str, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1))
    for i, name in enumerate(header):
        table.add_column(name, justify="left" if i == 0 or name in ("column", "predicted") else "right")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(f"\n{title}", style="bold", markup=False, soft_wrap=True)
    console.print(table)
