"""The panel: 28 public data sets of texts whose rows have an observed and a true label.

`SETS[name]()` reads the files at fixed commits: from snapshots of the repositories, `OWNER+NAME/repo` in the folder
named by the environment variable NOISYBAYES_PANEL, or else by a download, which is kept. Most of these repositories
name no license: their data are read and measured, and only figures are stored.

Rows, labels and seeds are those of earlier measurements, so that figures can be compared.
"""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import zipfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import multimode
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import pandas as pd

from noisybayes._files import whole_file
from noisybayes.data.simulate import Array

from .data.datasets import DatasetUnavailableError, downloaded

FOLDER_VARIABLE = "NOISYBAYES_PANEL"
DOWNLOADS = "https://raw.githubusercontent.com"
MAX_ROWS = 5_000  # rows whose true label is known are kept first
SEED = 20261116

AFRICAN = "uds-lsv/transfer-distant-transformer-african@a46ec8e90334c0fb8ee16a690af1aabf927be902"
AMAZON = "Evgeneus/screening-classification-datasets@97a7c73ef5463640264c3177d522d59318f1a7f3"
BIAS = "Media-Bias-Group/llm-annotations-annomatic@d6298d3d4e706005a56ab313dff401a9fd9f4aa1"
CHINESE = "maopademiao/generate_noisy_label@5cd178e05950534c0dbff77c8308089657645868"
DISAGREEMENT = "Le-Wi-Di/le-wi-di.github.io@45d7b06e4c36b59472d6bdf9281f7f1e395eb0e0"
HATE = "t-davidson/hate-speech-and-offensive-language@cb50f7e9eb855a99abc51423bf40df0e26d6fe30"
MANIFESTO = "kbenoit/CSTA-APSR@b42f265983c98ffcb94901b9b66b3ba8e1efdcb8"
MEDICAL = "CrowdTruth/Medical-Relation-Extraction@585c158864f91d7e7666f70d3b705294186e1378"
POLARITY = "fmenat/PyLearningCrowds@0edf617d0357a43b48dc53f10f4181ec0163d4db"
SEMEVAL = "liqinye/SiDyP@1a14b31afb779b5572c15fcba944a4f886a47c3c"
SMOOTHING = "Evgeneus/Label-Smoothing-in-Text-Classification@be93592013ae9548def7eecf82b685702bcb9a42"
SPOUSE = "weakrules/Denoise-multi-weak-sources@c622f69f656d1cbb5936cb182dfcd2d225c24899"
WARMING = "uiuc-kang-lab/llm-annotations@ddb1585038476af3eadb30ab3f02d3ba7b327078"
WRENCH = "JerrryNie/DyGen@41902c324779157a272548a008a6e487f6d81acc"


class PanelSet(NamedTuple):
    texts: list[str]
    given: Array  # (n,) str
    true: Array  # (n,) str, "" where it is not known
    labelers: Array | None = None  # (n,) who gave each label, if that is known


# --- files -----------------------------------------------------------------------------------------------------------


def read(repository: str, path: str) -> bytes:
    """A file of "owner/name@commit": from the snapshot, or else from the cache or the net."""
    name, _, commit = repository.partition("@")
    folder, home = os.environ.get(FOLDER_VARIABLE), name.replace("/", "+")
    if folder:
        return _in_snapshot(Path(folder) / home / "repo", commit, path)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "noisybayes" / "panel"
    cached = cache / home / commit / path
    if not cached.exists():
        _download(f"{DOWNLOADS}/{name}/{commit}/{quote(path)}", cached)
    return cached.read_bytes()


def _in_snapshot(snapshot: Path, commit: str, path: str) -> bytes:
    git = snapshot / ".git" if (snapshot / ".git").exists() else snapshot
    shown = subprocess.run(["git", f"--git-dir={git}", "show", f"{commit}:{path}"], capture_output=True, check=False)
    if shown.returncode:
        raise DatasetUnavailableError(
            f"git cannot read {path!r} at {commit} in {snapshot} ({shown.stderr.decode(errors='replace').strip()}); "
            f"put a clone of that repository there, or unset {FOLDER_VARIABLE} to download the file"
        )
    return shown.stdout


def _download(url: str, cached: Path) -> None:
    content = downloaded(
        url,
        f"put clones of the repositories into a folder, as OWNER+NAME/repo, and set {FOLDER_VARIABLE} to that folder",
    )
    with whole_file(cached) as target:  # an interrupted download must not be taken for a cached file
        target.write_bytes(content)


def csv(repository: str, path: str, **options: Any) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(read(repository, path)), **options)


# --- rows and labels -------------------------------------------------------------------------------------------------


def panel_set(texts: Iterable[Any], given: Iterable[Any], true: Iterable[Any]) -> PanelSet:
    """At most MAX_ROWS rows; labels as text."""
    texts, given, true = (np.array(list(map(str, values)), dtype=object) for values in (texts, given, true))
    kept = _kept(true != "")
    return PanelSet(texts[kept].tolist(), given[kept].astype(str), true[kept].astype(str))


def _kept(known: Array) -> Array:
    """Sorted numbers of the rows to keep: all of the known ones, if possible, and a sample of the others."""
    rng, rows, others = np.random.default_rng(SEED), np.flatnonzero(known), np.flatnonzero(~known)
    rows = rng.permutation(rows)[:MAX_ROWS] if len(rows) > MAX_ROWS else rows
    return np.sort(np.concatenate([rows, rng.permutation(others)[: MAX_ROWS - len(rows)]]))


def _codes(numbers: pd.Series) -> pd.Series:
    """1.0 -> "1", missing -> ""."""
    return numbers.astype("Int64").astype("string").fillna("")


def _one_of(counts: Any, rng: np.random.Generator) -> Array:
    """(n,) the column of one vote, drawn from the (n, K) counts of votes."""
    cumulative = np.cumsum(np.asarray(counts, dtype=np.float64), axis=1)
    return (cumulative / cumulative[:, -1:] <= rng.random(len(cumulative))[:, None]).sum(axis=1)


def _majority(votes: Iterable[Any], rng: np.random.Generator) -> Any:
    """The most frequent vote; a tie is decided by lot."""
    most = sorted(multimode(votes))
    return most[rng.integers(len(most))]


def one_labeler(texts: Any, votes: pd.DataFrame, true: Any) -> PanelSet:
    """The given label is that of one labeler of the row, drawn at random.

    votes : the columns item, which is a position in `texts` and `true`, worker and label
    """
    items = np.unique(votes["item"])
    items = items[_kept(np.ones(len(items), dtype=bool))]
    votes = votes[votes["item"].isin(items)].astype({"worker": str, "label": str}).sort_values(["item", "worker"])
    votes = votes.reset_index(drop=True)
    drawn, rng = [], np.random.default_rng(SEED)
    for _, labels in votes.groupby("item")["label"]:
        drawn.append(labels.index[rng.integers(len(labels))])
        _majority(labels, rng)  # not used, but its draws belong to the seed that the figures before were measured with
    one = votes.loc[drawn]
    found = panel_set([texts[item] for item in items], one["label"], [true[item] for item in items])
    return found._replace(labelers=one["worker"].to_numpy())


# --- labels by rules, distant supervision, a language model, or one of several votes ---------------------------------


def african(language: str) -> PanelSet:
    """Headlines in Hausa or Yoruba, labeled by lists of words; true: manual."""

    def columns(name: str) -> tuple[list[str], list[str]]:
        tsv = read(AFRICAN, f"data/{language}_newsclass/{name}.tsv")
        rows = [line.split("\t") for line in tsv.decode("utf-8").splitlines()[1:]]
        return [row[-2] for row in rows], [row[-1].lower() for row in rows]

    texts, true = columns("train_clean")
    _, given = columns("train_clean_noisy_labels")  # the same rows in the same order
    return panel_set(texts, given, true)


def chinese() -> PanelSet:
    """Hotel reviews, labeled by rules; true: manual."""

    def rows(folder: str) -> list[tuple[str, Any]]:
        parsed = map(json.loads, read(CHINESE, f"data/{folder}/train.json").splitlines())
        return [(row["sentence"], row["label"]) for row in parsed]

    given = {text.strip(): label for text, label in rows("chn")}
    texts, true = zip(*rows("chngolden"), strict=True)
    return panel_set(texts, [given[text.strip()] for text in texts], true)


def wrench(name: str) -> PanelSet:
    """The majority of the rules that fire; true: manual."""
    rows = json.loads(read(WRENCH, f"datasets/{name}/train.json")).values()
    rows = [(row, votes) for row in rows if (votes := [vote for vote in row["weak_labels"] if vote != -1])]
    rng = np.random.default_rng(0)
    given = [_majority(votes, rng) for _, votes in rows]
    return panel_set([row["data"]["text"] for row, _ in rows], given, [row["label"] for row, _ in rows])


def language_model(repository: str, path: str, text: str, given: str, true: str) -> PanelSet:
    """Labels by Mixtral 8x22B (semeval-llm) or GPT-3.5, without fine-tuning; true: people."""
    rows = csv(repository, path).drop_duplicates(text)
    rows = rows[rows[given].isin(rows[true])]  # some answers are no class
    return panel_set(rows[text], rows[given], rows[true])


def hate_speech() -> PanelSet:
    """One of at least three votes; true: their majority."""
    rows = csv(HATE, "data/labeled_data.csv").sample(frac=1, random_state=0)
    given = _one_of(rows[["hate_speech", "offensive_language", "neither"]], np.random.default_rng(0))
    n = 6_000
    return panel_set(rows["tweet"][:n], given[:n], rows["class"][:n])


# --- labels by people; rules, distant supervision and language models against people ---------------------------------


def figure_eight(name: str, parts: tuple[str, ...] = ("train", "val", "test")) -> PanelSet:
    """The weighted majority of a crowd; true: the authors of the repository labeled the test part again."""
    folder = "data/from-figure-eight/unbalanced-test-data/raw"
    number, _, title = name.partition("_")
    rows = pd.concat(
        [csv(SMOOTHING, f"{folder}/{number}_raw_{part}_{title}.csv") for part in parts], ignore_index=True
    ).dropna(subset="text")
    # parts share texts, and there are retweets: of equal texts, a checked one stays
    rows = rows.sort_values("gold_label", key=pd.isna, kind="stable").drop_duplicates("text").sort_index()
    return panel_set(rows["text"], _codes(rows["crowd_label"]), _codes(rows["gold_label"]))


def movie_reviews() -> PanelSet:
    """The majority of about five labelers; true: the critic's rating in three bins."""

    def rows(folder: str, name: str) -> pd.DataFrame:
        path = f"data/datasets-with-crowd-votes/11.Movie Reviews/raw/Splitted_{folder}/{name}"
        parts = [csv(SMOOTHING, f"{path}_{part}.csv") for part in ("train", "val")]
        return pd.concat(parts).drop_duplicates("text")[["text", "crowd_label" if name == "MV" else "gold_label"]]

    both = rows("MV", "MV").merge(rows("Gold", "gold"), on="text")
    return panel_set(both["text"], _codes(both["crowd_label"]), _codes(both["gold_label"]))


def medical_distant(relation: str) -> PanelSet:
    """Whether a sentence states the relation, by distant supervision; true: experts, twice where a crowd disagreed."""
    rows = csv(MEDICAL, f"ground_truth_{relation}.csv")
    checked = rows["test_partition"].fillna(0)
    true = np.select([checked > 0, checked < 0], [relation, "no"], "")
    return panel_set(rows["sentence"], np.where(rows["baseline"] > 0, relation, "no"), true)


def medical_crowd(relation: str) -> PanelSet:
    """One labeler of about fifteen; true: as in `medical_distant`."""
    rows = csv(MEDICAL, f"ground_truth_{relation}.csv")
    rows = rows[rows["test_partition"].fillna(0) != 0].drop_duplicates("SID").reset_index(drop=True)
    item = pd.Series(rows.index, rows["SID"].astype(str))
    columns = ["sent_id", "_worker_id", "relations"]
    batches = [csv(MEDICAL, f"raw/RelEx/RelEx_batch_{n:02}.csv", dtype=str, encoding="latin1") for n in range(1, 47)]
    votes = pd.concat([batch[columns] for batch in batches]).dropna(subset="relations")
    votes["item"] = votes["sent_id"].str.replace(r"-FS\d+$", "", regex=True).map(item)
    votes = votes.dropna(subset="item").drop_duplicates(["item", "_worker_id"]).rename(columns={"_worker_id": "worker"})
    word = {"cause": "CAUSES", "treat": "TREATS"}[relation]
    votes["label"] = np.where(votes["relations"].str.contains(word), relation, "no")
    return one_labeler(
        rows["sentence"], votes.astype({"item": int}), np.where(rows["test_partition"] > 0, relation, "no")
    )


def spouse() -> PanelSet:
    """Whether two persons are married, by the majority of nine rules; true: manual.

    A text is what stands between the two and five words on either side, with PERSON1 and PERSON2 for their names.
    """
    rng, rows = np.random.default_rng(SEED), {}
    for row in csv(SPOUSE, "dataset/spouse/test_spouse_snorkel.csv").to_dict("records"):
        votes = [vote for column, vote in row.items() if column.startswith("LF") and vote != -1]
        words = ast.literal_eval(row["tokens"])
        people = [(*ast.literal_eval(row[f"person{n}_word_idx"]), f"PERSON{n}") for n in (1, 2)]
        (start, end, one), (next_start, next_end, other) = sorted(people, key=lambda person: person[0])
        before, between = words[max(0, start - 5) : start], words[end + 1 : next_start]
        text = " ".join([*before, one, *between, other, *words[next_end + 1 : next_end + 6]])
        if votes and text not in rows:
            rows[text] = int(_majority(votes, rng)), int(row["label"])
    return panel_set(rows, *zip(*rows.values(), strict=True))


def manifestos() -> PanelSet:
    """Economic or social, by one coder of a crowd, drawn from the counts; true: the majority of at least three experts.

    Only sentences to which both sides gave one of the two: counts of "neither" are not in the file.
    """
    dates = ("10-28", "10-29", "10-30", "10-31", "11-10")
    parts = [csv(MANIFESTO, f"02 Create a New CF job/data_for_CF_2013-{date}.csv", encoding="latin1") for date in dates]
    texts = pd.concat(parts).drop_duplicates("sentenceid", keep="last").set_index("sentenceid")["sentence_text"]
    with zipfile.ZipFile(io.BytesIO(read(MANIFESTO, "Data - Created/coding_all_wide.zip"))) as archive:
        coded = pd.read_stata(io.BytesIO(archive.read("coding_all_wide_2014-03-14.dta")))
    coded = coded[coded["sentenceid"].isin(texts.index)].astype({"scale": str})
    counts = coded.pivot_table(index="sentenceid", columns="scale", aggfunc="sum",
                               values=["NcodedCrowd", "NcodedExperts"]).fillna(0)  # fmt: skip
    sides = np.array(["Economic", "Social"])
    crowd, experts = counts["NcodedCrowd"][sides], counts["NcodedExperts"][sides]
    clear = (experts.sum(axis=1) >= 3) & (experts["Economic"] != experts["Social"]) & (crowd.sum(axis=1) > 0)
    given = _one_of(crowd[clear], np.random.default_rng(SEED))
    true = experts[clear].to_numpy().argmax(axis=1)
    return panel_set(texts[clear.index[clear].astype(int)], sides[given], sides[true])


def amazon_negative() -> PanelSet:
    """Whether a review is negative, by one labeler, drawn from the counts; true: one star, not five."""
    folder = "crowdsourced-amazon-sentiment-dataset/data"
    rows = csv(AMAZON, f"{folder}/1k_amazon_reviews_crowdsourced_transformed.csv")
    counts = rows[["is_negative_in", "is_negative_out"]]
    rows, counts = rows[counts.sum(axis=1) > 0], counts[counts.sum(axis=1) > 0]
    return panel_set(rows["text"], 1 - _one_of(counts, np.random.default_rng(SEED)), rows["is_negative"])


def polarity() -> PanelSet:
    """Sentences of film reviews, by one labeler of about five; true: the rating of the review."""
    answers = np.loadtxt(io.BytesIO(read(POLARITY, "data/Sentiment/answers.txt")), dtype=int)  # (n, workers), -1: none
    true = np.loadtxt(io.BytesIO(read(POLARITY, "data/Sentiment/Sentiment_Z_train.txt")), dtype=int)
    texts = read(POLARITY, "data/Sentiment/Sentiment_text_train.txt").decode("utf-8").split("\n")
    item, worker = np.nonzero(answers != -1)
    return one_labeler(texts, pd.DataFrame({"item": item, "worker": worker, "label": answers[item, worker]}), true)


def disagreement(name: str) -> PanelSet:
    """One labeler of five or six; true: the majority of the same labelers. Ties are left out."""
    texts, votes, true = [], [], []
    for part in ("train", "dev", "test"):
        rows = json.loads(read(DISAGREEMENT, f"LeWiDi_2-2023/{name}_dataset/{name}_{part}.json"))
        for row in rows.values():
            labels = [int(float(label)) for label in row["annotations"].split(",")]
            most = multimode(labels)
            if len(most) == 1:
                workers = map(str.strip, row["annotators"].split(","))
                votes += [(len(texts), worker, label) for worker, label in zip(workers, labels, strict=True)]
                texts.append(row["text"])
                true.append(most[0])
    return one_labeler(texts, pd.DataFrame(votes, columns=["item", "worker", "label"]), true)


#: The train parts of these two are too large for snapshots; they are not downloaded either, so that rows are the same.
_WITHOUT_TRAIN = ("val", "test")
WEAK: dict[str, Callable[[], PanelSet]] = {
    "hausa": partial(african, "hausa"),
    "yoruba": partial(african, "yoruba"),
    "chinese": chinese,
    **{name: partial(wrench, name) for name in ("youtube", "sms", "trec", "semeval")},
    "semeval-llm": partial(language_model, SEMEVAL, "datasets/llm/fewshot/mixtral822/semeval_train.csv",
                           "original_sent", "noisy_label", "true_label"),
    "hatespeech": hate_speech,
}  # fmt: skip
HUMAN: dict[str, Callable[[], PanelSet]] = {
    "f8-gop-relevance": partial(figure_eight, "1_gop_sentiment_binary"),
    "f8-disaster": partial(figure_eight, "2_disaster_relevance_binary"),
    "f8-chem-disease": partial(figure_eight, "3_chemicals&disease_binary"),
    "f8-econ-news": partial(figure_eight, "4_economic_news_binary", _WITHOUT_TRAIN),
    "f8-gop-sentiment": partial(figure_eight, "6_gop_rel_only_mclass"),
    "f8-india-deaths": partial(figure_eight, "9_deaths_in_india_satp_mclass", _WITHOUT_TRAIN),
    "movie-mv": movie_reviews,
    "med-cause-distant": partial(medical_distant, "cause"),
    "med-treat-distant": partial(medical_distant, "treat"),
    "spouse-rules": spouse,
    "manifesto-one": manifestos,
    "amazon-negative-one": amazon_negative,
    # is the sentence biased? does it agree that global warming is serious?
    "babe-gpt35": partial(language_model, BIAS, "benchmark/zero-shot/all_runs_with_errors.csv",
                          "text", "gpt_3_5_label", "label"),
    "warming-gpt": partial(language_model, WARMING, "datasets/global_warming/global_warming.csv",
                           "data_entry", "gpt_label", "gold_label"),
    "polarity": polarity,
    "med-cause-crowd": partial(medical_crowd, "cause"),
    "med-treat-crowd": partial(medical_crowd, "treat"),
    "md-agreement": partial(disagreement, "MD-Agreement"),
    "hs-brexit": partial(disagreement, "HS-Brexit"),
}  # fmt: skip
SETS = {**WEAK, **HUMAN}
GROUPS = {"weak": tuple(WEAK), "human": tuple(HUMAN)}
