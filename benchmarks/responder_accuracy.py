"""The auto-responder on the Live Streaming dialogs: features from raw text, and answers learned from noisy labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .data.datasets import live_streaming_file
from .result_files import Row, table

CONFIG = "cars_zh"
_WORST = 6


def measure(reps: int = 20, seed: int = 0) -> Iterator[Row]:
    from noisybayes.bot import load_config  # imported here: other experiments do not need the extra
    from noisybayes.bot.evaluate import evaluate

    evaluation = evaluate(load_config(CONFIG), live_streaming_file(), reps=reps, seed=seed)
    yield _row("size", "messages", evaluation.messages)
    yield _row("size", "dialogs", evaluation.dialogs)
    yield _row("size", "splits", evaluation.reps)
    for feature in evaluation.agreements:
        yield _row("feature", feature.feature, feature.agreement, count=feature.given, ours=feature.ours)
    for method in evaluation.methods:
        yield _row("method", method.name, method.accuracy, spread=method.spread)
    for step in evaluation.answered:
        yield _row("threshold", f"{step.threshold:g}", step.share, accuracy=step.accuracy)
    for category in evaluation.per_category:
        yield _row("category", category.category, category.accuracy, count=category.messages)


def _row(kind: str, name: str, value: float, **more: Any) -> Row:
    columns = {"count": "", "ours": "", "spread": "", "accuracy": ""}
    return {"kind": kind, "name": name, "value": value, **columns, **more}


def page(rows: list[Row]) -> str:
    kinds = dict.fromkeys(row["kind"] for row in rows)
    of_kind = {kind: [row for row in rows if row["kind"] == kind] for kind in (*kinds, "feature")}
    size = {row["name"]: row["value"] for row in of_kind["size"]}
    features = sorted(of_kind["feature"], key=lambda row: row["value"])
    worst = [[row["name"], row["count"], row["ours"], _percent(row["value"])] for row in features[:_WORST]]
    methods = [[row["name"], f"{_percent(row['value'])} ± {100 * row['spread']:.1f}"] for row in of_kind["method"]]
    steps = [[row["name"], _percent(row["value"]), _percent(row["accuracy"])] for row in of_kind["threshold"]]
    categories = [[row["name"], row["count"], _percent(row["value"])] for row in of_kind["category"]]
    mean = float(np.mean([row["value"] for row in features])) if features else None
    least = sum(row["value"] >= 0.95 for row in features)
    return f"""## The auto-responder

The Live Streaming dialogs ({size["messages"]:,} messages, {size["dialogs"]:,} dialogs), read as raw text by the
configuration `{CONFIG}`. {size["splits"]} random splits by dialog, 80 % for training; accuracy against the experts'
labels, in % (mean and standard deviation over the splits). Methods are trained on the volunteers' labels unless stated
otherwise; "the labels themselves" are the volunteers'.

{table(["method", "accuracy"], methods)}

The {len(features)} features extracted from the text match the given ones for {_percent(mean)} % of the messages on
average; {least} of them match for at least 95 %. The rules were written while looking at half of these dialogs, so the
agreement on other dialogs may be lower. The worst:

{table(["feature", "given", "found", "equal, %"], worst)}

"As it answers" is lower because the conditions of the categories follow the paper's table of replies, while the experts
often asked for contact details instead. The figures below are those of the model without these conditions.

The bot hands over to a person below its threshold (the configured one was chosen by looking at these figures):

{table(["threshold", "answered, %", "right among these, %"], steps)}

By category, all splits together:

{table(["category", "messages", "right, %"], categories)}

Repeat with `python -m benchmarks bot`, or with `noisybayes bot evaluate FILE --config {CONFIG}`.
"""


def _percent(share: Any) -> str:
    return f"{100 * share:.1f}" if isinstance(share, int | float) else "–"
