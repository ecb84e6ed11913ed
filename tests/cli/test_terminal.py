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
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from noisybayes.cli import INTERRUPTED, main
from noisybayes.cli import app as commands
from noisybayes.cli.app import app
from noisybayes.cli.stage_lines import stage_lines
from noisybayes.cli.terminal import terminal_lines

from ..report.example import example_summary
from ..report.tables import table


def suspect(row, given, suggested, p_wrong=0.9876, words=("refund", "invoice", "payment")):
    evidence = [{"feature": word, "column": "text", "kind": "text", "weight": 1.0} for word in words]
    cells = {"text": "I want\na refund " + "and a very long story " * 20}
    change = {"given": given, "suggested": suggested, "p_wrong": p_wrong}
    return {"row": row, "id": None, **change, "evidence": evidence, "cells": cells}


SUSPECTS = [
    suspect(1_234_567, "a rather long name of a label", "another long name of a label", 0.99999),
    suspect(3, "退款申请", "发票问题", 0.5),
]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_lines_fit_and_show_row_p_wrong_labels_and_text(width):
    from rich.cells import cell_len

    summary = {**example_summary(), "suspects": SUSPECTS}
    lines = [line for line, _ in terminal_lines(summary, width, None, None)]
    at = next(number for number, line in enumerate(lines) if "P(wrong)" in line)
    first, text, second = lines[at + 1 : at + 4]
    assert all(part in first for part in ("1234567", "> 99.9 %"))
    assert all(part in second for part in ("3", "50.0 %"))
    assert text.strip().startswith("I want a refund and a very")
    assert text.endswith("…")
    assert max(map(cell_len, lines[at + 1 : at + 5])) <= width
    if width == 200:
        assert first.endswith("a rather long name of a lab… → another long name of a label  refund, invoice, payment")
        assert "退款申请 → 发票问题" in second
    assert lines[-1].strip() == "noisybayes audit dealership.csv --label label --out audit"


def test_the_last_line_is_the_next_command():
    summary = example_summary()
    command = summary["run"]["command"] = "noisybayes audit 'my file.csv' --sample 50"
    folder = Path("my audit")

    def last(**changes):
        return list(terminal_lines({**summary, **changes}, 100, folder, changes.pop("sample", None)))[-1][0].strip()

    assert last() == f"{command} --sample 50"
    lines = list(terminal_lines(summary, 100, folder, 50))
    file = str(folder / "to_check.csv")
    assert lines[-1][0].strip() == f"noisybayes audit 'my file.csv' --verified-random '{file}'"
    random = {"n": 50, "wrong": 5, "low": 0.05, "high": 0.2}
    assert last(wrong={**summary["wrong"], "random": random}) == f"noisybayes compare '{folder}' new_audit"


def test_help_is_in_groups_and_complete():
    page = CliRunner().invoke(app, ["audit", "--help"], env={"COLUMNS": "80"}).output
    headings = ["Input:", "Columns:", "Suspects:", "Output:", "Text:", "Cluster:", "Model:", "Other:"]
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
    assert "given → suggested" in seen


def _read(terminal):
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux reports the end of a terminal as an error
        return b""


def raised(error):
    raise error


def run_main(monkeypatch, act):
    """The exit code of the program whose command does this."""
    monkeypatch.setattr(commands, "app", click.Command("noisybayes", callback=act))
    monkeypatch.setattr("sys.argv", ["noisybayes"])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code


class Stream(io.TextIOWrapper):
    """Standard output of a terminal or a pipe with a small set of characters."""

    def __init__(self, is_terminal):
        super().__init__(io.BytesIO(), encoding="latin-1")
        self._is_terminal = is_terminal

    def isatty(self):
        return self._is_terminal


@pytest.mark.parametrize(("is_terminal", "shown"), [(True, b"???\n"), (False, "价格…\n".encode())])
def test_characters_that_the_terminal_lacks(monkeypatch, is_terminal, shown):
    stream = Stream(is_terminal)
    monkeypatch.setattr("sys.stdout", stream)
    assert (run_main(monkeypatch, lambda: click.echo("价格…")), stream.buffer.getvalue()) == (0, shown)


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (KeyboardInterrupt(), INTERRUPTED, None),
        (click.UsageError("no"), 2, None),
        (click.exceptions.Exit(1), 1, ""),
        (MemoryError(), 1, "Error: out of memory; use fewer columns\n"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), 2, "Error: No space left on device\n"),
        (
            ModuleNotFoundError("No module named 'no_such_package'", name="no_such_package"), 2,
            "Error: this command needs no_such_package: pip install 'noisybayes[dev]'\n",
        ),
    ],
)  # fmt: skip
def test_errors_are_an_exit_code_and_one_sentence(monkeypatch, capsys, error, code, told):
    assert run_main(monkeypatch, lambda: raised(error)) == code
    assert told in (None, capsys.readouterr().err)


def test_a_missing_writer_of_workbooks_is_told_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    result = CliRunner().invoke(app, ["audit", "no such file", "--excel", "--out", str(tmp_path / "audit")])
    assert (result.exit_code, result.output) == (
        2, "Error: writing Excel files needs xlsxwriter: pip install 'noisybayes[excel]'\n",
    )  # fmt: skip


@pytest.mark.parametrize("command", ["audit", "fit"])
def test_out_is_refused_before_anything_is_read(tmp_path, command):
    (tmp_path / "a file").write_text("x", encoding="utf-8")
    out = tmp_path / "a file" / "out"
    result = CliRunner().invoke(app, [command, "no such file", "--out", str(out)])
    assert result.exit_code == 2
    assert f"{out} cannot be written ({out.parent} is not a folder)" in result.output
