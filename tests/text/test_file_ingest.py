"""A file in batches gives the features, the labels and the notes of the same table in memory."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from noisybayes._files import DiskError, scratch_folder
from noisybayes.auditing.table_features import encode_labels
from noisybayes.data.batches import Batches
from noisybayes.data.errors import InputError
from noisybayes.data.read import read_table, write_table
from noisybayes.data.roles import Roles
from noisybayes.data.simulated_messages import write_messages
from noisybayes.dataset import Shards
from noisybayes.text import features, tally
from noisybayes.text.features import Recipe
from noisybayes.text.file_ingest import disk_needed, ingest
from noisybayes.text.vocabulary import TextSettings

TEXT = Roles("label", ("text",), (), (), (), None, None)
ALL = Roles("label", ("text", "other text"), ("colour",), ("price", "one"), ("urgent", "paid"), None, "checked")


def in_memory(path, roles, settings=None, missing_label=None):
    frame = read_table(path)
    (classes, observed, known), notes = encode_labels(frame, roles, missing_label)
    names = np.array([*classes, None], dtype=object)  # the last one is for no label: K, or -1
    labels, verified = names[observed], None if known is None else names[known]
    recipe, features = Recipe.fit(frame, roles, settings)
    return recipe, features.X, labels, verified, (*notes, *recipe.notes)


def check_law(path, folder, roles, settings=None, missing_label=None, rows=(7,)):
    recipe, X, labels, verified, notes = in_memory(path, roles, settings, missing_label)
    for size in rows:
        found = ingest(Batches(path, rows=size), roles, folder, settings, missing_label=missing_label)
        shards = Shards.write(folder / f"rows {size}", found.blocks, found.n_columns, found.dtype)
        assert json.dumps(found.recipe.to_dict()) == json.dumps(recipe.to_dict())
        assert found.recipe.blocks == recipe.blocks
        assert found.notes == notes
        assert found.n_rows == len(labels) == len(shards)
        assert_identical(sparse.vstack(list(shards), format="csr"), X)
        assert decoded(found.labels, found.classes) == labels.tolist()
        assert (found.verified is None) == (verified is None)
        if verified is not None:
            assert decoded(found.verified, found.classes) == verified.tolist()
        assert list(found.classes) == sorted(set(labels.tolist()) - {None})
        assert not (folder / "coded").exists()


def assert_identical(found, X):
    assert found.shape == X.shape
    assert found.indptr.tolist() == X.indptr.tolist()
    assert found.indices.tolist() == X.indices.tolist()
    assert found.data.tobytes() == X.data.tobytes()


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
    ("format", "n", "rows"),
    [
        ("csv", 40, 1), ("parquet", 40, 1), ("jsonl", 99, 7), ("csv", 120, 50), ("parquet", 700, 90),
        ("jsonl", 700, 90), ("csv", 700, 1_000), ("parquet", 700, 1_000), ("jsonl", 120, 1_000),
    ],
)  # fmt: skip
def test_all_kinds_of_columns(tmp_path, n, rows, format):
    path, frame = tmp_path / f"a.{format}", random_table(n, np.random.default_rng(n))
    if format == "jsonl":
        frame.with_columns(pl.col("price").str.strip_chars().cast(pl.Float64)).write_ndjson(path)
    else:
        write_table(frame, path, format)
    check_law(path, tmp_path / "made", ALL, missing_label="?", rows=(rows,))


@pytest.mark.parametrize(
    "choice",
    [
        {"ngrams": 2},
        {"max_words": 10},
        {"max_words": 3, "ngrams": 2, "weighting": "binary"},
        {"min_df": 30, "max_df": 0.09},
        {"weighting": "binary", "min_df": 1, "max_df": 1.0},
    ],
)
def test_settings(tmp_path, choice):
    write_table(random_table(400, np.random.default_rng(5)), tmp_path / "a.csv", "csv")
    check_law(tmp_path / "a.csv", tmp_path / "made", TEXT, TextSettings(**choice), rows=(13, 100))


WORDS = ["car", "price", "多少钱", "你好", "é", "価格はいくら", ","]


@settings(max_examples=25, deadline=None)
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), min_size=2, max_size=30),
    rows=st.integers(1, 9),
    ngrams=st.integers(1, 2),
    max_words=st.sampled_from([2, 20_000]),
)
def test_texts_of_any_script(tmp_path_factory, texts, rows, ngrams, max_words):
    folder = tmp_path_factory.mktemp("any")
    path = folder / "a.csv"
    labels = ["a", "b", *["a"] * (len(texts) - 2)]
    write_table(pl.DataFrame({"text": texts, "label": labels}), path, "csv")
    settings = TextSettings(ngrams=ngrams, max_words=max_words)
    try:
        in_memory(path, TEXT, settings)
    except InputError:
        whole, parted = refusals(path, TEXT, folder, settings, rows)
        assert whole == parted
    else:
        check_law(path, folder, TEXT, settings, rows=(rows,))


@pytest.mark.parametrize("late", ["你好多少钱", "いくらですか"])
def test_a_script_that_comes_late(tmp_path, late):
    texts = ["hello there"] * 50 + [f"{late}{i % 7}" for i in range(500)]
    frame = pl.DataFrame({"text": texts, "label": ["a", "b"] * 275})
    write_table(frame, tmp_path / "a.csv", "csv")
    check_law(tmp_path / "a.csv", tmp_path / "made", TEXT, rows=(30,))


def test_the_sample_that_tells_the_script_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("noisybayes.text.scripts._SAMPLE", 10)
    rng = np.random.default_rng(0)
    for trial in range(8):  # so mixed that a few texts decide
        texts = rng.choice(np.array(["多少", "four words of text", None, "kurz é"], dtype=object), 233)
        frame = pl.DataFrame({"text": texts.tolist(), "label": rng.choice(["a", "b"], 233)})
        path = tmp_path / f"{trial}.csv"
        write_table(frame, path, "csv")
        check_law(path, tmp_path / f"made {trial}", TEXT, rows=(17,))


def test_made_messages(tmp_path, monkeypatch):
    monkeypatch.setattr(tally, "_FEW", 100)  # words are added up often
    write_messages(tmp_path / "a.csv", 3_000, vocabulary=500)
    roles = TEXT._replace(verified="true_label")
    check_law(tmp_path / "a.csv", tmp_path / "made", roles, TextSettings(max_words=200), rows=(400,))


def test_many_rows_are_in_single_precision(tmp_path, monkeypatch):
    write_messages(tmp_path / "a.csv", 300, vocabulary=50)
    double = in_memory(tmp_path / "a.csv", TEXT)[1]
    monkeypatch.setattr(features, "_MANY_ROWS", 299)
    single = in_memory(tmp_path / "a.csv", TEXT)[1]
    assert (double.dtype, single.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(single.toarray(), double.toarray(), rtol=1e-6)
    check_law(tmp_path / "a.csv", tmp_path / "made", TEXT, rows=(40,))


def test_numbers_keep_every_digit(tmp_path, monkeypatch):
    monkeypatch.setattr(features, "_MANY_ROWS", 2)
    table = pl.DataFrame({"label": ["a", "b"] * 20, "when": [1_700_000_000.0 + i for i in range(40)]})
    write_table(table, tmp_path / "a.csv", "csv")
    roles = TEXT._replace(text=(), numeric=("when",))
    X = in_memory(tmp_path / "a.csv", roles)[1]
    assert sorted(X.toarray()[:, 0]) == table["when"].to_list()
    check_law(tmp_path / "a.csv", tmp_path / "made", roles)


def refusals(path, roles, folder, settings=None, rows=7):
    """What is said of the table in memory, and of its batches."""
    with pytest.raises(InputError) as whole:
        in_memory(path, roles, settings)
    with pytest.raises(InputError) as parted:
        ingest(Batches(path, rows=rows), roles, folder, settings)
    return str(whole.value), str(parted.value)


@pytest.mark.parametrize(
    ("column", "value", "role", "said"),
    [
        ("price", "dear", "numeric", "row 34: 'dear' in the column 'price' is not a number"),
        ("urgent", "soon", "binary", "row 34: 'soon' in the column 'urgent' is neither yes nor no"),
        ("checked", "z", None, "row 34: the verified label 'z' in the column 'checked' is not one of the labels"),
    ],
)
def test_a_bad_cell_late_in_the_file(tmp_path, column, value, role, said):
    frame = random_table(60, np.random.default_rng(1))
    cells = frame[column].to_list()
    cells[33] = cells[50] = value
    write_table(frame.with_columns(pl.Series(column, cells)), tmp_path / "a.csv", "csv")
    roles = TEXT._replace(verified="checked") if role is None else TEXT._replace(**{role: (column,)})
    whole, parted = refusals(tmp_path / "a.csv", roles, tmp_path)
    assert whole == parted
    assert said in whole


@pytest.mark.parametrize(
    ("roles", "choice"),
    [
        (TEXT._replace(text=()), {}),
        (TEXT._replace(text=("empty",)), {}),
        (TEXT._replace(text=("marks",)), {}),
        (TEXT._replace(text=(), numeric=("one",)), {}),
        (TEXT._replace(label="empty"), {}),
        (TEXT._replace(label="one"), {}),
        (TEXT._replace(label="text"), {}),
        (TEXT, {"min_df": 500}),
    ],
)
def test_what_cannot_be_learned_from(tmp_path, roles, choice):
    frame = random_table(120, np.random.default_rng(2)).with_columns(
        pl.lit(None, dtype=pl.String).alias("empty"), pl.lit("!").alias("marks")
    )
    frame = frame.with_columns(pl.format("{} {}", "text", pl.int_range(120)).alias("text"))
    write_table(frame, tmp_path / "a.csv", "csv")
    whole, parted = refusals(tmp_path / "a.csv", roles, tmp_path, TextSettings(**choice))
    assert whole == parted


def test_a_file_that_changes_between_passes(tmp_path):
    write_messages(tmp_path / "a.csv", 50)
    batches = Batches(tmp_path / "a.csv")
    list(batches)
    write_messages(tmp_path / "a.csv", 50, seed=1)
    with pytest.raises(InputError, match="was changed while it was being read; leave it unchanged and start again"):
        ingest(batches, TEXT, tmp_path)


def test_rows_read_are_reported(tmp_path):
    write_messages(tmp_path / "a.csv", 50)
    seen = []
    ingest(Batches(tmp_path / "a.csv", rows=20), TEXT, tmp_path, report=seen.append)
    assert seen == [20, 40, 50]


def size_of(path):
    """Of a file; threads remove files meanwhile."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_room_on_disk_is_foreseen(tmp_path, format, monkeypatch):
    monkeypatch.setattr("noisybayes.data.formats.delimited._PORTION", 100_000)
    path = tmp_path / f"a.{format}"
    write_messages(path, 20_000)
    batches = Batches(path, rows=1_000)
    foreseen = disk_needed(batches, TEXT)
    largest = 0

    def watched(blocks):
        nonlocal largest
        for block in blocks:
            yield block
            largest = max(largest, sum(map(size_of, tmp_path.glob("made/**/*"))))

    found = ingest(batches, TEXT, tmp_path / "made")
    Shards.write(tmp_path / "made" / "rows", watched(found.blocks), found.n_columns, found.dtype)
    assert largest < foreseen < 3 * largest


def test_coded_columns_that_are_damaged(tmp_path):
    write_messages(tmp_path / "a.csv", 50)
    found = ingest(Batches(tmp_path / "a.csv", rows=20), TEXT, tmp_path)
    (tmp_path / "coded" / "000001.0").write_bytes(b"")
    with pytest.raises(DiskError, match=r"coded/000001.0 can no longer be read \(Ran out of input\); start again"):
        list(found.blocks)


RUN = """
import resource, sys
from pathlib import Path
from noisybayes._files import DiskError, scratch_folder
from noisybayes.auditing.table_features import encode_labels
from noisybayes.data.batches import Batches
from noisybayes.data.roles import Roles
from noisybayes.dataset import Shards
from noisybayes.text.file_ingest import ingest
path, parent, most = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
say = lambda n_rows: print(n_rows, flush=True)
try:
    with scratch_folder(parent) as folder:
        found = ingest(Batches(path, rows=500), Roles("label", ("text",), (), (), (), None, None), folder, report=say)
        say("blocks")
        Shards.write(folder / "rows", found.blocks, found.n_columns)
        say("done")
except DiskError as error:
    sys.exit(str(error))
"""


def running(tmp_path, most=1 << 30, n_rows=3_000):
    write_messages(tmp_path / "a.csv", n_rows, vocabulary=300)
    (tmp_path / "scratch").mkdir()
    arguments = [sys.executable, "-c", RUN, tmp_path / "a.csv", tmp_path / "scratch", str(most)]
    # a background job ignores SIGINT, and so would its children
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=listen)


@pytest.mark.parametrize(("most", "where", "stage"), [(4_000, "coded", ""), (40_000, "rows", "blocks")])
def test_a_full_disk_is_told_and_nothing_stays(tmp_path, most, where, stage):
    process = running(tmp_path, most)
    told, error = process.communicate()
    assert process.returncode == 1
    folder = rf"{tmp_path / 'scratch'}/.noisybayes\.[\w-]+\.tmp/{where}"
    assert re.fullmatch(f"the disk is full: {folder} cannot take all rows; make room or choose another folder\n", error)
    assert stage in told
    assert "done" not in told
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, -signal.SIGINT)])
def test_a_run_that_is_ended_leaves_nothing(tmp_path, number, code):
    process = running(tmp_path, n_rows=40_000)
    assert process.stdout.readline() == "500\n"
    assert list((tmp_path / "scratch").iterdir()) != []
    process.send_signal(number)
    process.communicate()
    assert process.returncode == code
    assert list((tmp_path / "scratch").iterdir()) == []


def test_too_little_room_is_told_beforehand(tmp_path):
    text = "free, but 1000000.0 GB are needed; make room or choose another folder"
    with pytest.raises(DiskError, match=text), scratch_folder(tmp_path, 10**15):
        pass
    assert list(tmp_path.iterdir()) == []
