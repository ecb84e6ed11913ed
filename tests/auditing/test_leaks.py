"""Columns that give the label away are told, and nothing is told of columns that are only good."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn import datasets

from noisybayes import audit, simulate
from noisybayes.audit import scale
from noisybayes.auditing.leaks import leak_warnings
from noisybayes.auditing.table import Table
from noisybayes.auditing.table_features import features_of
from noisybayes.cli.app import app

EXAMPLE = Path(__file__).parents[2] / "examples" / "dealership.csv"
WORDS = {
    "price": ["cost", "price", "euro", "cheap"],
    "repair": ["repair", "broken", "oil", "engine"],
    "hours": ["open", "sunday", "closing", "address"],
}


def messages(wrong=0.13, same=None, n_rows=1_000):
    """Texts of four words, wrong labels, and a column that equals the label in the share `same` of the rows."""
    rng, names = np.random.default_rng(0), sorted(WORDS)
    true = rng.integers(3, size=n_rows)
    given = np.where(rng.random(n_rows) < wrong, (true + 1) % 3, true)
    columns = {"message": [" ".join([*rng.choice(WORDS[names[k]], 3), "please"]) for k in true]}
    if same is not None:
        columns["status"] = [f"s{k}" for k in np.where(rng.random(n_rows) < same, given, (given + 1) % 3)]
    return pl.DataFrame({**columns, "label": [names[k] for k in given]})


def warned(frame, **columns):
    table = Table.open(frame, {"label": "label", **columns})
    features = features_of(table.source, table.roles, None, None)
    labels = features.labels
    return leak_warnings(table, features.recipe, labels.observed, len(labels.classes))


@pytest.mark.parametrize("same", [0.95, 1.0])
def test_a_column_that_nearly_equals_the_label_is_told_and_fails(tmp_path, same):
    frame = messages(same=same)
    frame.write_csv(tmp_path / "table.csv")
    names = ["--label", "label", "--text", "message"]
    arguments = ["audit", str(tmp_path / "table.csv"), *names, "--fail-above", "0.5"]
    result = CliRunner().invoke(app, [*arguments, "--categorical", "status", "--out", str(tmp_path / "out")])
    assert result.exit_code == 1
    told = "noisybayes: The column 'status' alone predicts "
    assert told in result.stderr
    assert "Warning: The column 'status' alone predicts" in " ".join(result.stdout.split())
    warnings = json.loads((tmp_path / "out" / "audit.json").read_text(encoding="utf-8"))["warnings"]
    assert warnings[0].startswith("The column 'status' alone predicts")
    assert "The column &#39;status&#39; alone predicts" in (tmp_path / "out" / "report.html").read_text(
        encoding="utf-8"
    )
    assert CliRunner().invoke(app, arguments).exit_code == 0


def test_a_nested_field_that_holds_the_label_is_told(tmp_path, monkeypatch):
    given = messages(0.1)
    rows = [
        {
            "annotations": [{"id": i, "by": "ann", "result": label}],
            "text": text,
            "label": label,
        }
        for i, (text, label) in enumerate(given.iter_rows())
    ]
    (tmp_path / "table.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    monkeypatch.setattr(scale, "NEW_ROWS", 50)
    for most in (10**6, 200):  # of a sample too
        monkeypatch.setattr(scale, "MOST_ROWS", most)
        found = audit(tmp_path / "table.jsonl", label="label")
        assert found.warnings[0].startswith("The column 'annotations' alone predicts 100 % of the labels")


def tables():
    rng = np.random.default_rng(0)
    for name in ("iris", "wine", "breast_cancer", "digits"):
        data = getattr(datasets, f"load_{name}")()
        for wrong in (0.0, 0.2):
            y = np.where(rng.random(len(data.target)) < wrong, (data.target + 1) % (data.target.max() + 1), data.target)
            columns = {f"x{j}": column for j, column in enumerate(data.data.T)}
            yield f"{name}, {wrong}", pl.DataFrame({**columns, "label": [f"c{k}" for k in y]})
            bins = {name: np.digitize(x, np.quantile(x, [0.2, 0.4, 0.6, 0.8])) for name, x in columns.items()}
            yield f"{name} in bins, {wrong}", pl.DataFrame({**bins, "label": [f"c{k}" for k in y]})
    yield "texts", messages(0.0)
    yield (
        "texts and a column without information",
        messages(0.1).with_columns(pl.Series("b", rng.integers(3, size=1_000))),
    )
    yield "texts and half a copy", messages(0.1, same=0.8)
    yield "example", pl.read_csv(EXAMPLE, infer_schema=False).drop("true_label")
    drawn = simulate(1_000, n_features=60, random_state=0)
    yield (
        "simulation",
        pl.DataFrame({f"x{j}": x for j, x in enumerate(drawn.X.T)}).with_columns(label=pl.Series(drawn.y)),
    )
    scale = rng.integers(5, size=600)
    answers = {f"q{j}": np.clip(scale + rng.integers(-1, 2, 600), 0, 4) for j in range(4)}
    yield "scale", pl.DataFrame({**answers, "label": [f"{k} stars" for k in scale]})


@pytest.mark.parametrize(("name", "frame"), [pytest.param(*each, id=each[0]) for each in tables()])
def test_ordinary_columns_are_no_leak(name, frame):
    assert warned(frame) == ()
