"""Files as people have them: audited in Python, from the command line and on the desk."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from noisybayes import audit
from noisybayes.cli.app import app
from noisybayes.data.read import read_table
from noisybayes.web.fitting import fit_table

from ..data.example_files import FOLDER
from ..data.example_files import TICKETS as ROWS
from ..data.test_files_of_people import GUESSES

pytestmark = pytest.mark.usefixtures("small_forests")


@pytest.mark.parametrize("name", sorted(GUESSES)[::4])  # tests/data reads all of them
def test_audited_in_python_and_from_the_command_line(name, tmp_path):
    found = audit(FOLDER / name)
    assert found.roles == GUESSES[name]
    assert found.summary()["n_labeled"] == len(ROWS)
    done = CliRunner().invoke(app, ["audit", str(FOLDER / name), "--out", str(tmp_path / "audit")])
    assert done.exit_code == 0, done.output
    told = json.loads((tmp_path / "audit" / "audit.json").read_text(encoding="utf-8"))
    assert (told["run"]["columns"]["label"], told["n_classes"]) == (GUESSES[name].label, 3)
    assert told["wrong"] == found.summary()["wrong"]
    desk = fit_table(read_table(FOLDER / name), found.roles, name, {}, (), lambda stage: None)
    assert desk.overview["wrong"] == told["wrong"]
    assert sum(one.suspect for one in desk.findings) == told["n_suspects"]
