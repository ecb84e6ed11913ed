"""The command line in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from noisybayes.cli.app import app

EXAMPLE = Path(__file__).parents[2] / "examples" / "dealership.csv"


def run(*arguments: Any, stdin: Any = None) -> Result:
    return CliRunner().invoke(app, [str(part) for part in arguments], input=stdin, env={"COLUMNS": "200"})


def refused(told: str, *arguments: Any) -> bool:
    """Whether the command ends with exit code 2 and says this."""
    result = run(*arguments)
    assert (result.exit_code, told in result.output) == (2, True), result.output
    return True


def summary(folder: Path, places: int | None = None) -> dict[str, Any]:
    """What does not differ from run to run; numbers rounded to this many places."""
    parse = float if places is None else lambda number: round(float(number), places)
    told: dict[str, Any] = json.loads((folder / "audit.json").read_text(encoding="utf-8"), parse_float=parse)
    for name in ("command", "created", "seconds"):
        del told["run"][name]
    return told
