"""The documentation is tested: code runs and prints what it says; names, options and links are complete and true."""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import io
import re
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
import pytest
import sklearn.exceptions

import noisybayes
from noisybayes.bench.pages import render_page
from noisybayes.cli.app import app
from noisybayes.model.mislabel import DriftWarning, IdentifiabilityWarning

ROOT = Path(__file__).parents[1]
DOCS = sorted((ROOT / "docs").glob("*.md"))
WITH_CODE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
PAGES = [*WITH_CODE, ROOT / "CHANGELOG.md", *sorted((ROOT / "examples").glob("*.md"))]
ESTIMATORS = [noisybayes.BernoulliINB, noisybayes.MultinomialINB, noisybayes.GaussianINB, noisybayes.MixedINB]
ALL_ESTIMATORS = [*ESTIMATORS, noisybayes.MislabelClassifier]
SKIP = "<!-- no test -->"


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def over_pages(pages: list[Path]):
    return pytest.mark.parametrize("page", pages, ids=name_of)


# --- code blocks -----------------------------------------------------------------------------------------------------


class Block(NamedTuple):
    line: int  # of the opening fence, from 1
    language: str
    text: str
    before: str  # what stands between the block before and this one


def blocks_of(text: str) -> list[Block]:
    blocks, last = [], 0
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, match.start()) + 1
        blocks.append(Block(line, match[1], match[2], text[last : match.start()]))
        last = match.end()
    return blocks


def run_blocks(page: Path) -> dict[str, object]:
    """Run the Python blocks of a page in one namespace. A `text` block right after one is what it must print."""
    namespace: dict[str, object] = {"__name__": page.stem}
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    for number, block in enumerate(blocks):
        if block.language != "python" or block.before.rstrip().endswith(SKIP):
            continue
        code = compile("\n" * block.line + block.text, str(page), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        following = blocks[number + 1] if number + 1 < len(blocks) else None
        if following and following.language == "text" and not following.before.strip():
            assert printed.getvalue() == following.text, f"{name_of(page)}:{following.line} is not what the code prints"
    return namespace


@over_pages(WITH_CODE)
def test_the_code_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples save files
    run_blocks(page)


@over_pages([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "docs" / "api.md", ROOT / "docs" / "concepts.md"])
def test_the_page_has_code_to_test(page):
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    assert any(block.language == "python" and not block.before.rstrip().endswith(SKIP) for block in blocks)


# --- generated pages -------------------------------------------------------------------------------------------------


def test_the_benchmarks_page_is_made_from_the_stored_results():
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert page == render_page(ROOT / "results"), "remake it with: noisybayes bench page"


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


OUR_WARNINGS = {kind.__name__: kind for kind in (DriftWarning, IdentifiabilityWarning)}
KINDS = {**vars(builtins), **vars(sklearn.exceptions), **OUR_WARNINGS}


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


# --- docs/concepts.md ------------------------------------------------------------------------------------------------

WITH_CONSTANTS = [
    "model.crossfit", "model.calibration", "model.learner", "model.words", "model.generative", "model.verified",
    "estimators.robust", "estimators.any_classifier", "estimators.mislabel_classifier", "estimators.latent",
]  # fmt: skip


def constants_of(name: str) -> dict[str, object]:
    """The constants that a module defines itself, as plain values."""
    module = import_module(f"noisybayes.{name}")
    names = re.findall(r"^([A-Z_]+) = ", inspect.getsource(module), flags=re.MULTILINE)
    values = {constant: getattr(module, constant) for constant in names}
    return {k: tuple(v.tolist()) if isinstance(v, np.ndarray) else v for k, v in values.items()}


def test_the_table_of_constants_is_complete_and_true():
    page = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    _, _, section = page.partition("### The constants\n")
    section, _, _ = section.partition("\n## ")
    told = {
        name: ast.literal_eval(value) for name, value in re.findall(r"^\| `([\w.]+)` \| `([^`]+)` \|", section, re.M)
    }
    assert told == {f"{name}.{k}": v for name in WITH_CONSTANTS for k, v in constants_of(name).items()}


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
