"""`noisybayes reproduce` from command to page."""

from __future__ import annotations

import json

import pytest
from benchmarks.result_files import read_rows
from click.testing import CliRunner

from noisybayes.cli.app import app
from noisybayes.data import datasets
from paper import EXPERIMENTS
from paper.__main__ import NAMES
from paper.methods import NEURAL
from paper.registry import TITLES

from .small import Tiny, timeless


def reproduce(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "table1", Tiny())


def test_the_command_line_offers_every_experiment():
    assert tuple(EXPERIMENTS) == NAMES


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_quick_version_of_every_experiment(name, tmp_path, monkeypatch):
    monkeypatch.setenv(datasets.FOLDER_VARIABLE, str(tmp_path))  # no data there: none is needed
    arguments = ("--quick", "--reps", 1, "--jobs", 1, "--methods", "bayes", "--root", tmp_path)
    result = reproduce(name, *arguments, "--json", tmp_path / "rows.json")
    assert result.exit_code == 0, result.output
    rows = json.loads((tmp_path / "rows.json").read_text())
    bayes = {method for method in EXPERIMENTS[name].METHODS if method not in NEURAL}
    assert {row["method"] for row in rows} == bayes
    assert {row["setting"] for row in rows} == set(EXPERIMENTS[name].settings(quick=True))
    assert EXPERIMENTS[name].TITLE.split(":")[0] in result.output
    assert not (tmp_path / "results").exists(), "quick rows must not be mixed with others"
    for svg in EXPERIMENTS[name].figures(rows).values():
        assert svg.startswith("<svg")
    assert all(sentence.endswith(".") for sentence in EXPERIMENTS[name].findings(rows))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--setting", "no such"), "no setting begins with 'no such'; choose from "),
        (("--jobs", 0), "--jobs must be a number of processes, or -1 for one per core, got 0"),
        (("--methods", "magic"), "there is no method 'magic' here"),
    ],
)
def test_what_does_not_exist_is_refused_in_a_sentence(tiny, tmp_path, arguments, sentence):
    result = reproduce("table1", *arguments, "--root", tmp_path)
    assert (result.exit_code, result.output.startswith(f"Error: {sentence}")) == (2, True), result.output
    assert not list(tmp_path.iterdir())


def test_networks_run_too():
    pytest.importorskip("torch")
    result = reproduce("livestream", "--quick", "--reps", 1, "--jobs", 1, "--methods", "nal")
    assert result.exit_code == 0, result.output
    assert TITLES["nal"] in result.output


def test_rows_are_stored_and_a_second_run_has_nothing_to_do(tiny, tmp_path):
    arguments = ("table1", "--reps", 2, "--jobs", 1, "--methods", "nb,nbt", "--root", tmp_path)
    first = reproduce(*arguments)
    assert first.exit_code == 0, first.output
    assert "4 jobs are left to do" in first.output
    stored = (tmp_path / "results/paper/table1.csv").read_bytes()
    again = reproduce(*arguments, "--json", tmp_path / "rows.json")
    assert "0 jobs are left to do" in again.output
    assert (tmp_path / "results/paper/table1.csv").read_bytes() == stored
    rows = read_rows(tmp_path / "results/paper/table1.csv")
    assert str(json.loads((tmp_path / "rows.json").read_text())) == str(rows)
    assert {row["method"] for row in rows} == {"nb", "nbt"}


def test_only_the_settings_asked_for_are_run_and_without_seconds(tiny, tmp_path):
    arguments = ("table1", "--reps", 1, "--jobs", 1, "--methods", "nb", "--root", tmp_path, "--setting", "n = 15")
    assert reproduce(*arguments, "--untimed").exit_code == 0
    rows = read_rows(tmp_path / "results/paper/table1.csv")
    assert [row["setting"] for row in rows] == ["n = 150"]
    assert all(row["seconds"] != row["seconds"] for row in rows)


def test_another_seed_gives_other_repetitions(tiny, tmp_path):
    reproduce("table1", "--reps", 1, "--jobs", 1, "--methods", "nb", "--root", tmp_path, "--seed", 7)
    rows = read_rows(tmp_path / "results/paper/table1.csv")
    assert {row["rep"] for row in rows} == {7}
    reproduce("table1", "--reps", 8, "--jobs", 1, "--methods", "nb", "--root", tmp_path)
    more = read_rows(tmp_path / "results/paper/table1.csv")
    assert len(more) == 16
    assert str(timeless(row for row in more if row["rep"] == 7)) == str(timeless(rows))


def test_an_unknown_method_ends_before_anything_runs(tmp_path):
    result = reproduce("impact", "--methods", "nb,svm", "--root", tmp_path)
    assert result.exit_code == 2
    assert result.output == "Error: there is no method 'svm' here; choose from nb, nb-correct, inb-paper, inb\n"
    assert not (tmp_path / "results").exists()


def test_missing_data_is_said_in_one_line(tmp_path, monkeypatch):
    def unavailable():
        raise datasets.DatasetUnavailableError("the data is not here; put it there")

    from paper import livestream

    livestream._real.cache_clear()
    monkeypatch.setattr(livestream, "live_streaming", unavailable)
    result = reproduce("livestream", "--reps", 1, "--jobs", 1, "--methods", "nb", "--root", tmp_path)
    assert result.exit_code == 1
    assert "Error: the data is not here; put it there\n" in result.output
