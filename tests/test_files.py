"""Files and folders appear whole or not at all."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys

import pytest

from noisybayes._files import whole_file, whole_folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_takes_its_place_at_the_end(tmp_path):
    path = tmp_path / "new" / "a.txt"
    with whole_file(path) as made:
        made.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    assert names(path.parent) == ["a.txt"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def test_a_file_that_fails_leaves_the_earlier_one(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("earlier")

    def write_half():
        with whole_file(path) as made:
            made.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_text() == "earlier"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("earlier", [True, False])
def test_a_folder_takes_the_place_of_the_earlier_one(tmp_path, earlier):
    folder = tmp_path / "out"
    if earlier:
        folder.mkdir()
        (folder / "old").write_text("")
    with whole_folder(folder) as made:
        (made / "new").write_text("")
    assert names(folder) == ["new"]
    assert names(tmp_path) == ["out"]


def test_a_folder_that_fails_leaves_the_earlier_one(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "old").write_text("")

    def write_half():
        with whole_folder(folder) as made:
            (made / "new").write_text("")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        write_half()
    assert names(folder) == ["old"]
    assert names(tmp_path) == ["out"]


STUCK = """
import sys, threading, time
from pathlib import Path
from noisybayes import _files
_files._SECONDS_TO_LEAVE = 0.3
lock = threading.Lock()
with _files.scratch_folder(Path(sys.argv[1])):
    print("begun", flush=True)
    try:
        time.sleep(200)
    finally:
        lock.acquire(), lock.acquire()
"""


def test_who_cannot_end_after_sigterm_is_ended_and_leaves_nothing(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", STUCK, tmp_path], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    assert list(tmp_path.iterdir()) != []
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
