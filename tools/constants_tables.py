"""The tables of constants in docs/constants.md, generated from the code: names, values and reasons.

    python tools/constants_tables.py            write them into the page
    python tools/constants_tables.py --check    only check whether the page is up to date

The constants of the robust fit are the fields of `robust.constants.Config`, each with its reason; those of a module are
its numbers at the top level, and the reason is the comment above them.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "noisybayes"
PAGE = ROOT / "docs" / "constants.md"
#: The subject of each table; a folder means all of its modules.
TABLES = {
    "the robust fit": ["robust", "estimators/any_classifier.py", "estimators/latent.py", "dataset"],
    "the audit": ["auditing", "views"],
}


class Constant(NamedTuple):
    name: str  # module and name
    value: Any
    reason: str


def of_config() -> Iterator[Constant]:
    from noisybayes.robust.constants import DEFAULT

    for field in dataclasses.fields(DEFAULT):
        value = getattr(DEFAULT, field.name)
        yield Constant(f"robust.config.{field.name}", _plain(value), field.metadata["reason"])


def of_module(path: Path) -> Iterator[Constant]:
    name = path.relative_to(PACKAGE).with_suffix("").as_posix().replace("/", ".")
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    for node in ast.parse(source).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Name) and re.fullmatch(r"_?[A-Z][A-Z_]*", target.id):
            value = _plain(getattr(import_module(f"noisybayes.{name}"), target.id))
            if _is_number(value):
                yield Constant(f"{name}.{target.id}", value, _comment(lines, node.lineno - 1, f"{name}.{target.id}"))


def _plain(value: Any) -> Any:
    """Named tuples as plain tuples of numbers."""
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


def _is_number(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_number, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _comment(lines: list[str], at: int, name: str) -> str:
    """The comment on the constant in line `at`: beside it, or else above it."""
    _, _, beside = lines[at].partition("  # ")
    above: list[str] = []
    while at > 0 and lines[at - 1].startswith("#"):
        at -= 1
        above.insert(0, lines[at].lstrip("#: "))
    reason = beside or " ".join(above)
    if not reason:
        raise SystemExit(f"{name} has no reason; write it in a comment above it")
    return reason


def constants(places: list[str]) -> Iterator[Constant]:
    for place in places:
        if place == "robust":
            yield from of_config()
        path = PACKAGE / place
        for module in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            yield from of_module(module)


def table(places: list[str]) -> str:
    rows = [
        f"| `{name}` | `{value!r}` | {reason[:1].upper()}{reason[1:].rstrip('.')} |"
        for name, value, reason in constants(places)
    ]
    return "\n".join(["| constant | value | reason |", "|---|---|---|", *rows])


def render(page: str) -> str:
    """The page with its tables regenerated."""
    for what, places in TABLES.items():
        begin, end = f"<!-- constants of {what} -->\n", "\n<!-- end of constants -->"
        before, found, rest = page.partition(begin)
        _, ended, after = rest.partition(end)
        if not (found and ended):
            raise SystemExit(f"{PAGE.name} has no place for the constants of {what}: {begin.strip()}")
        page = before + begin + table(places) + end + after
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if the page is out of date")
    check = parser.parse_args().check
    page = PAGE.read_text(encoding="utf-8")
    made = render(page)
    if not check:
        PAGE.write_text(made, encoding="utf-8")
    elif made != page:
        sys.exit(f"{PAGE} is out of date; run {Path(sys.argv[0])}")


if __name__ == "__main__":
    main()
