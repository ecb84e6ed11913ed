"""Killed at any file operation: outputs are whole or absent, what stood before stays, and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.crash import FAILURES, Scenario, run
from noisybayes._files import whole_file, whole_folder

# two points of some scenarios; `python -m benchmarks crash` takes all
KILL_SOME = """
import sys
from pathlib import Path
from benchmarks.crash import FAILURES, SCENARIOS, run
for name in ("audit of a large table", "saved model"):
    folder = Path(sys.argv[1], name)
    folder.mkdir()
    found = run(SCENARIOS[name], folder, most=2)
    assert found["operations"] > 5 and found["killed"] >= 1, (name, found)
    assert not any(found[failure] for failure in FAILURES), (name, found)
"""


def test_commands_killed_at_some_operations(tmp_path):
    """In a process of its own, since it is copied for each kill and so must not have started threads."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", KILL_SOME, tmp_path], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def write_folder(text):
    with whole_folder(Path("out")) as made:
        (made / "inner").mkdir()
        for name in ("a", "b", "inner/c"):
            (made / name).write_text(text)


def write_file(text):
    with whole_file(Path("out")) as made:
        made.write_text(text)


@pytest.mark.parametrize("write", [write_folder, write_file])
@pytest.mark.parametrize("earlier", ["older", None])
def test_killed_at_every_operation(write, earlier, tmp_path):
    def new():
        write("new")

    found = run(Scenario(lambda: earlier and write(earlier), new, new), tmp_path)
    assert found["killed"] == found["operations"] > 3
    assert not any(found[failure] for failure in FAILURES), found


def test_a_writer_that_is_not_careful_is_found_out(tmp_path):
    """Written in place, half of the content is there after a kill; its workspace stays."""

    def careless(mode="a"):
        Path("workspace").mkdir(exist_ok=True)
        Path("out").mkdir(exist_ok=True)
        for name in ("a", "b"):
            with Path("out", name).open(mode) as file:
                file.write("x")
        Path("workspace").rmdir()

    def nothing():
        Path("out").mkdir()

    found = run(Scenario(nothing, careless, lambda: careless("w")), _new(tmp_path / "first"))
    assert found["killed"] == found["operations"] == 5
    assert (found["not_whole"], found["differs"], found["leftovers"]) == (1, 0, 0)
    found = run(Scenario(nothing, careless, careless), _new(tmp_path / "second"))
    assert found["differs"] == 2


def _new(folder):
    folder.mkdir()
    return folder
