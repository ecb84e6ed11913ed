"""Files as people have them: audited in Python and from the command line, and in a browser."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from noisybayes import audit
from noisybayes.cli.app import app
from noisybayes.data.read import read_table
from noisybayes.data.roles import find_roles
from noisybayes.web.fitting import fit_table

from ..browser import find_browser
from ..data.example_files import FOLDER
from ..data.example_files import TICKETS as ROWS
from ..data.test_files_of_people import GUESSES
from .serving import serving_here
from .test_layout import wide_table

pytestmark = pytest.mark.usefixtures("small_forests")


@pytest.mark.parametrize("name", GUESSES)
def test_audited_in_python_and_from_the_command_line(name, tmp_path):
    found = audit(FOLDER / name)
    assert found.roles == GUESSES[name]
    assert found.summary()["n_labeled"] == len(ROWS)
    done = CliRunner().invoke(app, ["audit", str(FOLDER / name), "--out", str(tmp_path / "audit")])
    assert done.exit_code == 0, done.output
    told = json.loads((tmp_path / "audit" / "audit.json").read_text(encoding="utf-8"))
    assert (told["run"]["columns"]["label"], told["n_classes"]) == (GUESSES[name].label, 3)
    assert told["noise_rate"] == found.summary()["noise_rate"]
    desk = fit_table(read_table(FOLDER / name), found.roles, name, {}, (), lambda stage: None)
    assert desk.overview["noise_rate"] == told["noise_rate"]
    assert sum(one.suspect for one in desk.findings) == told["n_suspects"]


def kinds_of(name: str) -> dict[str, str]:
    """What the page of the columns must show, by column; the others are ignored."""
    roles = GUESSES[name]._asdict().items()
    return {column: kind for kind, names in roles for column in ([names] if isinstance(names, str) else names or ())}


@pytest.fixture
def address(jobs_here, tmp_path) -> Iterator[str]:
    find_browser()
    with serving_here(tmp_path) as running:
        yield running


def test_imported_in_a_browser_and_two_of_them_audited(chromium, address):
    """The fits of all others are those of `fit_table` above."""
    page = chromium.new_page(base_url=address)
    page.set_default_timeout(60_000)
    audited = []
    for name in GUESSES:
        page.goto("/import")
        page.set_input_files("input[type=file]", FOLDER / name)
        page.click("text=Upload")
        page.wait_for_url("**/columns")
        shown = page.locator("form.block tbody tr").evaluate_all(
            "rows => rows.map(row => [row.querySelector('label').textContent, row.querySelector('select').value])"
        )
        assert {column: kind for column, kind in shown if kind} == kinds_of(name), name
        if name in (min(GUESSES), max(GUESSES)):
            audited.append(page.url.removesuffix("/columns"))
            page.click("text=Find the wrong labels")
            page.wait_for_url(audited[-1])
    for address in audited:
        page.goto(address)
        page.wait_for_selector("#confused", timeout=240_000)
    page.close()


def test_the_desk_says_what_an_audit_says():
    """Of a table of numbers too, which other views than naive Bayes score."""
    frame = read_table(io.BytesIO(wide_table(n_columns=6, n_rows=80).encode()))
    roles, _ = find_roles(frame, label="finding")
    desk = fit_table(frame, roles, "wide.csv", {}, (), lambda stage: None).overview
    found = audit(frame, label="finding").summary()
    assert len(found["run"]["views"]) > 1
    assert [desk[key] for key in ("noise_rate", "n_suspects")] == [found[key] for key in ("noise_rate", "n_suspects")]
    assert desk["run"]["views"] == found["run"]["views"]
