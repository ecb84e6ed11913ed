"""The files of an audit: all at once or none, and nothing of anybody else's."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

from noisybayes import audit, simulate
from noisybayes.data.errors import InputError
from noisybayes.data.read import read_table
from noisybayes.report import outputs
from noisybayes.report.outputs import EXPORTERS, corrected, suspects_frame, write_audit
from noisybayes.report.saved import load_model

from .tables import table

SAID = ["p_suggested", "corrected", "suspect"]


@cache
def audited():
    return audit(table())


@cache
def without_suspects():
    return audit(table(), budget=0)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def fail(*_):
    raise RuntimeError("no page today")


def test_all_files_are_there(tmp_path):
    folder = audited().save(tmp_path / "new" / "audit")
    assert folder == tmp_path / "new" / "audit"
    assert names(folder) == ["audit.json", "corrected.csv", "model", "report.html", "suspects.csv"]
    assert names(folder.parent) == ["audit"]
    summary = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    assert summary == json.loads(audited().to_json())
    assert (folder / "report.html").read_text(encoding="utf-8") == audited().to_html()
    written, suspects = read_table(folder / "suspects.csv"), audited().suspects
    assert [int(row) - 1 for row in written["row"]] == suspects.index.tolist()
    assert written["id"].to_list() == table()["id"].gather(suspects.index.tolist()).to_list()
    assert written["suggested"].to_list() == suspects["suggested"].tolist()
    assert all(written["because"].is_not_null())


def test_exports_are_written_and_an_earlier_audit_is_replaced_whole(tmp_path):
    labels = pl.Series("label", [None if i % 10 == 0 else label for i, label in enumerate(table()["label"])])
    found = audit(table().with_columns(labels))
    folder = write_audit(found, tmp_path / "audit", exports=tuple(EXPORTERS))
    assert {"label_studio.json", "label_studio.xml", "cleanlab.json"} <= set(names(folder))
    assert len(json.loads((folder / "label_studio.json").read_text())) == len(found.suspects)
    ElementTree.parse(folder / "label_studio.xml")
    exported = json.loads((folder / "cleanlab.json").read_text())
    assert exported["is_label_issue"] == found.table["suspect"].tolist()
    given = [None if code is None else exported["classes"][code] for code in exported["given_label"]]
    assert given == labels.to_list()

    without_suspects().save(folder, format="parquet")
    assert names(folder) == ["audit.json", "corrected.parquet", "model", "report.html", "suspects.parquet"]
    assert names(tmp_path) == ["audit"]
    empty = pl.read_parquet(folder / "suspects.parquet")
    assert (empty.height, empty.columns[:3]) == (0, ["row", "id", "given"])
    assert json.loads((folder / "audit.json").read_text())["suspects"] == []


@pytest.mark.parametrize(("broken", "earlier"), [("render_html", True), ("save_model", False), ("corrected", True)])
def test_a_failure_leaves_no_trace(broken, earlier, tmp_path, monkeypatch):
    folder = tmp_path / "audit"
    if earlier:
        without_suspects().save(folder)
        before = content(folder)
    monkeypatch.setattr(outputs, broken, fail)
    with pytest.raises(RuntimeError, match="no page today"):
        audited().save(folder)
    assert names(tmp_path) == (["audit"] if earlier else [])
    assert not earlier or content(folder) == before


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_corrected_holds_the_input_as_it_was(format, tmp_path):
    frame = table().with_columns(
        pl.Series("note", ['a "quoted", cell', "line\nbreak", " spaces ", "007", "1e5", "ünï", "=1+1", None] * 15),
        pl.Series("p_wrong", ["mine"] * 120),
        pl.Series("noisybayes_p_wrong", ["mine too"] * 120),
    )
    path = tmp_path / "table.csv"
    frame.write_csv(path)
    found = audit(path, label="label", text="message")
    written = read_table(found.save(tmp_path / "audit", format) / f"corrected.{format}")
    assert written.columns == [*frame.columns, "suggested", "noisybayes_noisybayes_p_wrong", *SAID]
    if format == "csv":  # a spreadsheet would run it
        frame = frame.with_columns(pl.col("note").str.replace("=1+1", "'=1+1", literal=True))
    assert written.select(frame.columns).equals(frame)
    assert written["corrected"].to_list() == found.table["corrected"].tolist()
    p_wrong = written["noisybayes_noisybayes_p_wrong"].cast(pl.Float64)
    np.testing.assert_allclose(p_wrong, found.table["p_wrong"], atol=1e-12)


def test_an_audit_without_a_table_writes_what_it_has(tmp_path):
    data = simulate(120, n_features=20, n_classes=2, diagonal=(0.8, 0.9), random_state=0)
    y = np.append([None], np.array(["no", "yes"], dtype=object)[data.y[1:]])
    found = audit(data.X, y, budget=4)
    folder = found.save(tmp_path / "audit")
    assert names(folder) == ["audit.json", "corrected.csv", "report.html", "suspects.csv"]
    assert pl.concat(corrected(found))["given"].to_list() == y.tolist()
    assert suspects_frame(found.summary()).height == 4


@pytest.mark.parametrize("inside", ["", "model"])
def test_the_saved_model_predicts_as_the_one_in_memory(inside, tmp_path):
    folder = audited().save(tmp_path / "audit")
    loaded = load_model(folder / inside)
    new = table(50, seed=1)
    proba = audited().model.predict_proba(audited().recipe.transform(new))
    predicted = loaded.predict(new)
    np.testing.assert_allclose(predicted["probability"], proba.max(axis=1), atol=1e-12)
    assert predicted["label"].to_list() == audited().model.classes_[proba.argmax(axis=1)].tolist()
    assert loaded.roles == audited().roles
    assert loaded.recipe.blocks == audited().recipe.blocks


def _cut(path):
    path.write_bytes(path.read_bytes()[:-200])


@pytest.mark.parametrize(
    ("file", "damage", "reason"),
    [
        ("recipe.json", _cut, ""),
        ("recipe.json", lambda path: path.write_text('{"format": 1}'), "recipe.json does not have the entries"),
        ("pool.npz", _cut, ""),
        ("recipe.json", Path.unlink, None),
        ("pool.npz", Path.unlink, None),
    ],
)
def test_a_damaged_or_missing_model_is_refused(file, damage, reason, tmp_path):
    folder = audited().save(tmp_path / "audit") / "model"
    damage(folder / file)
    with pytest.raises(InputError) as refused:
        load_model(folder)
    told = str(refused.value)
    if reason is None:
        assert told == f"there is no model in {folder}; `noisybayes fit` and `noisybayes audit --out` write one"
    else:
        assert told.startswith(f"the model in {folder} is damaged or from another version: {reason}")
        assert "\n" not in told
