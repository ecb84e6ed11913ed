"""Everything but the data frames of pandas themselves works where pandas is not installed."""

from __future__ import annotations

import os
import subprocess
import sys

from .doc_blocks import ROOT

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

_LIBRARY = """
from sklearn.linear_model import LogisticRegression
data = noisybayes.simulate(200, n_features=6, n_classes=2, diagonal=(0.8, 0.9), random_state=0)
names = np.array(["no", "yes"])[data.y]
objects = names.astype(object)
objects[:2] = None, np.nan
frame = pl.DataFrame(data.X.astype(int), schema=list("abcdef"))
for X, y in (
    (data.X, objects), (data.X, pa.array(names)), (frame, pl.Series([None, *names[1:]])),
    (frame.to_arrow(), pa.array(names)),
):
    model = noisybayes.BernoulliINB(missing_label=np.nan, random_state=0).fit(X, y)
    assert set(model.predict(X)) == {"no", "yes"}

frame = frame.with_columns(label=pl.Series(names), who=pl.Series(["ann", "bob"] * 100))
found = noisybayes.audit(frame, label="label", labeler="who")
for table in ("table", "suspects", "health", "groups", "by_class", "confused_pairs", "contradictions"):
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

_APPLICATIONS = """
import runpy
from noisybayes.bot import Bot, Dialog, load_config
from noisybayes.data.roles import Roles
from noisybayes.web.fitting import fit_table
bot = Bot.train(load_config("cars"))
assert bot.answer(Dialog(), "how much is a used Tarvo").topics == ("price",)
table = pl.read_csv(sys.argv.pop(1))
roles = Roles("label", ("message",), (), (), (), None, None)
assert len(fit_table(table, roles, "table", {0: table["label"][0]}, (), lambda stage: None).findings) >= 500
runpy.run_path(sys.argv.pop(1), run_name='__main__')
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


def test_estimators_and_audits_take_polars_and_arrow_and_say_what_needs_pandas(tmp_path):
    assert without_pandas(_LIBRARY, tmp_path).splitlines() == [
        "this table needs pandas: pip install 'noisybayes[pandas]'; without it, use to_polars(...) of the audit",
        "this table needs pandas: pip install 'noisybayes[pandas]'; without it, use save(folder, sample=...)",
    ]


def test_bot_desk_and_demo(tmp_path):
    """The demo finds most wrong labels."""
    made = without_pandas(
        _APPLICATIONS, ROOT / "examples" / "dealership.csv", ROOT / "examples" / "demo.py", tmp_path / "out"
    )
    assert (tmp_path / "out" / "report.html").exists()
    text = " ".join(made.split())
    assert float(text.split("(precision ")[1].split("%")[0]) >= 80
    assert float(text.split("recall ")[1].split("%")[0]) >= 80
    who = text.split("Wrong labels by 'labeler'", 1)[1]
    assert who.index("Chen") < who.index("Emil") < who.index("Amira")
