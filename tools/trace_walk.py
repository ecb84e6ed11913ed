"""Trace the path of a row through the code, and count how much code a reader has to follow.

    python tools/trace_walk.py [--json]

Two paths are traced: `audit`, from examples/dealership.csv to a folder with the report, through the functions that
`noisybayes audit FILE --out FOLDER` also calls; and `fit`, the default fit of a small table. For each, it counts:

functions   of noisybayes that were called (not lambdas and comprehensions, which are read with the function around)
modules     that contain these
switches    changes of module, if the functions are read in the order in which they were first called
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "examples" / "dealership.csv"


class Walk:
    """The functions of a package, in the order in which they are first called."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._known: dict[CodeType, None] = {}  # all code that was called, of other packages too
        self.functions: dict[tuple[str, str], None] = {}  # (module, name)

    def note(self, frame: FrameType, event: str, argument: Any) -> None:
        if event != "call" or frame.f_code in self._known:
            return
        self._known[frame.f_code] = None
        module = frame.f_globals.get("__name__", "")
        name = frame.f_code.co_qualname.replace("<locals>.", "")
        if module.partition(".")[0] == self._package and "<" not in name:
            self.functions[module, name] = None

    @contextmanager
    def traced(self) -> Iterator[Walk]:
        threading.setprofile(self.note)  # threads started in the meantime
        sys.setprofile(self.note)
        try:
            yield self
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def counts(self) -> dict[str, int]:
        modules = [module for module, _ in self.functions]
        switches = sum(one != other for one, other in pairwise(modules))
        return {"functions": len(modules), "modules": len(set(modules)), "switches": switches}


def walk_of(what: Callable[[], Any]) -> Walk:
    with Walk("noisybayes").traced() as walk:
        what()
    return walk


def audit_a_file() -> Walk:
    from noisybayes import audit

    with tempfile.TemporaryDirectory() as folder:
        return walk_of(lambda: audit(TABLE, label="label", text="message").save(Path(folder) / "audit"))


def fit_a_table() -> Walk:
    from noisybayes import BernoulliINB, simulate

    data = simulate(500, n_features=100, n_classes=3, diagonal=(0.7, 0.8), random_state=0)
    return walk_of(lambda: BernoulliINB().fit(data.X, data.y))


WALKS = {"audit": audit_a_file, "fit": fit_a_table}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="also list the functions, as JSON")
    as_json = parser.parse_args().json
    walks = {name: walk() for name, walk in WALKS.items()}
    if as_json:
        listed = {
            name: {**walk.counts(), "walk": [f"{module}.{function}" for module, function in walk.functions]}
            for name, walk in walks.items()
        }
        print(json.dumps(listed, indent=1))
        return
    print(f"{'walk':<8}{'functions':>10}{'modules':>10}{'switches':>10}")
    for name, walk in walks.items():
        print(f"{name:<8}" + "".join(f"{count:>10}" for count in walk.counts().values()))


if __name__ == "__main__":
    main()
