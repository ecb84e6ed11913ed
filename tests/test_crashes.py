"""Killed at any file operation: outputs are whole or absent, what stood before stays, and nothing is left behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from noisybayes import BernoulliINB, _files, simulate
from noisybayes._files import recover, whole_file, whole_folder

from .crash_points import count_operations, points, run

EXAMPLE = Path(__file__).parents[1] / "examples" / "dealership.csv"
START = "\nfrom pathlib import Path\ncount_operations(int(sys.argv[1]), Path(sys.argv[2]) if sys.argv[2] else None)\n"
SCRIPTS = {
    "audit": "from noisybayes.report.outputs import write_audit\n"
    "from noisybayes import audit\nimport polars as pl\n"
    f"found = audit(pl.read_csv({str(EXAMPLE)!r}, n_rows=80), label='label', text=['message'])" + START
    + "write_audit(found, Path('out'))",
    "model": "from noisybayes.estimators.persist import load_model\n"
    "model = load_model('../given')" + START + "model.save('out')",
    "table": "import polars as pl\nfrom noisybayes.data.read import write_batches\n"
    "frames = [pl.DataFrame({'a': [1, 2]}), pl.DataFrame({'a': [3]})]" + START
    + "write_batches(frames, 'out', 'parquet')",
}  # fmt: skip


def content(path):
    """Everything under a path, or None."""
    if path.is_dir():
        return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}
    return path.read_bytes() if path.exists() else None


def without_times(found):
    """An audit, without when it was made; a zip file knows that too."""
    if isinstance(found, dict):
        return sorted(found)
    return None if found is None else len(found) > 0


@pytest.mark.parametrize("name", SCRIPTS)
def test_killed_at_a_file_operation(name, tmp_path):
    report = tmp_path / "report"
    rows = simulate(40, n_features=5, n_classes=2, random_state=0)
    BernoulliINB().fit(rows.X, rows.y).save(tmp_path / "given")
    (tmp_path / "first").mkdir()
    assert run(SCRIPTS[name], -1, tmp_path / "first", report) == 0
    whole = without_times(content(tmp_path / "first" / "out"))
    n_operations = len(report.read_bytes())
    assert n_operations > 5
    (tmp_path / "again").mkdir()  # each run finds what the killed ones before it left
    for kill_at in points(n_operations, most=4):
        assert run(SCRIPTS[name], kill_at, tmp_path / "again") == -signal.SIGKILL
        assert without_times(content(tmp_path / "again" / "out")) in (None, whole), kill_at
    assert run(SCRIPTS[name], -1, tmp_path / "again") == 0
    assert without_times(content(tmp_path / "again" / "out")) == whole
    assert [path.name for path in (tmp_path / "again").iterdir()] == ["out"]


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
