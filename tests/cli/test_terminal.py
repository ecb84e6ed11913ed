"""What a terminal, a pipe and a shell get: help in groups, progress, lines that fit, exit codes."""

from __future__ import annotations

import errno
import io
import os
import pty
import re
import subprocess
import sys
import threading
from functools import partial

import click
import pytest
from click.testing import CliRunner

from noisybayes.cli import INTERRUPTED, main
from noisybayes.cli import app as commands
from noisybayes.cli.app import app
from noisybayes.cli.stage_lines import stage_lines
from noisybayes.cli.suspect_lines import suspect_lines

from ..report.tables import table


def suspect(row, given, suggested, p_wrong=0.9876, words=("refund", "invoice", "payment")):
    evidence = [{"feature": word, "weight": 1.0} for word in words]
    return {"row": row, "given": given, "suggested": suggested, "p_wrong": p_wrong, "evidence": evidence}


SUSPECTS = [
    suspect(1_234_567, "a rather long name of a label", "another long name of a label", 0.99999),
    suspect(3, "退款申请", "发票问题", 0.5),
]


@pytest.mark.parametrize("width", [28, 40, 60, 80, 200])
def test_row_and_p_wrong_never_vanish(width):
    lines = suspect_lines(SUSPECTS, width)
    expected = (("row", "P(wrong)"), ("1234567", "> 99.9 %"), ("3", "50.0 %"))
    for line, parts in zip(lines, expected, strict=True):
        assert all(part in line for part in parts)
    if width >= 40:
        from rich.cells import cell_len

        assert max(map(cell_len, lines)) <= width


def test_the_reasons_shrink_first():
    assert "refund, invoice, payment" in suspect_lines(SUSPECTS, 200)[1]
    short = suspect_lines([suspect(3, "price", "hours")], 44)
    assert short[1].startswith("3    price  hours      98.8 %    refund")
    assert short[1].endswith("…")


def test_help_is_in_groups_and_complete():
    page = CliRunner().invoke(app, ["audit", "--help"], env={"COLUMNS": "80"}).output
    headings = ["Input:", "Columns:", "Suspects:", "Output:", "Text:", "Size:", "Model:", "Other:"]
    places = [page.index(f"\n{heading}\n") for heading in headings]
    assert places == sorted(places)
    audit = app.commands["audit"]
    for option in audit.params:
        if isinstance(option, click.Option):
            assert len(re.findall(rf"(?m)^  (-h, )?{option.opts[-1]}( |$)", page)) == 1, option.name


def test_stages_are_lines_and_long_ones_are_repeated():
    said, repeated = [], threading.Event()

    def say(line):
        said.append(line)
        if "so far" in line:
            repeated.set()

    with stage_lines(say, every=0.01) as tell:
        tell("reading")
        tell("reading")
        tell("fitting")
        assert repeated.wait(30)
    n_said = len(said)
    assert said[:2] == ["reading...", "fitting..."] or said[1].startswith("reading... (")
    assert any(line.startswith("fitting... (") for line in said)
    assert len(said) == n_said  # nothing comes after the end


def test_without_a_terminal_stages_go_to_standard_error(tmp_path):
    file = tmp_path / "t.csv"
    table().write_csv(file)
    loud = CliRunner().invoke(app, ["audit", str(file)])
    assert loud.exit_code == 0
    assert "reading...\nbuilding features...\nfitting...\n" in loud.stderr
    assert "reading..." not in loud.stdout
    assert CliRunner().invoke(app, ["audit", str(file), "--quiet"]).stderr == ""


def test_a_real_terminal_gets_a_progress_bar(tmp_path):
    file = tmp_path / "t.csv"
    table().write_csv(file)
    command = [sys.executable, "-m", "noisybayes", "audit", str(file), "--out", str(tmp_path / "out")]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        seen = b"".join(iter(partial(_read, ours), b"")).decode()
    os.close(ours)
    assert process.returncode == 0, seen
    assert all(stage in seen for stage in ("reading", "fitting", "writing"))
    assert "reading..." not in seen
    assert "The most suspicious rows" in seen


def _read(terminal):
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux reports the end of a terminal as an error
        return b""


def test_every_command_with_progress_works_on_a_terminal(tmp_path):
    file, model = tmp_path / "t.csv", tmp_path / "model"
    table().write_csv(file)
    terminal = {"FORCE_COLOR": "1"}  # rich takes any output for a terminal
    for command in (["fit", file, "--out", model], ["predict", model, file, "--out", tmp_path / "scored.csv"]):
        done = CliRunner().invoke(app, [str(part) for part in command], env=terminal)
        assert done.exit_code == 0, done.output
        assert "\x1b[" in done.stderr
        assert {"fit": "fitting", "predict": "scoring"}[command[0]] in done.stderr


@click.command()
def interrupted():
    raise KeyboardInterrupt


@click.command()
def refused():
    raise click.UsageError("no")


@click.command()
def decided():
    raise click.exceptions.Exit(1)


@click.command()
def too_large():
    raise MemoryError


@click.command()
def printed():
    click.echo("价格…")


@click.command()
def written():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Stream(io.TextIOWrapper):
    """Standard output of a terminal or a pipe with a small set of characters."""

    def __init__(self, is_terminal):
        super().__init__(io.BytesIO(), encoding="latin-1")
        self._is_terminal = is_terminal

    def isatty(self):
        return self._is_terminal


@pytest.mark.parametrize(("is_terminal", "shown"), [(True, b"???\n"), (False, "价格…\n".encode())])
def test_characters_that_the_terminal_lacks(monkeypatch, is_terminal, shown):
    monkeypatch.setattr(commands, "app", printed)
    monkeypatch.setattr("sys.argv", ["noisybayes"])
    stream = Stream(is_terminal)
    monkeypatch.setattr("sys.stdout", stream)
    with pytest.raises(SystemExit) as end:
        main()
    assert (end.value.code, stream.buffer.getvalue()) == (0, shown)


def test_a_full_disk_is_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr(commands, "app", written)
    monkeypatch.setattr("sys.argv", ["noisybayes"])
    with pytest.raises(SystemExit) as end:
        main()
    assert (end.value.code, capsys.readouterr().err) == (2, "Error: No space left on device\n")


@click.command()
def measured():
    import no_such_package  # noqa: F401


def test_a_package_that_is_missing_is_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr(commands, "app", measured)
    monkeypatch.setattr("sys.argv", ["noisybayes"])
    with pytest.raises(SystemExit) as end:
        main()
    told = "Error: this command needs no_such_package: pip install 'noisybayes[dev]'\n"
    assert (end.value.code, capsys.readouterr().err) == (2, told)


def test_a_missing_writer_of_workbooks_is_told_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    result = CliRunner().invoke(app, ["audit", "no such file", "--excel", "--out", str(tmp_path / "audit")])
    assert (result.exit_code, result.output) == (
        2, "Error: writing Excel files needs xlsxwriter: pip install 'noisybayes[excel]'\n",
    )  # fmt: skip


@pytest.mark.parametrize(("command", "code"), [(interrupted, INTERRUPTED), (refused, 2), (decided, 1), (too_large, 1)])
def test_exit_codes(monkeypatch, command, code):
    monkeypatch.setattr(commands, "app", command)
    monkeypatch.setattr("sys.argv", ["noisybayes"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == code


def test_too_little_memory_is_said_in_a_sentence(monkeypatch, capsys):
    monkeypatch.setattr(commands, "app", too_large)
    monkeypatch.setattr("sys.argv", ["noisybayes"])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err == ("Error: out of memory; use fewer columns, or keep rows on disk (--memory)\n")


def test_out_is_refused_before_anything_is_read(tmp_path):
    file = tmp_path / "a file"
    file.write_text("x", encoding="utf-8")
    result = CliRunner().invoke(app, ["audit", "no such file", "--out", str(file / "audit")])
    assert result.exit_code == 2
    assert f"{file / 'audit'} cannot be written ({file} is not a folder); choose another folder with --out" in (
        result.output
    )
