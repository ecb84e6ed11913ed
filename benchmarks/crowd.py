"""Who or what gave the labels: several labels of a row, labelers, weeks and channels, a model's second opinion.

Every part compares audits with a truth that they never see: how often the consensus is right, how often the 90 %
intervals of differences between groups cover the true ones, and how much better the wrong labels are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict

from noisybayes import audit
from noisybayes._extras import require
from noisybayes.data.simulate import Array, simulate

from .data.datasets import newsgroups, noisy_ag_news
from .data.simulated_labelers import label_by, labels_of, make_labelers
from .panel_sets import BIAS, SETS, csv
from .result_files import Row, store_rows, table

OURS = "noisybayes"
DATASETS = ("20 Newsgroups", "NoisyAG-News", "the example data")
N_ROWS, N_LABELERS = 2_000, 20
N_LABELS = (1, 2, 3, 5)
#: Labelers of tables have from 20 to 2,000 rows, and are shown in groups by their number of rows.
SIZES = (20, 60, 300, 2_000)
#: Features, classes, how far the labelers of tables differ from their mean.
TABLES = {
    "4 classes": (100, 4, 1.0), "8 classes": (100, 8, 1.0), "4 classes, few features": (50, 4, 1.0),
    "4 classes, labelers are alike": (100, 4, 0.0),
}  # fmt: skip
#: How far the labelers of texts differ from their mean, and how many times as many rows the busiest one has.
CASES = {"labelers differ": 1.0, "labelers differ half as much": 0.5, "labelers are alike": 0.0}
_SPREAD = 20.0
N_WEEKS = 12
_CHANNELS = {"app": 0.05, "mail": 0.1, "phone": 0.35, "web": 0.15}
#: Sets of the panel that say who gave each label.
PEOPLE = ("polarity", "md-agreement", "hs-brexit", "med-cause-crowd", "med-treat-crowd")
#: Language models whose labels are a second opinion on those of GPT-3.5 (sentences of news: biased or not).
MODELS = ("gpt_4", "flan_ul2", "openchat", "mistral_7b", "llama_13b", "flan_t5_base")
FILES = {"several": "crowd.csv", "groups": "groups.csv", "opinions": "opinions.csv"}
_KEYS = {"several": ("dataset", "seed", "method"), "groups": ("seed",), "opinions": ("set", "opinion")}


@cache
def _source(name: str) -> tuple[list[str], Array]:
    if name == "20 Newsgroups":
        groups = newsgroups()
        return groups.texts, np.asarray(groups.labels)
    if name == "NoisyAG-News":
        news = noisy_ag_news()
        return news.texts + news.test_texts, np.concatenate([news.true, news.test_true])
    frame = pl.read_csv(Path("examples") / "dealership.csv")
    return frame["message"].to_list(), frame["true_label"].to_numpy()


def texts_of(name: str, seed: int) -> tuple[list[str], Array]:
    """Some of the texts, two thirds of a small set, and the codes of their true labels."""
    texts, labels = _source(name)
    order = np.random.default_rng(seed).permutation(len(texts))
    rows = order[min(1_000, len(order) // 3) :][:N_ROWS]
    return [texts[i] for i in rows], np.unique(labels, return_inverse=True)[1][rows]


# --- several labels of a row: labels (n, G) with -1 where there is none, texts -> (n,) codes --------------------------


def ours(given: Array, texts: list[str]) -> Array:
    columns = {f"labeler {g}": [None if code < 0 else f"{code:04}" for code in said] for g, said in enumerate(given.T)}
    frame = pl.DataFrame({"text": texts, **columns}, schema_overrides=dict.fromkeys(columns, pl.String))
    consensus = audit(frame, label=list(columns), text="text").consensus
    assert consensus is not None
    return consensus["consensus"].astype(int).to_numpy()


def majority_vote(given: Array, texts: list[str]) -> Array:
    """Ties go to the first label."""
    return np.asarray(np.stack([(given == k).sum(axis=1) for k in range(given.max() + 1)], axis=1).argmax(axis=1))


def cleanlab(given: Array, texts: list[str]) -> Array:
    """With out-of-fold probabilities of logistic regression, trained on the majority vote."""
    library = require("cleanlab.multiannotator", extra="bench", purpose="the comparison with cleanlab")
    vote = majority_vote(given, texts)
    if (given >= 0).sum(axis=1).max() == 1:  # as its documentation advises: there is nothing to agree on
        return vote
    X = TfidfVectorizer(min_df=2, sublinear_tf=True).fit_transform(texts)
    classifier, proba = LogisticRegression(max_iter=200, C=10.0), np.zeros((len(given), given.max() + 1))
    proba[:, np.unique(vote)] = cross_val_predict(classifier, X, vote, method="predict_proba", cv=5)
    labels = pd.DataFrame(np.where(given >= 0, given, np.nan))
    quality = library.get_label_quality_multiannotator(labels, proba, verbose=False)
    return np.asarray(quality["label_quality"]["consensus_label"], dtype=int)


def _crowd_kit(name: str, **settings: Any) -> Callable[[Array, list[str]], Array]:
    def consensus(given: Array, texts: list[str]) -> Array:
        library = require("crowdkit.aggregation", extra="crowd", purpose="the comparison with crowd-kit")
        row, labeler = np.nonzero(given >= 0)
        lines = pd.DataFrame({"task": row, "worker": labeler, "label": given[row, labeler]})
        return np.asarray(getattr(library, name)(**settings).fit_predict(lines).sort_index(), dtype=int)

    return consensus


METHODS: dict[str, Callable[[Array, list[str]], Array]] = {
    OURS: ours, "majority vote": majority_vote, "Dawid-Skene (crowd-kit)": _crowd_kit("DawidSkene", n_iter=100),
    "GLAD (crowd-kit)": _crowd_kit("GLAD"), "MACE (crowd-kit)": _crowd_kit("MACE", random_state=0),
    "cleanlab": cleanlab,
}  # fmt: skip


def several(seed: int, methods: Sequence[str]) -> Iterator[Row]:
    for name in DATASETS:
        (texts, true), rng = texts_of(name, seed), np.random.default_rng(seed)
        matrices = make_labelers(N_LABELERS, int(true.max()) + 1, rng)
        for n_labels in N_LABELS:
            given = label_by(matrices, true, n_labels, rng)
            for method in methods:
                right = METHODS[method](given, texts) == true
                yield {"dataset": name, "n_labels": n_labels, "seed": seed, "method": method,
                       "consensus_accuracy": float(right.mean())}  # fmt: skip


# --- one label of a row, by groups ------------------------------------------------------------------------------------


def groups(seed: int) -> Iterator[Row]:
    yield from people() if seed == 0 else ()
    for case, (d, K, difference) in TABLES.items():
        rng = np.random.default_rng(seed)
        n_rows = rng.permutation(np.geomspace(SIZES[0], SIZES[-1], N_LABELERS).astype(int))
        who = rng.permutation(np.repeat(np.arange(N_LABELERS), n_rows))
        data = simulate(len(who), n_features=d, n_classes=K, diagonal=(1.0, 1.0), random_state=seed)
        matrices = _apart(make_labelers(N_LABELERS, K, rng), difference)
        given, names = labels_of(matrices, who, data.true, rng), [f"x{j}" for j in range(d)]
        frame = pl.DataFrame(data.X.astype(np.int8), schema=names)
        rate = 1.0 - np.diagonal(matrices, axis1=1, axis2=2) @ data.class_prior
        yield from _compared("labelers of tables", case, seed, frame, {"binary": names}, given, data.true, who, rate)
    for name in DATASETS:
        texts, true = texts_of(name, seed)
        K, n, frame = int(true.max()) + 1, len(true), pl.DataFrame({"text": texts})
        for case, difference in CASES.items():
            rng = np.random.default_rng(seed)
            matrices = _apart(make_labelers(N_LABELERS, K, rng), difference)
            share = np.geomspace(1.0, _SPREAD, N_LABELERS)
            who = rng.choice(N_LABELERS, size=n, p=share / share.sum())
            given = labels_of(matrices, who, true, rng)
            rate = 1.0 - np.diagonal(matrices, axis1=1, axis2=2) @ (np.bincount(true) / n)
            yield from _compared("labelers", f"{name}, {case}", seed, frame, {"text": "text"}, given, true, who, rate)
        falling = 0.05 + 0.45 * np.exp(-np.arange(N_WEEKS) / 3.0)
        channels = np.array(list(_CHANNELS.values()))
        for kind, case, rate in (
            ("weeks", "mistakes fall over time", falling), ("channels", "channels differ", channels),
            ("weeks", "mistakes do not depend on time", np.full(N_WEEKS, falling.mean())),
            ("channels", "channels are alike", np.full(len(channels), channels.mean())),
        ):  # fmt: skip
            rng = np.random.default_rng(seed)
            who = rng.integers(len(rate), size=n)
            given = np.where(rng.random(n) < rate[who], (true + rng.integers(1, K, size=n)) % K, true)
            yield from _compared(kind, f"{name}, {case}", seed, frame, {"text": "text"}, given, true, who, rate)


def people() -> Iterator[Row]:
    """Labels by real people, one drawn for each row; groups with fewer than 20 labels do not count."""
    for name in PEOPLE:
        data = SETS[name]()
        _, codes = np.unique(np.concatenate([data.given, data.true]), return_inverse=True)
        given, true = np.split(codes, 2)
        who = np.unique(data.labelers, return_inverse=True)[1]
        rate = np.bincount(who, given != true) / np.bincount(who)
        frame = pl.DataFrame({"text": data.texts})
        yield from _compared("people", name, 0, frame, {"text": "text"}, given, true, who, rate)


def _apart(matrices: Array, difference: float) -> Array:
    mean = matrices.mean(axis=0)
    return np.asarray(mean + difference * (matrices - mean))


def _compared(
    kind: str, case: str, seed: int, frame: pl.DataFrame, features: Mapping[str, Any], given: Array, true: Array,
    who: Array, rate: Array,
) -> Iterator[Row]:  # fmt: skip
    """A row for each size of groups. who : (n,) group of each row; rate : (G,) of wrong labels"""
    frame = frame.with_columns(label=pl.Series([f"{k:04}" for k in given]), who=pl.Series([f"g{g:04}" for g in who]))
    if kind == "weeks":  # as dates, which are cut into these weeks
        frame = frame.with_columns(who=pl.Series([date(2024, 1, 1) + timedelta(days=7 * int(w)) for w in who]))
    role = "source" if kind in ("weeks", "channels") else "labeler"
    alone, known = (audit(frame, label="label", **features, **by) for by in ({}, {role: "who"}))
    ap = [average_precision_score(given != true, one.table["p_wrong"]) for one in (alone, known)]
    assert known.groups is not None
    found = known.groups.sort_values("group")
    n, total = np.bincount(who, minlength=len(rate)), float(rate[who].sum())
    rate, n = rate[n > 0], n[n > 0]
    difference = rate - (total - n * rate) / (len(who) - n)
    low, high, middle = (found[name].astype(float).to_numpy() for name in ("low", "high", "difference"))
    edges = list(pairwise(SIZES)) if kind == "labelers of tables" else [(0, len(who))]
    for fewest, most in edges:
        mine = (n > fewest - (fewest == SIZES[0])) & (n <= most) & ~np.isnan(low)
        yield {
            "kind": kind, "case": case, "rows": f"{fewest} to {most}" if fewest else "", "seed": seed,
            "groups": int(mine.sum()), "covered": float(((low <= difference) & (difference <= high))[mine].mean()),
            "width": float((high - low)[mine].mean()), "off_by": float(np.abs(middle - difference)[mine].mean()),
            "rate_off_by": float(np.abs(found["rate"].astype(float).to_numpy() - rate)[mine].mean()),
            "ap_without": ap[0], "ap_with": ap[1],
        }  # fmt: skip


# --- a model's labels as second opinion -------------------------------------------------------------------------------


def opinions() -> Iterator[Row]:
    sentences = csv(BIAS, "benchmark/zero-shot/all_runs_with_errors.csv").drop_duplicates("text")
    names = {name: sentences[f"{name}_label"].astype(str).to_numpy() for name in ("gpt_3_5", *MODELS)}
    texts, people = sentences["text"].tolist(), sentences["label"].astype(str).to_numpy()
    for name in MODELS:
        yield _with_opinion("babe", "GPT-3.5", name, texts, names["gpt_3_5"], people, names[name])
    turned = np.where(people == "1", "0", "1")
    mistaken = np.where(np.random.default_rng(0).random(len(people)) < 0.2, turned, people)
    yield _with_opinion("babe", "people, 20 % turned around", "gpt_4", texts, mistaken, people, names["gpt_4"])
    rules, model = SETS["semeval"](), SETS["semeval-llm"]()
    for one, other, labels, opinion in ((rules, model, "rules", "mixtral"), (model, rules, "mixtral", "rules")):
        said = dict(zip(other.texts, other.given.tolist(), strict=True))
        yield _with_opinion(
            "semeval", labels, opinion, one.texts, one.given, one.true, np.array([said.get(text) for text in one.texts])
        )


def _with_opinion(
    name: str, labels: str, opinion: str, texts: list[str], given: Array, true: Array, said: Array
) -> Row:  # fmt: skip
    frame = pl.DataFrame({"text": texts, "label": given.tolist(), "opinion": said.tolist()})
    ap = [
        float(average_precision_score(given != true, audit(frame, label="label", text="text", **by).table["p_wrong"]))
        for by in ({}, {"second_opinion": "opinion"})
    ]
    return {
        "set": name, "labels": labels, "opinion": opinion, "labels_wrong": float((given != true).mean()),
        "opinion_wrong": float((said != true).mean()), "ap_without": ap[0], "ap_with": ap[1],
    }  # fmt: skip


# --- rows and page ----------------------------------------------------------------------------------------------------


def run(parts: Sequence[str], methods: Sequence[str], seeds: range, results: Path) -> Iterator[str]:
    """A line for each part and seed, whose earlier rows are replaced."""
    measured = {"several": partial(several, methods=methods), "groups": groups, "opinions": lambda seed: opinions()}
    for part in parts:
        for seed in seeds if part != "opinions" else range(1):
            rows = list(measured[part](seed))
            store_rows(results / FILES[part], rows, _KEYS[part])
            yield f"{part}, seed {seed}: {len(rows)} rows"


def render_page(root: Path) -> str:
    votes, by_group, second = (pd.read_csv(root / "results" / name) for name in FILES.values())
    accuracy = votes.pivot_table(
        index=["dataset", "n_labels"], columns="method", values="consensus_accuracy", sort=False
    )
    accuracy = accuracy[[name for name in METHODS if name in accuracy]]
    lead = 100 * (accuracy[OURS] - accuracy.drop(columns=OURS).max(axis=1))
    means = by_group.fillna({"rows": ""}).groupby(["kind", "case", "rows"], sort=False).mean(numeric_only=True)
    columns = ["covered", "width", "off_by", "rate_off_by", "ap_without", "ap_with"]
    lines = [[*index, *(f"{value:.3f}" for value in values)] for index, values in means[columns].iterrows()]
    lines_of_opinions = [
        [*one[:3], *(f"{value:.3f}" for value in one[3:])] for one in second.itertuples(index=False, name=None)
    ]
    return f"""# Who gave the labels: measured

This page is generated by `python -m benchmarks crowd` from the rows in [results/](../results); no number was typed by
hand. [How to](howto-who-labeled.md)

## Several labels of a row

{N_LABELERS} simulated labelers (good, careless, biased towards one class, some who swap two classes, some who label at
random) label up to {N_ROWS:,} texts with known labels; each text gets 1 to 5 labels. Share of rows for which the
combined label is the true one ({votes.seed.nunique()} seeds). {OURS} beats the best other method in
{(lead > 0).sum()} of {len(lead)} cases, by {lead.min():+.1f} to {lead.max():+.1f} points. crowd-kit uses the labels
only; cleanlab also uses logistic regression trained on the majority vote.

{_accuracies(accuracy)}

## Labelers, weeks and channels

One label of a row ({by_group.seed.nunique()} seeds). Tables: {N_LABELERS} labelers of the same kinds with 20 to 2,000
rows each, a third of all labels wrong; texts: the busiest labeler has {_SPREAD:.0f} times as many rows as the least
busy; people: sets of the panel whose labelers are known. How often the 90 % interval of a group's difference from all
others covers the true one, its width, the mean error of the difference and of the rate; then the average precision of
P(wrong) without and with the column.

{table(["groups", "case", "rows", "covered", "width", "error", "error of the rate", "AP without", "AP with"], lines)}

## A second opinion

Labels of sentences by one language model or by rules, another model's labels as second opinion, the truth by people.

{table(["set", "labels", "opinion", "labels wrong", "opinion wrong", "AP without", "AP with"], lines_of_opinions)}
"""


def write_page(root: Path) -> Path:
    path = root / "docs" / "crowd.md"
    path.write_text(render_page(root), encoding="utf-8")
    return path


def _accuracies(means: pd.DataFrame) -> str:
    lines = []
    for case, values in means.iterrows():
        cells = (f"**{value:.3f}**" if value == values.max() else f"{value:.3f}" for value in values)
        lines.append([*case, *cells])  # type: ignore[misc]
    return table(["texts", "labels per row", *means], lines)
