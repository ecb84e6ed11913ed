"""Killed at any file operation: outputs are whole or absent, what stood before stays, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.crash.points import count_operations
from benchmarks.crash.runner import run_scenario
from benchmarks.crash.scenarios import Scenario
from noisybayes import _files
from noisybayes._files import recover, whole_file, whole_folder

POINTS = 2  # of each scenario here; `noisybayes bench crash` takes all


def content(path):
    """Everything under a path, or None."""
    if path.is_dir():
        return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}
    return path.read_bytes() if path.exists() else None


KILL_SOME = """
import sys
from pathlib import Path
from benchmarks.crash.runner import FAILURES, run_scenario
from benchmarks.crash.scenarios import SCENARIOS
for name, scenario in SCENARIOS.items():
    folder = Path(sys.argv[1], name)
    folder.mkdir()
    found = run_scenario(scenario, folder, int(sys.argv[2]))
    assert found["operations"] > 5 and found["killed"] >= 1, (name, found)  # threads may do one operation more or less
    assert not any(found[failure] for failure in FAILURES), (name, found)
"""


def test_killed_at_some_operations(tmp_path):
    """In a process without threads, since it is copied for each kill; one for all scenarios, which import the same."""
    environment = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    arguments = [sys.executable, "-c", KILL_SOME, str(tmp_path), str(POINTS)]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_writer_that_is_not_careful_is_found_out(tmp_path):
    """Written in place, half of the content is there after a kill; its workspace stays."""

    def careless(folder):
        (folder / "workspace").mkdir(exist_ok=True)
        for name in ("a", "b"):
            with (folder / name).open("a") as file:
                file.write("x")
        (folder / "workspace").rmdir()

    def once_more(folder):
        for name in ("a", "b"):
            (folder / name).write_text("x")

    def both(folder):
        return [content(folder / name) for name in ("a", "b")]

    found = run_scenario(Scenario(lambda folder: None, careless, once_more, both), tmp_path)
    assert found["killed"] == found["operations"] == 4
    assert (found["not_whole"], found["differs"], found["leftovers"]) == (1, 0, 3)
    found = run_scenario(Scenario(lambda folder: None, careless, careless, both), _new(tmp_path))
    assert found["differs"] == 2


def _new(folder):
    made = folder / "second"
    made.mkdir()
    return made


def killed(work, kill_at):
    """Do it in a process of its own, which is killed before that operation; False if it came to its end."""
    child = os.fork()
    if child == 0:
        count_operations(kill_at)
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def write_folder(target, text):
    with whole_folder(target) as made:
        for name in ("a", "b"):
            (made / name).write_text(text)
        (made / "inner").mkdir()
        (made / "inner" / "c").write_text(text)


def write_file(target, text):
    with whole_file(target) as made:
        made.write_text(text)


@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "two renames"])
@pytest.mark.parametrize("earlier", [True, False], ids=["replaced", "new"])
@pytest.mark.parametrize("write", [write_folder, write_file])
def test_killed_at_every_operation(write, earlier, exchange, tmp_path, monkeypatch):
    """The earlier content is there at every moment with EXCHANGE, and else from the next look on."""
    if not exchange:
        monkeypatch.setattr(_files, "_exchange", lambda one, other: False)
    write(tmp_path / "new" / "out", "new")
    write(tmp_path / "old" / "out", "old")
    new, old = content(tmp_path / "new" / "out"), content(tmp_path / "old" / "out")
    kill_at = 0
    while True:
        target = tmp_path / str(kill_at) / "out"
        target.parent.mkdir()
        if earlier:
            write(target, "old")
        was_killed = killed(lambda target=target: write(target, "new"), kill_at)
        if not was_killed:
            break
        if not (earlier and exchange):
            recover(target)
        assert content(target) in ((old, new) if earlier else (None, new)), kill_at
        write(target, "new")
        assert content(target) == new
        assert [path.name for path in target.parent.iterdir()] == ["out"], kill_at
        kill_at += 1
    assert kill_at > 8


def test_a_writer_that_is_alive_is_left_alone(tmp_path):
    target = tmp_path / "out"
    with whole_folder(target) as made:
        (made / "a").write_text("slow")
        write_folder(target, "fast")  # another writer, in between
        assert (made / "a").exists()
    assert content(target) == {"a": b"slow"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_exchange_is_used_where_there_is_one(tmp_path):
    """On Linux with a usual file system, no moment is without a folder."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "of a").touch()
    assert _files._exchange(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b" / "of a").exists()
    with pytest.raises(FileNotFoundError):
        _files._exchange(tmp_path / "a", tmp_path / "none")


def test_everything_is_on_the_disk_before_it_is_in_its_place(tmp_path, monkeypatch):
    order = []
    monkeypatch.setattr(_files, "_sync", lambda path: order.append(("sync", Path(path).name)))
    monkeypatch.setattr(_files, "_put", lambda made, folder, workspace: order.append(("put", folder.name)))
    write_folder(tmp_path / "out", "x")
    put = order.index(("put", "out"))
    assert {name for what, name in order[:put]} == {"a", "b", "c", "inner", "new"}
    assert order[put + 1 :] == [("sync", tmp_path.name)]
