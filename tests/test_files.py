"""Files and folders appear whole or not at all, also when their writer is killed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys

import pytest

from noisybayes._files import recover, scratch_folder, whole_file, whole_folder


def content(path):
    """Everything under a path, or None."""
    if path.is_dir():
        return {str(p.relative_to(path)): p.read_text() for p in sorted(path.rglob("*")) if p.is_file()}
    return path.read_text() if path.exists() else None


def write_file(target, text):
    with whole_file(target) as made:
        assert made.suffix == target.suffix  # writers of archives look at it
        made.write_text(text)


def write_folder(target, text):
    with whole_folder(target) as made:
        (made / "inner").mkdir()
        for name in ("a", "b", "inner/c"):
            (made / name).write_text(text)


WRITERS = pytest.mark.parametrize("write", [write_file, write_folder])


@WRITERS
def test_the_new_one_takes_the_place_of_the_earlier_one(write, tmp_path):
    target = tmp_path / "new" / "out.x"
    for text in ("earlier", "new"):
        write(target, text)
    found = content(target)
    assert found == "new" or set(found.values()) == {"new"}
    assert [path.name for path in target.parent.iterdir()] == ["out.x"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(target.stat().st_mode) == (0o777 if target.is_dir() else 0o666) & ~mask


@WRITERS
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_one_that_fails_leaves_the_earlier_one(write, error, tmp_path):
    target = tmp_path / "out"
    write(target, "earlier")
    before = content(target)

    def fail():
        with (whole_folder if target.is_dir() else whole_file)(target) as made:
            (made / "half" if target.is_dir() else made).write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert content(target) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


EVENTS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "shutil.rmtree", "tempfile.mkdtemp")


def killed(work, kill_at):
    """Do it in a process of its own, killed before its file operation of that number; False if it came to its end."""
    child = os.fork()
    if child == 0:
        seen = 0

        def watch(event, arguments):
            nonlocal seen
            if event in EVENTS:
                if seen == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                seen += 1

        sys.addaudithook(watch)
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@WRITERS
@pytest.mark.parametrize("earlier", [True, False], ids=["replaced", "new"])
def test_killed_at_every_operation(write, earlier, tmp_path):
    """What stood before is there, or the whole new one; the next writer leaves nothing else."""
    write(tmp_path / "new" / "out", "new")
    write(tmp_path / "old" / "out", "old")
    allowed = [content(tmp_path / "old" / "out") if earlier else None, content(tmp_path / "new" / "out")]
    kill_at = 0
    while True:
        target = tmp_path / str(kill_at) / "out"
        target.parent.mkdir()
        if earlier:
            write(target, "old")
        if not killed(lambda target=target: write(target, "new"), kill_at):
            break
        recover(target)  # as everybody does who reads a folder
        assert content(target) in allowed, kill_at
        write(target, "new")
        assert content(target) == allowed[1]
        assert [path.name for path in target.parent.iterdir()] == ["out"], kill_at
        kill_at += 1
    assert kill_at > 5


def test_a_writer_that_is_alive_is_left_alone(tmp_path):
    target = tmp_path / "out"
    with whole_folder(target) as made:
        (made / "a").write_text("slow")
        write_folder(target, "fast")  # another writer, in between
        assert (made / "a").exists()
    assert content(target) == {"a": "slow"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


SCRATCH = """
import sys, time
from pathlib import Path
from noisybayes._files import scratch_folder
with scratch_folder(Path(sys.argv[1])) as folder:
    (folder / "rows").write_text("many")
    print("begun", flush=True)
    time.sleep(200)
"""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_a_scratch_folder_goes_with_its_process_or_with_the_next_one(tmp_path, number, code):
    process = subprocess.Popen([sys.executable, "-c", SCRATCH, tmp_path], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    process.send_signal(number)
    process.communicate()
    assert process.returncode == code
    assert (list(tmp_path.iterdir()) == []) == (number == signal.SIGTERM)
    with scratch_folder(tmp_path) as folder:
        assert list(tmp_path.iterdir()) == [folder]
