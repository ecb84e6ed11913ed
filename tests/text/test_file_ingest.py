"""A file in batches gives the features, the labels and the notes of the same table in memory."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from noisybayes._files import DiskError, scratch_folder
from noisybayes.auditing.table_features import encode_labels
from noisybayes.data.batches import Batches
from noisybayes.data.errors import InputError
from noisybayes.data.read import read_table, write_table
from noisybayes.data.roles import Roles
from noisybayes.dataset import Shards
from noisybayes.text import features, tally
from noisybayes.text.features import Recipe
from noisybayes.text.file_ingest import ingest
from noisybayes.text.vocabulary import TextSettings

from ..simulated_messages import write_messages

TEXT = Roles("label", ("text",), (), (), (), None, None)
ALL = Roles("label", ("text", "other text"), ("colour",), ("price", "one"), ("urgent", "paid"), None, "checked")


def in_memory(path, roles, settings=None, missing_label=None):
    frame = read_table(path)
    (classes, observed, known), notes = encode_labels(frame, roles, missing_label)
    names = np.array([*classes, None], dtype=object)  # the last one is for no label: K, or -1
    labels, verified = names[observed], None if known is None else names[known]
    recipe, features = Recipe.fit(frame, roles, settings)
    return recipe, features.X, labels, verified, (*notes, *recipe.notes)


def check_law(path, folder, roles, settings=None, missing_label=None, rows=7):
    recipe, X, labels, verified, notes = in_memory(path, roles, settings, missing_label)
    found = ingest(Batches(path, rows=rows), roles, folder, settings, missing_label=missing_label)
    shards = Shards.write(folder / "rows", found.blocks, found.n_columns, found.dtype)
    assert json.dumps(found.recipe.to_dict()) == json.dumps(recipe.to_dict())
    assert found.recipe.blocks == recipe.blocks
    assert found.notes == notes
    assert found.n_rows == len(labels) == len(shards)
    matrix = sparse.vstack(list(shards), format="csr")
    assert matrix.shape == X.shape
    for part in ("indptr", "indices", "data"):
        assert getattr(matrix, part).tolist() == getattr(X, part).tolist()
    assert decoded(found.labels, found.classes) == labels.tolist()
    assert (found.verified is None) == (verified is None)
    if verified is not None:
        assert decoded(found.verified, found.classes) == verified.tolist()
    assert list(found.classes) == sorted(set(labels.tolist()) - {None})
    assert not (folder / "coded").exists()


def decoded(codes, classes):
    return [None if code < 0 else classes[code] for code in codes.tolist()]


def random_table(n, rng):
    words = [f"w{i}" for i in range(60)] + ["Ünï", "naïve", "été", "ab_1", "42"]
    text = [" ".join(rng.choice(words, rng.integers(0, 12)) if rng.random() > 0.05 else []) for _ in range(n)]
    pick = lambda values: rng.choice(np.array(values, dtype=object), n).tolist()  # noqa: E731
    price = [None if rng.random() < 0.1 else f" {rng.normal():.3g}" for _ in range(n)]
    return pl.DataFrame(
        {
            "text": text,
            "other text": pick(["yes please", "no, thank you", "maybe", None, "!"]),
            "colour": [f"colour {i}" if i else None for i in rng.geometric(0.01, n) // 2],
            "price": price,
            "one": ["1"] * n,
            "urgent": pick(["yes", "No", "NA", "1", "0.0"]),
            "paid": pick([True, False]),
            "label": pick(["a ", "b", "c", "A", "?", None]),
            "checked": pick([None, None, None, "a", "?"]),
        },
        schema_overrides={"colour": pl.String, "paid": pl.Boolean},
    )


@pytest.mark.parametrize(
    ("format", "n", "rows", "choice"),
    [
        ("csv", 40, 1, {}),
        ("jsonl", 99, 7, {"ngrams": 2}),
        ("parquet", 300, 90, {"max_words": 10}),
        ("csv", 300, 1_000, {"max_words": 3, "ngrams": 2, "weighting": "binary"}),
        ("csv", 400, 13, {"min_df": 30, "max_df": 0.09}),
    ],
)
def test_all_kinds_of_columns_and_settings(tmp_path, monkeypatch, n, rows, format, choice):
    monkeypatch.setattr(tally, "_FEW", 100)  # words are added up often
    monkeypatch.setattr(features, "_MANY_ROWS", 299)  # in single precision
    path, frame = tmp_path / f"a.{format}", random_table(n, np.random.default_rng(n))
    if format == "jsonl":
        frame.with_columns(pl.col("price").str.strip_chars().cast(pl.Float64)).write_ndjson(path)
    else:
        write_table(frame, path, format)
    roles = ALL._replace(text=("text",)) if "min_df" in choice else ALL
    check_law(path, tmp_path / "made", roles, TextSettings(**choice), missing_label="?", rows=rows)


@pytest.mark.parametrize("late", ["你好多少钱", "いくらですか"])
def test_a_script_that_comes_late(tmp_path, late):
    texts = ["hello there"] * 50 + [f"{late}{i % 7}" for i in range(500)]
    frame = pl.DataFrame({"text": texts, "label": ["a", "b"] * 275})
    write_table(frame, tmp_path / "a.csv", "csv")
    check_law(tmp_path / "a.csv", tmp_path / "made", TEXT, rows=30)


@pytest.mark.parametrize(
    ("roles", "choice", "said"),
    [
        (TEXT._replace(numeric=("price",)), {}, "row 34: 'bad' in the column 'price' is not a number"),
        (TEXT._replace(binary=("urgent",)), {}, "row 34: 'bad' in the column 'urgent' is neither yes nor no"),
        (TEXT._replace(verified="checked"), {}, "row 34: the verified label 'bad' in the column 'checked' is not one"),
        (TEXT._replace(text=()), {}, "there is no column to learn from; choose one with --text"),
        (TEXT._replace(text=("marks",)), {}, "the texts in the column 'marks' contain no words"),
        (TEXT._replace(text=(), numeric=("one",)), {}, "contain only one value each"),
        (TEXT._replace(label="empty"), {}, "'empty'"),
        (TEXT._replace(label="own"), {}, "'own'"),
        (TEXT, {"min_df": 500}, "lower min_df or raise max_df"),
    ],
)
def test_what_is_said_of_bad_cells_and_columns_is_what_is_said_in_memory(tmp_path, roles, choice, said):
    frame = random_table(120, np.random.default_rng(1))
    for name in ("price", "urgent", "checked"):
        cells = frame[name].to_list()
        cells[33] = cells[50] = "bad"
        frame = frame.with_columns(pl.Series(name, cells))
    empty, own = pl.lit(None, dtype=pl.String), pl.format("row {}", pl.int_range(120))
    frame = frame.with_columns(empty=empty, marks=pl.lit("!"), own=own)
    write_table(frame, tmp_path / "a.csv", "csv")
    with pytest.raises(InputError) as whole:
        in_memory(tmp_path / "a.csv", roles, TextSettings(**choice))
    with pytest.raises(InputError) as parted:
        ingest(Batches(tmp_path / "a.csv", rows=7), roles, tmp_path, TextSettings(**choice))
    assert str(parted.value) == str(whole.value)
    assert said in str(whole.value)


RUN = """
import resource, sys
from pathlib import Path
from noisybayes._files import DiskError, scratch_folder
from noisybayes.data.batches import Batches
from noisybayes.data.roles import Roles
from noisybayes.dataset import Shards
from noisybayes.text.file_ingest import ingest
path, parent, most = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
try:
    with scratch_folder(parent) as folder:
        found = ingest(Batches(path, rows=500), Roles("label", ("text",), (), (), (), None, None), folder)
        Shards.write(folder / "rows", found.blocks, found.n_columns)
except DiskError as error:
    sys.exit(str(error))
"""


@pytest.mark.parametrize(("most", "where"), [("4000", "coded"), ("40000", "rows")])
def test_a_full_disk_is_told_and_nothing_stays(tmp_path, most, where):
    write_messages(tmp_path / "a.csv", 3_000, vocabulary=300)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-c", RUN, tmp_path / "a.csv", scratch, most]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    folder = rf"{scratch}/.noisybayes\.[\w-]+\.tmp/{where}"
    told = f"the disk is full: {folder} cannot take all rows; make room or choose another folder\n"
    assert re.fullmatch(told, done.stderr)
    assert list(scratch.iterdir()) == []


def test_too_little_room_is_told_beforehand(tmp_path):
    text = "free, but 1000000.0 GB are needed; make room or choose another folder"
    with pytest.raises(DiskError, match=text), scratch_folder(tmp_path, 10**15):
        pass
    assert list(tmp_path.iterdir()) == []
