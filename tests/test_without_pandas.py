"""Everything but the data frames of pandas themselves works where pandas is not installed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from .doc_blocks import ROOT

DEMO = ROOT / "examples" / "demo.py"

_BLOCK = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import numpy as np
import polars as pl
import pyarrow as pa
import noisybayes
"""

_FITS = """
data = noisybayes.simulate(200, n_features=6, n_classes=2, diagonal=(0.8, 0.9), random_state=0)
names = np.array(["no", "yes"])[data.y]
objects = names.astype(object)
objects[:2] = None, np.nan
frame = pl.DataFrame(data.X.astype(float), schema=list("abcdef"))
for X, y in (
    (data.X, names), (data.X, objects), (data.X, pa.array(names)),
    (frame, pl.Series(names)), (frame, pl.Series([None, *names[1:]])), (frame.to_arrow(), pa.array(names)),
):
    model = noisybayes.BernoulliINB(missing_label=np.nan, random_state=0).fit(X, y)
    assert set(model.predict(X)) == {"no", "yes"}
verified = np.where(np.arange(200) < 5, names.astype(object), None)
assert noisybayes.BernoulliINB().fit(data.X, names, verified=verified).classes_.tolist() == ["no", "yes"]
"""

_AUDITS = """
from sklearn.linear_model import LogisticRegression
data = noisybayes.simulate(200, n_features=6, n_classes=2, diagonal=(0.8, 0.9), random_state=0)
frame = pl.DataFrame(data.X.astype(float), schema=list("abcdef"))
frame = frame.with_columns(label=pl.Series(np.array(["no", "yes"])[data.y]), who=pl.Series(["ann", "bob"] * 100))
found = noisybayes.audit(frame, label="label", labeler="who")
for table in ("table", "suspects", "health", "labelers", "by_class", "confused_pairs", "contradictions"):
    assert isinstance(found.to_polars(table), pl.DataFrame), table
found.save(sys.argv[1] + "/audit", sample=10)
assert "p_wrong" in noisybayes.scorer(sys.argv[1] + "/audit")(frame).columns
assert len(noisybayes.audit(frame.to_arrow(), label="label").to_polars()) == 200
noisybayes.audit(frame.drop("who"), label="label", estimator=LogisticRegression())
for ask in (lambda: found.suspects, lambda: found.random_sample(5)):
    try:
        ask()
    except ImportError as error:
        print(error)
"""

_COMMAND_LINE = """
from noisybayes.cli import main
main()
"""

_BOT = """
from dataclasses import replace
from noisybayes.bot import load_config, train
from noisybayes.bot.demo import DEMO_DIALOGS
from noisybayes.bot.evaluate import evaluate
config = load_config("cars_en")
few = replace(config, meanings=replace(config.meanings, examples=config.meanings.examples[::8]))
assert list(train(few, DEMO_DIALOGS).model.feature_names_in_) == list(config.features)
assert len(evaluate(few, DEMO_DIALOGS, reps=1).methods) == 6
"""

_DESK = """
from noisybayes.data.roles import Roles
from noisybayes.web.fitting import fit_table
table = pl.read_csv(sys.argv[1])
roles = Roles("label", ("message",), (), (), (), None, None)
made = fit_table(table, roles, "table", {0: table["label"][0]}, (), lambda stage: None)
assert len(made.findings) >= 500
"""


def without_pandas(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _BLOCK + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_estimators_take_arrays_and_frames_of_polars_and_arrow():
    without_pandas(_FITS)


def test_an_audit_of_polars_or_arrow_says_what_needs_pandas(tmp_path):
    assert without_pandas(_AUDITS, tmp_path).splitlines() == [
        "this table needs pandas: pip install 'noisybayes[pandas]'; without it, use to_polars(...) of the audit",
        "this table needs pandas: pip install 'noisybayes[pandas]'; without it, use save(folder, sample=...)",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        (
            "audit",
            ROOT / "examples" / "dealership.csv",
            "--label",
            "label",
            "--text",
            "message",
            "--labeler",
            "labeler",
        ),
        ("bench", "--help"),
    ],
    ids=["audit", "bench"],
)
def test_the_command_line(arguments, tmp_path):
    out = ("--out", tmp_path / "audit", "--sample", 10, "--export", "cleanlab") if arguments[0] == "audit" else ()
    assert without_pandas(_COMMAND_LINE, *arguments, *out)


def test_a_bot_is_trained_and_evaluated():
    without_pandas(_BOT)


def test_the_review_desk_fits_a_table():
    without_pandas(_DESK, ROOT / "examples" / "dealership.csv")


def test_the_demo(tmp_path):
    shown = without_pandas(
        "import runpy; runpy.run_path(sys.argv.pop(1), run_name='__main__')", DEMO, tmp_path / "demo"
    )
    assert "Compared with the true labels" in shown
