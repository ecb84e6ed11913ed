"""The package can be released: wheel and sdist are accepted and complete; recipe, image and workflows agree with it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import noisybayes
from noisybayes.cli.app import app

from .doc_blocks import ROOT
from .tool_scripts import tool

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_extra_is_in_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", readme, re.MULTILINE)) >= set(PROJECT["optional-dependencies"])


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


def test_the_wheel_holds_every_file_of_the_package(built):
    package = ROOT / "src" / "noisybayes"
    files = {
        str(path.relative_to(ROOT / "src"))
        for path in package.rglob("*")
        if path.is_file() and path.suffix not in {".pyc", ".pyo"}
    }
    with zipfile.ZipFile(built[".whl"]) as wheel:
        names = set(wheel.namelist())
    assert files - names == set()
    assert {"noisybayes/py.typed", "noisybayes/web/demo/dealership.csv"} <= names
    assert {name.split("/")[0] for name in names} == {"noisybayes", f"noisybayes-{noisybayes.__version__}.dist-info"}


def test_the_sdist_holds_the_sources_and_no_results(built):
    with tarfile.open(built[".gz"]) as sdist:
        folders = {name.split("/")[1] for name in sdist.getnames()}
    assert {"src", "examples", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"} <= folders
    assert folders & {"results", "tests", "docs", ".github"} == set()


def test_the_installed_wheel_audits_the_example(built, tmp_path):
    """Beside the dependencies of this environment; tools/check_install.sh does it in an empty one, by the network."""
    with zipfile.ZipFile(built[".whl"]) as wheel:
        wheel.extractall(tmp_path / "at")
    code = (
        "import json, noisybayes; found = noisybayes.audit('dealership.csv', label='label', text='message'); "
        "print(json.dumps([noisybayes.__file__, len(found.table)]))"
    )
    (tmp_path / "dealership.csv").symlink_to(ROOT / "examples" / "dealership.csv")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "at")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [str(tmp_path / "at" / "noisybayes" / "__init__.py"), 2_400]


# --- what else states versions and dependencies ----------------------------------------------------------------------


def pythons() -> list[str]:
    found = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each) for each in PROJECT["classifiers"]]
    return [match[1] for match in found if match]


def test_every_python_version_that_is_claimed_is_tested():
    workflow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["pythons"]["strategy"]["matrix"]["python"] == pythons()
    assert PROJECT["requires-python"] == f">={pythons()[0]}"


def test_the_workflows_run_parts_and_scripts_that_exist():
    parts = set(re.findall(r"^  ([a-z |]+)\) ", (ROOT / ".ci/run").read_text(encoding="utf-8"), flags=re.MULTILINE))
    known = {part.strip() for each in parts for part in each.split("|")}
    called = []
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
            called += [step["run"] for step in job["steps"] if "run" in step]
    assert sum(".ci/run" in each for each in called) == 6
    assert "make test-python PYTHON=python" in called
    for command in called:
        if match := re.search(r"\.ci/run (\w+)", command):
            assert match[1] in known
        elif match := re.match(r"tools/\S+", command):
            assert os.access(ROOT / match[0], os.X_OK)


def test_the_conda_recipe_names_the_same_dependencies_and_version():
    recipe = (ROOT / "conda/meta.yaml").read_text(encoding="utf-8")
    _, _, run = recipe.partition("  run:\n")
    listed = set(re.findall(r"^    - (.+)$", run.partition("\ntest:")[0], flags=re.MULTILINE))
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"], f"python{PROJECT['requires-python']}"]
    assert listed == {each.replace(">=", " >=") for each in wanted}
    assert f'version = "{noisybayes.__version__}"' in recipe


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == noisybayes.__version__


def test_the_hooks_before_a_commit_are_checks_of_make():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    check = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(BIN)", ".venv/bin")
    for hook in hooks:
        assert hook["entry"].replace(" --force-exclude", "") in check


# --- the image -------------------------------------------------------------------------------------------------------


instructions = tool("check_image").instructions


def last(name: str) -> str:
    return [rest for each, rest in instructions() if each == name][-1]


def test_what_the_image_copies_exists_and_is_sent():
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").split() if line.startswith("!")}
    copied = set()
    for name, rest in instructions():
        if name == "COPY" and not rest.startswith("--from"):
            copied |= set(rest.split()[:-1])
    assert copied == sent
    assert all((ROOT / each).exists() for each in copied)


def test_the_image_has_what_building_the_package_reads(built):
    """The wheel is built in the image from these files alone, as from the sdist."""
    copied = {word for name, rest in instructions() if name == "COPY" for word in rest.split()}
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert set(hatch["sdist"]["include"]) <= copied


def test_the_image_is_built_as_images_should_be():
    names = [name for name, _ in instructions()]
    assert set(names) <= {
        "FROM",
        "WORKDIR",
        "COPY",
        "RUN",
        "USER",
        "VOLUME",
        "EXPOSE",
        "HEALTHCHECK",
        "ENTRYPOINT",
        "CMD",
    }
    assert all(re.match(r"[\w/]+:[\d.]+\S*( AS \w+)?$", rest) for name, rest in instructions() if name == "FROM")
    assert int(last("USER")) > 0  # a number, not root
    assert names.index("USER") > max(place for place, name in enumerate(names) if name == "RUN")
    assert last("VOLUME") == last("WORKDIR") == "/data"
    assert all("--no-cache-dir" in rest for name, rest in instructions() if name == "RUN" and "pip " in rest)
    extras = re.search(r"\.whl\)\[([\w,]+)\]", last("RUN"))
    assert extras
    assert set(extras[1].split(",")) <= set(PROJECT["optional-dependencies"])


def test_the_health_check_asks_a_page_that_needs_no_token():
    from noisybayes.web.guard import _OPEN

    command = json.loads(last("HEALTHCHECK").partition("CMD ")[2])
    compile(command[2], "health", "exec")
    path = re.search(r"127\.0\.0\.1:(\d+)(/[\w/]+)", command[2])
    assert path
    assert path[1] == last("EXPOSE")
    assert path[2] in _OPEN


def test_the_commands_of_image_and_compose_file_are_accepted():
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    services = [each for each in compose["services"].values() if "build" in each]
    commands = [json.loads(last("CMD")), *(each["command"] for each in services)]
    assert len(commands) == 3
    for command, *arguments in commands:
        context = app.commands[command].make_context(command, list(arguments))
        assert context.params["host"] == "0.0.0.0"
        assert context.params["store"]
    for service in services:
        assert "NOISYBAYES_TOKEN" in service["environment"]
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
        assert {volume.split(":")[0] for volume in service["volumes"]} <= set(compose["volumes"])
