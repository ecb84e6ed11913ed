"""What users run in a container: the image and the compose file agree with the package."""

from __future__ import annotations

import json
import re
import tomllib

import yaml

import noisybayes
from noisybayes.cli.app import app

from .doc_blocks import ROOT
from .tool_scripts import tool

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
INSTRUCTIONS = tool("check_image").instructions()


def last(name: str) -> str:
    return [rest for each, rest in INSTRUCTIONS if each == name][-1]


def test_the_image_has_what_building_the_package_reads():
    """The wheel is built in the image from these files alone, as from the sdist."""
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").split() if line.startswith("!")}
    copied = set()
    for name, rest in INSTRUCTIONS:
        if name == "COPY" and not rest.startswith("--from"):
            copied |= set(rest.split()[:-1])
    assert copied == sent
    assert all((ROOT / each).exists() for each in copied)
    assert set(PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]) <= copied
    extras = re.search(r"\.whl\)\[([\w,]+)\]", last("RUN"))
    assert extras
    assert set(extras[1].split(",")) <= set(PROJECT["project"]["optional-dependencies"])


def test_the_image_runs_as_a_user_who_is_not_root():
    names = [name for name, _ in INSTRUCTIONS]
    assert int(last("USER")) > 0  # a number, not root
    assert names.index("USER") > max(place for place, name in enumerate(names) if name == "RUN")
    assert last("VOLUME") == last("WORKDIR") == "/data"


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


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == noisybayes.__version__
