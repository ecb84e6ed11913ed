"""The package as a stranger meets it: public names, light imports, missing extras, and what is in wheel and sdist."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import noisybayes
from noisybayes._extras import MissingExtraError, require

from .doc_blocks import ROOT

PACKAGE = ROOT / "src" / "noisybayes"
#: These use the installed package, and it knows nothing of them.
OUTSIDE = {"bench", "baselines", "benchmarks", "paper", "tests"}


def python(code, *arguments, **options):
    command = [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_the_public_names_are_these():
    assert noisybayes.__all__ == [
        "Audit", "BernoulliINB", "GaussianINB", "MislabelClassifier", "MixedINB", "MultinomialINB", "audit",
        "find_label_issues", "label_quality_scores", "load", "scorer", "simulate",
    ]  # fmt: skip
    assert set(noisybayes.__all__) <= set(dir(noisybayes))
    for name in noisybayes.__all__:
        assert callable(getattr(noisybayes, name))
    with pytest.raises(AttributeError, match="module 'noisybayes' has no attribute 'nothing'"):
        _ = noisybayes.nothing


def test_help_answers_at_once():
    code = "import atexit, sys; atexit.register(lambda: print({'numpy', 'polars', 'sklearn'} & set(sys.modules)))\n"
    result = python(code + "sys.argv = ['noisybayes', '--help']; from noisybayes.cli import main; main()")
    assert "Usage:" in result.stdout
    assert result.stdout.splitlines()[-1] == "set()"


def test_a_missing_extra_is_one_sentence_with_the_command():
    with pytest.raises(MissingExtraError, match=r"the clock needs no_such_module: pip install 'noisybayes\[time\]'"):
        require("no_such_module", extra="time", purpose="the clock")
    hide = "import sys; sys.modules['click'] = None; sys.argv = ['noisybayes']; from noisybayes.cli import main; main()"
    result = python(hide)
    assert result.returncode == 1
    assert result.stderr == "noisybayes: the command line needs click: pip install 'noisybayes[cli]'\n"


def test_an_error_inside_an_extra_is_not_taken_for_its_absence(tmp_path, monkeypatch):
    (tmp_path / "broken_extra.py").write_text("import also_missing")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="also_missing"):
        require("broken_extra", extra="x", purpose="x")


def test_the_example_data_is_what_its_script_makes(tmp_path):
    made = tmp_path / "dealership.csv"
    command = [sys.executable, ROOT / "examples/make_dealership.py", "--out", made]
    subprocess.run(command, check=True, capture_output=True)
    assert made.read_bytes() == (ROOT / "examples/dealership.csv").read_bytes()


# --- wheel and sdist -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> dict[str, Path]:
    """The sdist, and the wheel made from it; without the network, so the build tools are those of the extra `dev`."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.suffix: path for path in folder.iterdir()}


def test_a_package_index_accepts_wheel_and_sdist(built):
    command = [sys.executable, "-m", "twine", "check", "--strict", *built.values()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"})
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("PASSED") == 2


def test_wheel_and_sdist_hold_every_file_of_the_package(built):
    files = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and path.suffix not in {".pyc", ".pyo"}
    }
    with zipfile.ZipFile(built[".whl"]) as wheel:
        names = set(wheel.namelist())
    assert files - names == set()
    assert {"noisybayes/py.typed", "noisybayes/web/demo/dealership.csv"} <= names
    assert {name.split("/")[0] for name in names} == {"noisybayes", f"noisybayes-{noisybayes.__version__}.dist-info"}
    with tarfile.open(built[".gz"]) as sdist:
        folders = {name.split("/")[1] for name in sdist.getnames()}
    assert {"src", "examples", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"} <= folders
    assert folders & {"results", "tests", "docs", ".github"} == set()


def imported(path):
    """The modules, with their parents, and names that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (part for alias in node.names for part in alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module or "").split(".")
            yield from (alias.name for alias in node.names)


def test_benchmarks_experiments_and_tests_are_neither_in_the_wheel_nor_imported(built):
    with zipfile.ZipFile(built[".whl"]) as wheel:
        assert [name for name in wheel.namelist() if OUTSIDE & set(name.split("/"))] == []
    assert [path for path in PACKAGE.rglob("*.py") if OUTSIDE & set(imported(path))] == []


def test_the_wheel_works_without_any_extra_and_its_import_is_light(built, tmp_path):
    """Importing an extra fails here (that other libraries try is their business). tools/check_install.sh does it in an
    empty environment, by the network."""
    with zipfile.ZipFile(built[".whl"]) as wheel:
        wheel.extractall(tmp_path / "at")
    code = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ('click', 'rich', 'fastapi', 'uvicorn', 'sqlalchemy', 'torch', 'distributed', 'rjieba', 'pyarrow'):
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
import noisybayes
print(noisybayes.__file__)
assert not {'numpy', 'polars', 'sklearn'} & set(sys.modules)
data = noisybayes.simulate(50, n_features=5, n_classes=2, diagonal=(0.9, 0.9), random_state=0)
noisybayes.BernoulliINB().fit(data.X, data.y).predict(data.X)

import polars as pl
frame = pl.DataFrame(data.X.astype(int), schema=list('abcde')).with_columns(label=pl.Series(data.y))
score = noisybayes.scorer(noisybayes.audit(frame, label='label').save(sys.argv[1]))
assert score(frame)['p_wrong'].null_count() == 0
try:
    score([])
except ImportError as error:
    print(error)
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "at")}
    result = python(code, tmp_path / "audit", cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stderr
    needs_arrow = "scoring of Arrow record batches needs pyarrow: pip install 'noisybayes[arrow]'"
    assert result.stdout.splitlines() == [str(tmp_path / "at" / "noisybayes" / "__init__.py"), needs_arrow]
