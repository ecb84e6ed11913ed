"""`noisybayes audit` and the verbs on saved models, from the command line."""

from __future__ import annotations

import gzip
import json
import re

import numpy as np
import polars as pl
import pytest

from .command import EXAMPLE, refused, run


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The first 600 messages."""
    path = tmp_path_factory.mktemp("data") / "messages.csv"
    path.write_text("".join(EXAMPLE.read_text(encoding="utf-8").splitlines(keepends=True)[:601]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def audited(small, tmp_path_factory):
    out = tmp_path_factory.mktemp("audit") / "out"
    exports = ("--export", "label-studio", "--export", "cleanlab")
    result = run("audit", small, "--label", "label", "--text", "message", "--out", out, *exports)
    assert result.exit_code == 0, result.output
    return result, out


def test_an_audit_prints_a_summary_and_writes_its_files(audited, small):
    result, out = audited
    said = " ".join(result.output.split())
    assert re.search(r"\d+ of 600 rows to review, most suspicious first\. At least about \d+ % of the labels", said)
    assert str(out / "report.html") in result.output
    assert sorted(path.name for path in out.iterdir()) == [
        "audit.json", "cleanlab.json", "corrected.csv", "label_studio.json", "label_studio.xml", "model", "report.html",
        "suspects.csv",
    ]  # fmt: skip
    summary = json.loads((out / "audit.json").read_text(encoding="utf-8"))
    assert summary["n_rows"] == 600
    assert summary["n_suspects"] == pl.read_csv(out / "suspects.csv").height > 0
    given, corrected = (pl.read_csv(path, infer_schema=False) for path in (small, out / "corrected.csv"))
    assert corrected.select(given.columns).equals(given)
    new = [name for name in corrected.columns if name not in given.columns]
    assert new == ["suggested", "p_wrong", "p_suggested", "corrected", "suspect"]
    assert run("predict", out, small).exit_code == 0


def test_guesses_are_told(small):
    result = run("audit", small)
    assert "label column: 'label' (has 11 distinct values)" in result.output
    assert "text column: 'message'" in result.output
    assert "ignored: 'true_label'" in result.output
    assert "--out audit" in result.output


def test_standard_input_gzip_and_parquet_give_the_same_as_the_file(small, tmp_path):
    frame = pl.read_csv(small, infer_schema=False)
    frame.write_parquet(tmp_path / "m.parquet")
    (tmp_path / "m.csv.gz").write_bytes(gzip.compress(small.read_bytes()))
    columns = ("--label", "label", "--text", "message", "--json")
    rates = {
        json.loads(run("audit", source, *columns, stdin=stdin).stdout)["wrong"]["estimate"]
        for source, stdin in (
            (small, None), ("-", small.read_bytes()), (tmp_path / "m.csv.gz", None), (tmp_path / "m.parquet", None),
        )
    }  # fmt: skip
    assert len(rates) == 1


def test_json_is_all_that_is_printed(small, monkeypatch):
    monkeypatch.setattr("sys.argv", ["/usr/bin/noisybayes", "audit", "my file.csv"])
    summary = json.loads(run("audit", small, "--label", "label", "--text", "message", "--json", "--seed", 3).stdout)
    assert summary["run"]["seed"] == 3
    assert summary["run"]["command"] == "noisybayes audit 'my file.csv'"


def test_a_limit_for_pipelines(small):
    columns = ("audit", small, "--label", "label", "--text", "message", "--quiet", "--fail-above")
    passed = run(*columns, 0.9)
    assert (passed.exit_code, passed.output) == (0, "")
    result = run(*columns, 0.01)
    assert result.exit_code == 1
    assert "of the labels are wrong, more than 1.0 %" in result.stderr


def test_the_list_can_be_chosen(small):
    columns = ("audit", small, "--label", "label", "--text", "message", "--json")
    assert json.loads(run(*columns, "--budget", 7).stdout)["n_suspects"] == 7
    assert all(suspect["p_wrong"] > 0.5 for suspect in json.loads(run(*columns).stdout)["suspects"])


def test_verified_rows_are_never_suspects(small, tmp_path):
    half = pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.col("true_label"))
    pl.read_csv(small, infer_schema=False).with_columns(half.alias("checked")).write_csv(tmp_path / "v.csv")
    found = run("audit", tmp_path / "v.csv", "--label", "label", "--text", "message", "--verified", "checked", "--json")
    assert json.loads(found.stdout)["n_verified"] == 300
    assert all(suspect["row"] % 2 == 0 for suspect in json.loads(found.stdout)["suspects"])  # rows count from 1


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, (), "there is no file"),
        (b"", (), "is empty; give a table with a header and rows"),
        (b"label,text\n", (), "has no rows but the header (label, text)"),
        (b"label,text\na,x\nb\n", (), "line 3"),
        (b"label,text\na,x\nb,y\n", ("--label", "lable"), "did you mean 'label'?"),
        (b"label,text\na,x\na,y\n", ("--text", "text"), "every label in the column 'label' is 'a'"),
        (b"label,text\n" + b"".join(b"%d,word%d\n" % (i, i) for i in range(200)), ("--text", "text"), "identifier"),
        (b"label,text\na,\nb,\na,\n", ("--text", "text"), "every text in the column 'text' is empty"),
        (b"label,n\na,1\nb,x\na,2\n", ("--numeric", "n"), "'x'"),
    ],
)
def test_bad_input_is_one_sentence_with_exit_code_2_and_writes_nothing(content, arguments, message, tmp_path):
    path = tmp_path / "bad.csv"
    if content is not None:
        path.write_bytes(content)
    result = run("audit", path, *arguments, "--out", tmp_path / "out")
    assert result.exit_code == 2
    said = [line for line in result.output.splitlines() if not line.endswith("...")]  # stages, as without a terminal
    assert len(said) == 1
    assert said[0].startswith("Error: ")
    assert message in said[0]
    assert not (tmp_path / "out").exists()


def test_a_folder_with_other_things_is_not_touched(small, tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    told = "contains other files (precious.txt); choose a new folder with --out"
    assert refused(told, "audit", small, "--out", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


def test_a_model_is_fitted_saved_and_used(small, tmp_path):
    model = tmp_path / "model"
    assert refused("Error: there is no ", "predict", model, small)
    fitted = run("fit", small, "--label", "label", "--text", "message", "--out", model)
    assert fitted.exit_code == 0, fitted.output
    assert f"next: noisybayes predict {model} NEW_FILE" in fitted.output
    printed = run("predict", model, small)
    found = pl.read_csv(printed.stdout.encode(), infer_schema=False)
    assert found.height == 600
    assert (found["predicted_label"] == found["true_label"]).mean() > 0.75
    run("predict", model, small, "--out", tmp_path / "p.parquet")
    assert pl.read_parquet(tmp_path / "p.parquet")["predicted_label"].equals(found["predicted_label"])


def test_a_report_is_drawn_again(audited, tmp_path):
    out = audited[1]
    assert run("report", out).stdout.rstrip("\n") == (out / "report.html").read_text(encoding="utf-8").rstrip("\n")
    result = run("report", out, "--format", "markdown", "--out", tmp_path / "r.md")
    assert result.exit_code == 0
    assert (tmp_path / "r.md").read_text(encoding="utf-8").startswith("# Label audit")
    assert refused("Error: there is no ", "report", tmp_path / "none")


def test_help_tells_a_newcomer_the_first_command_and_completion_is_a_script():
    assert "_NOISYBAYES_COMPLETE" in run("completion", "bash").output
    assert "noisybayes audit FILE --label COLUMN --text COLUMN --out audit" in run("--help").output


def test_vectors_and_probabilities_of_another_model_come_by_options(tmp_path):
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=120)
    label = np.where(rng.random(120) < 0.1, 1 - true, true)
    columns = {"a": true + rng.normal(size=120), "b": rng.normal(size=120), "label": np.array(["no", "yes"])[label]}
    pl.DataFrame(columns).write_csv(tmp_path / "t.csv")
    pl.DataFrame({"yes": 0.05 + 0.9 * true, "no": 0.95 - 0.9 * true}).write_csv(tmp_path / "p.csv")
    np.save(tmp_path / "v.npy", np.column_stack([true, rng.normal(size=120)]))
    others = ("--pred-probs", tmp_path / "p.csv", "--embeddings", tmp_path / "v.npy")
    result = run("audit", tmp_path / "t.csv", "--label", "label", "--json", *others)
    assert result.exit_code == 0, result.output
    summary = json.loads(result.output)
    first = [suspect["row"] - 1 for suspect in summary["suspects"]]
    assert np.mean(label[first] != true[first]) > 0.8
