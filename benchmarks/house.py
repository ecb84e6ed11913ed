"""`make house`: what a reader must hold in mind, counted. A mirror, not a limit.

Prints a table of the figures and appends them to benchmarks/house.csv with the commit.
"""

from __future__ import annotations

import ast
import csv
import inspect
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "noisybayes"
STORED = ROOT / "benchmarks" / "house.csv"
# the folders whose constants decide what an audit says
METHOD = ("audit", "model", "features", "estimators", "auditing", "text")
# functions that learn the parameters of naive Bayes from all rows once
LEARNING = ("NaiveBayes.sums", "naive_bayes_scores")


def lines_and_modules() -> dict[str, int]:
    figures: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).parts
        folder = parts[0] if len(parts) > 1 else "root"
        n = len(path.read_text(encoding="utf-8").splitlines())
        figures.update({"lines": n, "modules": 1, f"lines {folder}": n, f"modules {folder}": 1})
    return dict(figures)


def imported_once() -> int:
    """Modules that exactly one other module of the package imports."""
    importers: dict[str, set[str]] = {}
    names = {_module_name(path) for path in PACKAGE.rglob("*.py")}
    for path in PACKAGE.rglob("*.py"):
        here = _module_name(path)
        package = here if path.name == "__init__.py" else here.rpartition(".")[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                base = package.split(".")
                base = base[: len(base) - node.level + 1] if node.level else []
                target = ".".join([*base, *([node.module] if node.module else [])])
                for found in {target, *(f"{target}.{alias.name}" for alias in node.names)} & names - {here}:
                    importers.setdefault(found, set()).add(here)
    return sum(len(others) == 1 for others in importers.values())


def _module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def constants() -> int:
    """Numbers with a name at the top of a module of the method."""

    def is_number(node: ast.expr) -> bool:
        if isinstance(node, ast.Tuple | ast.List):
            return bool(node.elts) and all(map(is_number, node.elts))
        if isinstance(node, ast.BinOp):
            return is_number(node.left) and is_number(node.right)
        node = node.operand if isinstance(node, ast.UnaryOp) else node
        return isinstance(node, ast.Constant) and type(node.value) in (int, float)

    count = 0
    for folder in METHOD:
        for path in (PACKAGE / folder).rglob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                value = getattr(node, "value", None)
                if isinstance(node, ast.Assign | ast.AnnAssign) and value is not None:
                    count += is_number(value)
    return count


def surface() -> dict[str, int]:
    """Public parameters of `audit`, public names, and the options of each command."""
    import click

    import noisybayes
    from noisybayes.cli.app import app

    figures = {
        "parameters audit()": len(inspect.signature(noisybayes.audit).parameters),
        "public names": len(noisybayes.__all__),
    }

    def add(command: click.Command, name: str) -> None:
        if isinstance(command, click.Group):
            for key, value in command.commands.items():
                add(value, f"{name} {key}".strip())
        else:
            figures[f"options {name}"] = sum(isinstance(option, click.Option) for option in command.params)

    add(app, "")
    figures["options of all commands"] = sum(n for name, n in figures.items() if name.startswith("options "))
    return figures


# Runs in a process of its own, so that nothing is imported yet. Comprehensions and class bodies are not functions.
_TRACE = """
import json, sys, threading
from collections import Counter
calls, last, switches = Counter(), [""], [0]
def profile(frame, event, arg):
    if event != "call":
        return
    code = frame.f_code
    place = code.co_filename.find("noisybayes/")
    if place < 0 or "site-packages" in code.co_filename or not code.co_flags & 1:
        return
    if code.co_name.startswith("<") and code.co_name != "<lambda>":
        return
    module = code.co_filename[place:]
    if not calls[module, code.co_qualname] and last[0] != module:  # a reader follows each function once
        switches[0] += 1
        last[0] = module
    calls[module, code.co_qualname] += 1
from noisybayes.cli.app import app
threading.setprofile(profile); sys.setprofile(profile)
try:
    app(sys.argv[2:], standalone_mode=False)
finally:
    sys.setprofile(None); threading.setprofile(None)
    functions = [list(key) + [n] for key, n in calls.items()]
    json.dump({"functions": functions, "switches": switches[0]}, open(sys.argv[1], "w"))
"""


def walk() -> dict[str, int]:
    """Functions, modules and changes of module that `noisybayes audit` of the example data runs through."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "calls.json"
        example = ROOT / "examples" / "dealership.csv"
        command = ["audit", str(example), "--label", "label", "--text", "message", "--out", str(Path(folder) / "audit")]
        subprocess.run([sys.executable, "-c", _TRACE, str(target), *command], check=True, capture_output=True)
        traced = json.loads(target.read_text())
    functions = traced["functions"]
    return {
        "walk functions": len(functions),
        "walk modules": len({module for module, _, _ in functions}),
        "walk switches": traced["switches"],
        "walk functions run once": sum(n == 1 for _, _, n in functions),
        "walk learning passes": sum(n for _, name, n in functions if name in LEARNING),
    }


def words() -> dict[str, int]:
    """Words of the docs, with README and CONTRIBUTING."""
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    pages = [page for page in pages if page.exists()]
    return {
        "pages of docs": len(pages),
        "words of docs": sum(len(page.read_text(encoding="utf-8").split()) for page in pages),
    }


def tests() -> dict[str, float]:
    """Lines of tests, and the seconds of the last whole run of `make test` on this machine, if there was one."""
    figures: dict[str, float] = {
        name: sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / name).rglob("*.py"))
        for name in ("tests", "benchmarks", "paper")
        if (ROOT / name).exists()
    }
    figures = {f"lines of {name}/": n for name, n in figures.items()}
    seconds = ROOT / ".pytest_cache" / "v" / "noisybayes" / "seconds"
    if seconds.exists():
        figures["seconds of tests"] = round(float(seconds.read_text()), 0)
    return figures


def measure() -> dict[str, float]:
    figures: dict[str, float] = {**lines_and_modules(), "modules imported once": imported_once()}
    return {**figures, "constants of the method": constants(), **surface(), **walk(), **words(), **tests()}


def main() -> None:
    figures = measure()
    earlier = list(csv.DictReader(STORED.open(encoding="utf-8"))) if STORED.exists() else []
    changed = "+" if _git("status", "--porcelain", "src", "tests", "docs") else ""
    commit = _git("rev-parse", "--short", "HEAD") + changed
    before: dict[str, str] = {}
    for row in earlier:
        before[row["figure"]] = row["value"]
    width = max(map(len, figures))
    print(f"{'':{width}}  {'before':>9}  {'now':>9}")
    for name, value in figures.items():
        print(f"{name:{width}}  {before.get(name, ''):>9}  {value:>9g}")
    with STORED.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["commit", "date", "figure", "value"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for row in earlier if row["commit"] != commit)
        date = _git("log", "-1", "--format=%cs")
        writer.writerows({"commit": commit, "date": date, "figure": k, "value": f"{v:g}"} for k, v in figures.items())


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
