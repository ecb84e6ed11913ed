"""A CSV file becomes a data set by one small TOML file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import sparse

from benchmarks.commands.add import add
from benchmarks.commands.quality import DEFAULT_FOLDER as COMMAND_FOLDER
from benchmarks.quality.indicators import indicators
from benchmarks.quality.plugins import DEFAULT_FOLDER, Plugin, datasets_in, read, write
from benchmarks.quality.result_rows import load
from noisybayes.cli.app import app

FRUIT = {"apple": "red apple pie crust", "pear": "green pear juice glass", "plum": "blue plum jam jar"}


@pytest.fixture
def csv(tmp_path):
    """60 rows; the label NA is a label, and every sixth label is wrong."""
    rng = np.random.default_rng(0)
    true = np.array(["apple", "pear", "NA"])[np.arange(60) % 3]
    given = np.where(np.arange(60) % 6 == 0, "pear", true)
    words = [" ".join(rng.permutation(FRUIT[{"NA": "plum"}.get(name, name)].split())[:3]) for name in true]
    frame = pd.DataFrame({"title": words, "body": "some words, “für” 水", "label": given, "checked": true})
    frame["size"] = rng.normal(size=60).round(3)
    frame["sold"] = (np.arange(60) % 2).astype(str)
    frame.to_csv(tmp_path / "fruit.csv", index=False)
    return tmp_path / "fruit.csv"


def plugin(csv, **changes):
    fields = {"name": "fruit", "file": f"../{csv.name}", "observed": "label", "true": "checked", "text": ("title",)}
    return Plugin(**{**fields, **changes})


def test_what_is_written_is_read(csv, tmp_path):
    original = plugin(csv, text=("title", 'b"o\\dy 水'), test_share=0.3)
    pd.read_csv(csv).rename(columns={"body": 'b"o\\dy 水'}).to_csv(csv, index=False, na_rep="NA")
    path = write(original, tmp_path / "sets")
    assert path.name == "fruit.toml"
    assert read(path) == original
    assert list(datasets_in(tmp_path / "sets")) == ["fruit"]


def test_a_text_file_becomes_a_task(csv, tmp_path):
    write(plugin(csv, text=("title", "body")), tmp_path / "sets")
    make = datasets_in(tmp_path / "sets")["fruit"]
    task = make(0)
    assert task.kind == "text"
    assert sparse.issparse(task.X)
    assert (task.X.shape[0], task.X_test.shape[0]) == (48, 12)
    np.testing.assert_array_equal(np.unique(task.true), [0, 1, 2])  # NA, apple, pear
    assert 0 < (task.y != task.true).mean() < 0.3
    np.testing.assert_array_equal(task.y, make(0).y)
    assert not np.array_equal(task.true, make(1).true)


def test_a_table_becomes_zeros_and_ones(csv, tmp_path):
    write(plugin(csv, text=(), features=("size", "sold", "title")), tmp_path / "sets")
    task = datasets_in(tmp_path / "sets")["fruit"](0)
    assert task.kind == "table"
    assert set(np.unique(task.X)) == {0.0, 1.0}
    np.testing.assert_array_equal(task.X[:, :5].sum(axis=1), 1)  # the size is in one of five bins


def test_a_test_file_needs_true_labels_only(csv, tmp_path):
    pd.DataFrame({"title": ["red apple", "kiwi"], "checked": ["apple", "kiwi"]}).to_csv(tmp_path / "new.csv")
    write(plugin(csv, test_file="../new.csv"), tmp_path / "sets")
    one, two = (datasets_in(tmp_path / "sets")["fruit"](seed) for seed in (0, 1))
    assert (one.X.shape[0], one.X_test.shape[0]) == (60, 2)
    np.testing.assert_array_equal(one.y_test, [1, 2])  # NA, apple, kiwi, pear
    assert not np.array_equal(one.true, two.true)  # another order
    np.testing.assert_array_equal(np.sort(one.true), np.sort(two.true))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"observed": "lable"}, "fruit.csv has no column 'lable'; its columns are 'title', 'body', 'label', 'checked'"),
        ({"text": ("words",)}, "fruit.csv has no column 'words'"),
        ({"file": "../none.csv"}, "there is no file .*none.csv"),
        ({"test_file": "../none.csv"}, "there is no file .*none.csv"),
        ({"text": ()}, "fruit: name either columns of text or feature columns"),
        ({"features": ("size",)}, "fruit: name either columns of text or feature columns"),
        ({"name": "a/b"}, "the name 'a/b' of a data set may contain only letters, digits, dots, - and _"),
        ({"name": "livestream"}, "the name 'livestream' is taken by a built-in data set"),
        ({"test_share": 1.0}, "fruit: test_share must be between 0 and 1, got 1.0"),
        ({"true": "body", "observed": "body"}, "contain only one label"),
    ],
)
def test_mistakes_are_named(csv, tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        write(plugin(csv, **changes), tmp_path / "sets")
    assert not list(tmp_path.glob("sets/*"))


def test_rows_without_a_label_are_named(csv, tmp_path):
    frame = pd.read_csv(csv, keep_default_na=False)
    frame.loc[3, "checked"] = ""
    frame.to_csv(csv, index=False)
    with pytest.raises(ValueError, match=r"fruit.csv: row 4 has no value in the column 'checked'; remove such rows"):
        write(plugin(csv), tmp_path / "sets")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name = ", "Invalid value"),
        ('name = "x"', "missing 3 required positional arguments"),
        ('name = "x"\nfile = "x"\nobserved = "a"\ntrue = "b"\ntext = ["c"]\ncolour = "red"', "colour"),
    ],
)
def test_a_bad_toml_file_is_named(tmp_path, content, message):
    (tmp_path / "bad.toml").write_text(content)
    with pytest.raises(ValueError, match=rf"bad.toml does not describe a data set: .*{message}.* \(its fields: name, "):
        datasets_in(tmp_path)


def test_two_files_for_one_name_are_refused(csv, tmp_path):
    path = write(plugin(csv), tmp_path / "sets")
    (path.parent / "other.toml").write_text(path.read_text())
    with pytest.raises(ValueError, match="other.toml: another file in the folder describes a data set named 'fruit'"):
        datasets_in(path.parent)


def test_indicators_by_hand():
    train = np.arange(4)
    switch = indicators(np.array(["0", "1", "1", "0", "1"], dtype=object), train)
    np.testing.assert_array_equal(switch[:, 0], [0, 1, 1, 0, 1])
    colours = indicators(np.array(["red", "blue", "red", "blue", "grey"], dtype=object), train)
    np.testing.assert_array_equal(colours, [[0, 1], [1, 0], [0, 1], [1, 0], [0, 0]])
    numbers = indicators(np.array(["10", "20", "30", "", "99"], dtype=object), train)
    np.testing.assert_array_equal(numbers.sum(axis=1), [1, 1, 1, 0, 1])
    np.testing.assert_array_equal(numbers[2], numbers[4])


def test_from_csv_to_page_on_the_command_line(csv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    added = run(app, ["bench", "add", "fruit.csv", "--observed", "label", "--true", "checked", "--text", "title"])
    assert added.exit_code == 0, added.output
    assert (tmp_path / "bench-data" / "fruit.toml").exists()
    command = [
        "bench",
        "quality",
        "--datasets",
        "fruit",
        "--methods",
        "nb-noisy,nb-clean",
        "--seeds",
        "2",
        "--jobs",
        "1",
    ]
    measured = run(app, command)
    assert measured.exit_code == 0, measured.output
    assert "4 of 4 runs are left to do" in measured.output
    assert len(load(tmp_path / "results" / "quality.csv")) == 4
    assert "(quality/fruit.md)" in (tmp_path / "docs" / "quality.md").read_text(encoding="utf-8")
    assert (tmp_path / "docs" / "quality" / "fruit.md").read_text(encoding="utf-8").startswith("# fruit")
    assert "0 of 4 runs are left to do" in run(app, command).output
    assert "4 of 4 runs are left to do" in run(app, [*command, "--fresh"]).output


def test_mistakes_on_the_command_line_are_one_sentence(csv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    wrong = run(app, ["bench", "add", "fruit.csv", "--observed", "x", "--true", "checked", "--text", "title"])
    assert wrong.exit_code == 1
    assert wrong.output.startswith("Error: fruit.csv has no column 'x'; its columns are")
    wrong = run(app, ["bench", "quality", "--datasets", "nothing"])
    assert wrong.exit_code == 1
    assert wrong.output.startswith("Error: there is no data set 'nothing'; choose from all, simulation, ")
    wrong = run(app, ["bench", "quality", "--methods", "magic"])
    assert wrong.output.startswith(
        "Error: there is no method 'magic'; choose from all, rates, numbers, scales, vectors, inb, "
    )


def test_a_data_set_that_cannot_be_had_ends_with_its_reason(csv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write(plugin(csv), tmp_path / DEFAULT_FOLDER)
    path.write_text(path.read_text().replace("fruit.csv", "lost.csv"))
    result = CliRunner().invoke(
        app, ["bench", "quality", "--datasets", "fruit", "--methods", "nb-noisy", "--jobs", "1"]
    )
    assert result.exit_code == 1
    assert "Error: not measured: fruit: there is no file" in result.output


def test_the_command_line_knows_the_folder_of_the_plug_ins():
    assert COMMAND_FOLDER == DEFAULT_FOLDER
    assert {option.name: option.default for option in add.params}["folder"] == DEFAULT_FOLDER
