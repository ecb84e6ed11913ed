"""The documentation is tested: code runs and prints what it says; names, options and links are complete and true."""

from __future__ import annotations

import builtins
import contextlib
import inspect
import re
import shlex
import subprocess
import tomllib
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import click
import pytest
import sklearn.exceptions
from click.testing import CliRunner

import noisybayes
from noisybayes.bench.security_page import TABLES as SECURITY_TABLES
from noisybayes.bench.security_page import write_page as write_security_page
from noisybayes.bench.speed.page import render_page as render_speed_page
from noisybayes.cli.app import app
from noisybayes.data.errors import InputError
from noisybayes.data.read import read_table
from noisybayes.model.mislabel import DriftWarning, IdentifiabilityWarning
from noisybayes.text.vocabulary import TextSettings

from .doc_blocks import ROOT, SKIP, blocks_of, name_of, run_blocks, run_shell
from .tool_scripts import tool

DOCS = sorted((ROOT / "docs").glob("*.md"))
WITH_SPARK = "score.md"  # run by tests/report/test_row_scorer_spark.py, which has started Java
WITH_CODE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
PAGES = [*WITH_CODE, ROOT / "CHANGELOG.md", *sorted((ROOT / "examples").glob("*.md"))]
ESTIMATORS = [noisybayes.BernoulliINB, noisybayes.MultinomialINB, noisybayes.GaussianINB, noisybayes.MixedINB]
ALL_ESTIMATORS = [*ESTIMATORS, noisybayes.MislabelClassifier]


def over_pages(pages: list[Path]):
    return pytest.mark.parametrize("page", pages, ids=name_of)


# --- code blocks -----------------------------------------------------------------------------------------------------


@over_pages([page for page in WITH_CODE if page.name not in (WITH_SPARK, "api.md")])
def test_the_code_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples save files
    run_blocks(page)


def test_the_code_runs_and_prints_what_the_page_of_the_api_says(api_names):
    assert api_names


def test_the_installed_command_prints_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("examples").symlink_to(ROOT / "examples")
    blocks = blocks_of((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    block, following = next(pair for pair in pairwise(blocks) if pair[0].text.startswith("noisybayes audit"))
    assert run_shell(block.text, installed=True) == following.text


WITH_PYTHON = ["README.md", "CONTRIBUTING.md", "docs/api.md", "docs/concepts.md", "docs/tutorial.md"]


@over_pages([ROOT / name for name in WITH_PYTHON])
def test_the_page_has_code_to_test(page):
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    assert any(block.language == "python" and not block.before.rstrip().endswith(SKIP) for block in blocks)


# --- generated pages -------------------------------------------------------------------------------------------------


def test_the_tables_of_the_security_page_are_made_from_the_stored_results(tmp_path):
    for folder in ("docs", "results"):
        (tmp_path / folder).mkdir()
    page = ROOT / "docs" / "security.md"
    (tmp_path / "docs" / page.name).write_bytes(page.read_bytes())
    text = page.read_text(encoding="utf-8")
    for name in (name for name in SECURITY_TABLES if f"<!-- {name}: begin -->" in text):
        (tmp_path / "results" / f"{name}.csv").write_bytes((ROOT / "results" / f"{name}.csv").read_bytes())
    assert write_security_page(tmp_path).read_text(encoding="utf-8") == text


def test_the_speed_page_is_made_from_the_stored_results():
    assert (ROOT / "docs" / "speed.md").read_text(encoding="utf-8") == render_speed_page(ROOT)


# --- docs/api.md -----------------------------------------------------------------------------------------------------

API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def code_words(text: str) -> set[str]:
    """The names that stand in code spans and code blocks."""
    code = [block.text for block in blocks_of(text)] + re.findall(r"`([^`\n]+)`", text)
    return {word for part in code for word in re.findall(r"\w+", part)}


def fitted_attributes(estimator: type) -> set[str]:
    _, _, attributes = inspect.getdoc(estimator).partition("Attributes\n")
    return set(re.findall(r"\b[a-z]\w*_\b", attributes))


@pytest.mark.parametrize("name", noisybayes.__all__)
def test_every_public_name_has_a_section(name):
    assert re.search(rf"^### `{name}\b", API, flags=re.MULTILINE)


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_every_parameter_is_in_a_table_with_its_default(estimator):
    for parameter in inspect.signature(estimator).parameters.values():
        default = f'"{parameter.default}"' if isinstance(parameter.default, str) else repr(parameter.default)
        assert f"\n| `{parameter.name}` | `{default}` |" in API


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_every_fitted_attribute_is_mentioned(estimator):
    attributes = fitted_attributes(estimator)
    assert {"classes_", "class_prior_", "mislabel_matrix_", "true_proba_", "noise_rate_", "em_steps_"} <= attributes
    assert attributes <= code_words(API)


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_every_public_method_of_our_own_is_in_the_table_of_methods(estimator):
    own = [base for base in estimator.__mro__ if base.__module__.startswith("noisybayes")]
    names = {name for base in own for name in vars(base)}
    methods = {name for name in names if not re.match(r"_|set_\w+_request", name)}  # those are scikit-learn's
    assert {"fit", "predict_true_proba"} <= methods
    assert not [name for name in methods if f"\n| `{name}(" not in API]


@pytest.mark.parametrize("function", [noisybayes.audit, read_table, TextSettings], ids=lambda f: f.__name__)
def test_every_parameter_of_these_is_in_the_table_of_its_section(function):
    _, _, section = API.partition(f"### `{function.__name__}(")
    section, _, _ = section.partition("\n### ")
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is inspect.Parameter.empty:
            assert f"\n| `{parameter.name}` | required |" in section
        else:
            default = f'"{parameter.default}"' if isinstance(parameter.default, str) else repr(parameter.default)
            assert f"\n| `{parameter.name}` | `{default}` |" in section


def test_every_attribute_and_method_of_an_audit_is_in_its_table():
    _, _, section = API.partition("### `Audit`")
    names = {field.name for field in fields(noisybayes.Audit)} | set(vars(noisybayes.Audit))
    names = {name for name in names if not name.startswith("_")}
    assert {"table", "evidence", "run"} <= names
    assert not [name for name in names if not re.search(rf"^\| `{name}\b", section, flags=re.MULTILINE)]


OUR_KINDS = {kind.__name__: kind for kind in (DriftWarning, IdentifiabilityWarning, InputError)}
KINDS = {**vars(builtins), **vars(sklearn.exceptions), **OUR_KINDS}


def complaints() -> list[tuple[str, str, str]]:
    """The rows of the table of errors and warnings: call, kind, how the message begins."""
    _, _, section = API.partition("## Errors and warnings")
    return re.findall(r"^\| `([^`]+)` \| `(\w+)` \| (?:`([^`]+)`)? *\|$", section, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def api_names(tmp_path_factory):
    with contextlib.chdir(tmp_path_factory.mktemp("api")):
        yield run_blocks(ROOT / "docs" / "api.md")


@pytest.mark.parametrize(("call", "kind", "message"), complaints())
def test_bad_input_gets_the_answer_that_the_table_says(api_names, call, kind, message):
    expected = KINDS[kind]
    answered = pytest.warns if issubclass(expected, Warning) else pytest.raises
    with answered(expected, match=re.escape(message) if message else None):
        eval(call, dict(api_names))


def test_the_table_of_errors_was_found():
    assert len(complaints()) > 30


# --- docs/constants.md ------------------------------------------------------------------------------------------------


def test_the_tables_of_constants_are_made_from_the_code():
    page = (ROOT / "docs" / "constants.md").read_text(encoding="utf-8")
    assert page == tool("constants_tables").render(page), "regenerate them: python tools/constants_tables.py"


# --- CONTRIBUTING.md -------------------------------------------------------------------------------------------------

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["toy", "toy_structure"])
def test_recipes_are_those_that_the_laws_are_tested_on(name):
    _, _, recipe = (ROOT / f"tests/contracts/{name}.py").read_text(encoding="utf-8").partition('"""\n\n')
    assert recipe in [block.text for block in blocks_of(CONTRIBUTING)]


def test_the_layout_lists_every_folder():
    layout = next(block.text for block in blocks_of(CONTRIBUTING) if "src/noisybayes/" in block.text)
    package = ROOT / "src" / "noisybayes"
    folders = {path.name for path in package.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(re.findall(r"^  (\w+)/", layout, flags=re.MULTILINE))


def test_the_import_rule_is_that_of_the_linter():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contract if each["type"] == "layers")
    assert f"    {' -> '.join(layers)}\n" in CONTRIBUTING


# --- docs/cli.md -----------------------------------------------------------------------------------------------------


def commands(command: click.Command, path: tuple[str, ...] = ("noisybayes",)):
    yield " ".join(path), command
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from commands(inner, (*path, name))


def section_of(text: str, heading: str) -> str:
    match = re.search(rf"^## `{re.escape(heading)}`\n(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    assert match, f"docs/cli.md has no section `{heading}`"
    return match[1]


@pytest.mark.parametrize(("path", "command"), list(commands(app)))
def test_every_command_and_option_is_in_the_page(path, command):
    section = section_of((ROOT / "docs" / "cli.md").read_text(encoding="utf-8"), path)
    words = {word for code in re.findall(r"`([^`\n]+)`", section) for word in code.split()}
    context = click.Context(command, info_name=path, **command.context_settings)
    wanted = set()
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Option):
            wanted |= {*parameter.opts, *parameter.secondary_opts}
        else:
            wanted.add(parameter.make_metavar(context) if parameter.metavar else parameter.name.upper())
        if isinstance(parameter.type, click.Choice):
            wanted |= set(parameter.type.choices)
    assert wanted <= words, f"missing: {sorted(wanted - words)}"


CLI = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


def bad_commands() -> list[tuple[str, str]]:
    """The rows of the table of bad input: command, message."""
    _, _, section = CLI.partition("## Bad input")
    return re.findall(r"^\| `noisybayes ([^`]+)` \| `` ?(.+?) ?`` \|$", section, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def bad_files(tmp_path_factory):
    """A folder with the files that the page makes before that table."""
    folder = tmp_path_factory.mktemp("bad")
    (folder / "examples").symlink_to(ROOT / "examples")
    script = next(block.text for block in blocks_of(CLI.partition("## Bad input")[2]) if block.language == "sh")
    subprocess.run(["sh", "-ec", script], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize(("command", "message"), bad_commands())
def test_bad_input_on_the_command_line_gets_this_message_and_exit_code_2(bad_files, monkeypatch, command, message):
    monkeypatch.chdir(bad_files)
    answer = CliRunner().invoke(app, shlex.split(command))
    assert answer.exit_code == 2
    assert f"Error: {message}" in answer.output


def test_the_table_of_bad_commands_was_found():
    assert len(bad_commands()) > 30


# --- links -----------------------------------------------------------------------------------------------------------


def anchors(text: str) -> set[str]:
    """The fragments of the headings, as code hosts make them."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", prose, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@over_pages(PAGES)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```$|`[^`\n]+`", "", text, flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, fragment = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.exists(), f"{name_of(page)} links to {target}"
        if fragment:
            assert fragment in anchors(path.read_text(encoding="utf-8")), f"{name_of(page)} links to {target}"


@over_pages(DOCS)
def test_the_index_lists_every_page(page):
    assert page.name == "index.md" or f"({page.name})" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
