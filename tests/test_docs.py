"""The documentation is tested: code runs and prints what it says; names, options and links are complete and true."""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import noisybayes
from noisybayes.cli.app import app
from noisybayes.data.read import read_table
from noisybayes.text.vocabulary import TextSettings

from .doc_blocks import ROOT, SKIP, blocks_of, name_of, run_blocks

DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS, ROOT / "examples" / "README.md"]
HOW_TOS = [page for page in DOCS if page.name.startswith(("howto-", "from-"))]
FIRST = [ROOT / "README.md", ROOT / "docs" / "tutorial.md", ROOT / "docs" / "concepts.md"]
API, CLI = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("api.md", "cli.md"))


def over_pages(pages: list[Path]):
    return pytest.mark.parametrize("page", pages, ids=name_of)


def is_run(page: Path) -> bool:
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    return any(block.language == "python" and not block.before.rstrip().endswith(SKIP) for block in blocks)


# --- code blocks -----------------------------------------------------------------------------------------------------


@pytest.mark.timeout(900)  # the tutorial runs a dozen commands, which takes minutes on a busy machine
@over_pages([page for page in FIRST + HOW_TOS if page in FIRST or is_run(page)])
def test_the_code_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples save files
    assert is_run(page)
    run_blocks(page)


# --- docs/api.md -----------------------------------------------------------------------------------------------------

OURS = [getattr(noisybayes, name) for name in noisybayes.__all__]
ESTIMATORS = [each for each in OURS if hasattr(each, "fit")]


@pytest.mark.parametrize("name", noisybayes.__all__)
def test_every_public_name_has_a_section(name):
    assert re.search(rf"^### `{name}\b", API, flags=re.MULTILINE)


@pytest.mark.parametrize("thing", [*ESTIMATORS, noisybayes.audit, read_table, TextSettings], ids=lambda f: f.__name__)
def test_every_parameter_is_in_a_table_with_its_default(thing):
    table = API if thing in ESTIMATORS else API.partition(f"### `{thing.__name__}(")[2].partition("\n### ")[0]
    for name, parameter in inspect.signature(thing).parameters.items():
        if parameter.default is inspect.Parameter.empty:
            assert f"\n| `{name}` | required |" in table
        else:
            default = f'"{parameter.default}"' if isinstance(parameter.default, str) else repr(parameter.default)
            assert f"\n| `{name}` | `{default}` |" in table


@pytest.mark.parametrize("thing", [*ESTIMATORS, noisybayes.Audit], ids=lambda f: f.__name__)
def test_every_method_of_our_own_is_in_a_table(thing):
    own = [base for base in thing.__mro__ if base.__module__.startswith("noisybayes")]
    names = {name for base in own for name in vars(base) if not re.match(r"_|set_\w+_request", name)}
    assert len(names) > 3
    assert not [name for name in names if not re.search(rf"^\| `{name}\b", API, flags=re.MULTILINE)]


# --- docs/cli.md -----------------------------------------------------------------------------------------------------


def commands(command: click.Command, path: tuple[str, ...] = ("noisybayes",)):
    yield " ".join(path), command
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from commands(inner, (*path, name))


@pytest.mark.parametrize(("path", "command"), list(commands(app)))
def test_every_command_and_option_is_in_the_page(path, command):
    section = re.search(rf"^## `{re.escape(path)}`\n(.*?)(?=^## |\Z)", CLI, flags=re.MULTILINE | re.DOTALL)
    assert section, f"docs/cli.md has no section `{path}`"
    words = {word for code in re.findall(r"`([^`\n]+)`", section[1]) for word in code.split()}
    context = click.Context(command, info_name=path, **command.context_settings)
    wanted = set()
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Option):
            wanted |= {*parameter.opts, *parameter.secondary_opts}
        if isinstance(parameter.type, click.Choice):
            wanted |= set(parameter.type.choices)
    assert wanted <= words, f"missing: {sorted(wanted - words)}"


def how_to_commands() -> list[str]:
    blocks = [block.text for page in [FIRST[0], *HOW_TOS] for block in blocks_of(page.read_text(encoding="utf-8"))]
    return [line for text in blocks for line in text.splitlines() if line.startswith("noisybayes ")]


@pytest.mark.parametrize("command", how_to_commands())
def test_the_commands_of_the_how_to_pages_are_accepted(command):
    _, name, *arguments = shlex.split(command)
    assert app.commands[name].make_context(name, arguments).command.name == name


_, _, BAD_INPUT = CLI.partition("## Bad input")


@pytest.fixture(scope="module")
def bad_files(tmp_path_factory):
    """A folder with the files that the page makes before its table of bad input."""
    folder = tmp_path_factory.mktemp("bad")
    (folder / "examples").symlink_to(ROOT / "examples")
    script = next(block.text for block in blocks_of(BAD_INPUT) if block.language == "sh")
    subprocess.run(["sh", "-ec", script], cwd=folder, check=True)
    return folder


def test_bad_input_on_the_command_line_gets_its_message_and_exit_code_2(bad_files, monkeypatch):
    monkeypatch.chdir(bad_files)
    rows = re.findall(r"^\| `noisybayes ([^`]+)` \| `` ?(.+?) ?`` \|$", BAD_INPUT, flags=re.MULTILINE)
    assert len(rows) > 30
    for command, message in rows:
        answer = CliRunner().invoke(app, shlex.split(command))
        assert answer.exit_code == 2, command
        assert f"Error: {message}" in answer.output, command


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
