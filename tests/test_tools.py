"""The tools run, and count what they say."""

from __future__ import annotations

import json
import subprocess
import sys

from .doc_blocks import ROOT


def test_the_walk_is_traced():
    command = [sys.executable, ROOT / "tools" / "trace_walk.py", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    walks = json.loads(done.stdout)
    assert set(walks) == {"audit", "fit"}
    for walk in walks.values():
        assert walk["functions"] == len(walk["walk"]) == len(set(walk["walk"]))
        assert walk["modules"] < walk["functions"]
        assert walk["modules"] - 1 <= walk["switches"] < walk["functions"]
    assert walks["fit"]["walk"][0] == "noisybayes.estimators.family_models.BernoulliModel.__init__"
    assert "noisybayes.robust.fit.fit" in walks["fit"]["walk"]
    assert "noisybayes.report.html.render_html" in walks["audit"]["walk"]
