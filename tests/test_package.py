"""The package as a stranger meets it: public names, light imports, missing extras, the example data."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import noisybayes
from noisybayes._extras import MissingExtraError, require

ROOT = Path(__file__).parents[1]


def python(code, *flags):
    return subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True, check=False)


def test_the_public_names_are_these():
    assert noisybayes.__all__ == [
        "Audit",
        "BernoulliINB",
        "GaussianINB",
        "MislabelClassifier",
        "MixedINB",
        "MultinomialINB",
        "Shards",
        "audit",
        "find_label_issues",
        "label_quality_scores",
        "load",
        "scorer",
        "simulate",
        "true_accuracy",
    ]
    assert set(noisybayes.__all__) <= set(dir(noisybayes))
    for name in noisybayes.__all__:
        assert callable(getattr(noisybayes, name))
    with pytest.raises(AttributeError, match="module 'noisybayes' has no attribute 'nothing'"):
        _ = noisybayes.nothing


def test_the_library_works_without_any_extra():
    """Importing an extra fails here (that other libraries try is their business)."""
    code = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ('click', 'rich', 'fastapi', 'uvicorn', 'jinja2', 'sqlalchemy', 'torch', 'distributed', 'rjieba'):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import noisybayes, noisybayes.bench
data = noisybayes.simulate(50, n_features=5, n_classes=2, diagonal=(0.9, 0.9), random_state=0)
noisybayes.BernoulliINB().fit(data.X, data.y).predict(data.X)
"""
    result = python(code, "-W", "ignore")
    assert result.returncode == 0, result.stderr


def test_importing_the_package_is_light():
    result = python("import sys, noisybayes; print([m for m in ('numpy', 'sklearn') if m in sys.modules])")
    assert result.stdout.strip() == "[]"


def test_help_answers_at_once():
    command = [sys.executable, "-m", "noisybayes", "--help"]
    seconds = []
    for _ in range(3):
        start = os.times()
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        end = os.times()
        # its own time, so that it does not matter what else the machine does
        seconds.append(end.children_user + end.children_system - start.children_user - start.children_system)
    assert "Usage:" in result.stdout
    assert min(seconds) < 0.5


def test_a_missing_extra_is_one_sentence_with_the_command():
    with pytest.raises(MissingExtraError, match=r"the clock needs no_such_module: pip install 'noisybayes\[time\]'"):
        require("no_such_module", extra="time", purpose="the clock")
    hide = "import sys; sys.modules['click'] = None; sys.argv = ['noisybayes']; from noisybayes.cli import main; main()"
    result = python(hide)
    assert result.returncode == 1
    assert result.stderr == "noisybayes: the command line needs click: pip install 'noisybayes[cli]'\n"


def test_an_error_inside_an_extra_is_not_taken_for_its_absence(tmp_path, monkeypatch):
    (tmp_path / "broken_extra.py").write_text("import also_missing")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="also_missing"):
        require("broken_extra", extra="x", purpose="x")


def test_the_example_data_is_what_its_script_makes(tmp_path):
    made = tmp_path / "dealership.csv"
    subprocess.run(
        [sys.executable, ROOT / "examples/make_dealership.py", "--out", made], check=True, capture_output=True
    )
    assert made.read_bytes() == (ROOT / "examples/dealership.csv").read_bytes()


def test_the_example_data_is_as_described():
    with (ROOT / "examples/dealership.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 2_000
    sizes = Counter(row["true_label"] for row in rows)
    assert 8 <= len(sizes) <= 13
    wrong = [(row["true_label"], row["label"]) for row in rows if row["label"] != row["true_label"]]
    assert 0.15 <= len(wrong) / len(rows) <= 0.20
    # structured: the commonest confusion is far more common than an even spread would make it
    (_, most), *_ = Counter(wrong).most_common()
    assert most > 5 * len(wrong) / (len(sizes) * (len(sizes) - 1))
    for name, size in sizes.items():
        labels = Counter(row["label"] for row in rows if row["true_label"] == name)
        assert labels.most_common(1)[0][0] == name
        assert labels[name] > 0.5 * size


def test_the_labelers_of_the_example_data_are_as_described():
    with (ROOT / "examples/dealership.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["received"] for row in rows) == [row["received"] for row in rows]
    wrong = {name: [row for row in rows if row["labeler"] == name] for name in sorted({r["labeler"] for r in rows})}
    rate = {name: sum(row["label"] != row["true_label"] for row in own) / len(own) for name, own in wrong.items()}
    assert rate["Amira"] < 0.06 < 0.3 < rate["Chen"]
    prices = [row["label"] == "price" for row in wrong["Dolores"] if row["label"] != row["true_label"]]
    assert sum(prices) > 0.5 * len(prices)
    learns = [row["label"] != row["true_label"] for row in wrong["Emil"]]
    third = len(learns) // 3
    assert sum(learns[:third]) > 1.8 * sum(learns[-third:])


def test_the_demo_finds_most_wrong_labels_and_draws_the_report(tmp_path):
    command = [sys.executable, ROOT / "examples/demo.py", tmp_path / "out"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (tmp_path / "out/report.html").exists()
    text = " ".join(result.stdout.split())
    precision = float(text.split("(precision ")[1].split("%")[0])
    recall = float(text.split("recall ")[1].split("%")[0])
    assert precision >= 80
    assert recall >= 80
    who = text.split("Labelers, highest share", 1)[1]
    assert who.index("Chen") < who.index("Emil") < who.index("Amira")
    assert "most mistakes are 'price'" in who
