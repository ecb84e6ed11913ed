"""`noisybayes compare`: what changed between two audits, and the exit code for CI."""

from __future__ import annotations

import copy
import json

import pytest

from noisybayes.audit.rates import AT_LEAST
from noisybayes.report.comparison import compare, comparison_text

from ..report.example import example_summary
from .command import run


def changed(**values):
    return {**copy.deepcopy(example_summary()), **values}


def without_first_suspect():
    after = changed()
    after["suspects"] = after["suspects"][1:]
    after["n_suspects"] -= 1
    after["wrong"] = {**after["wrong"], "estimate": after["wrong"]["estimate"] - 0.05}
    return after


def write(folder, content):
    folder.mkdir()
    (folder / "audit.json").write_text(json.dumps(content), encoding="utf-8")
    return str(folder)


def test_a_fixed_suspect_is_gone_and_the_other_way_round_new():
    before, after = changed(), without_first_suspect()
    found = compare(before, after)
    assert [one["row"] for one in found.gone_suspects] == [before["suspects"][0]["row"]]
    assert found.new_suspects == []
    assert found.rise == pytest.approx(-0.05 * AT_LEAST)
    back = compare(after, before)
    assert back.new_suspects == found.gone_suspects
    assert "New suspects (1 row)" in comparison_text(back)
    assert "(+5.0 points)" in comparison_text(back)
    after["wrong"]["random"] = {"n": 50, "wrong": 10, "low": 0.12, "high": 0.31}
    assert compare(before, after).rise == found.rise  # only one of them was checked
    before["wrong"]["random"] = {"n": 50, "wrong": 15, "low": 0.21, "high": 0.42}
    assert compare(before, after).rise == pytest.approx(-0.09)


@pytest.mark.parametrize("with_ids", [True, False])
def test_rows_may_move(with_ids):
    before, after = changed(), changed()
    for number, (old, new) in enumerate(zip(before["suspects"], after["suspects"], strict=True)):
        old["id"] = new["id"] = f"T-{number}" if with_ids else None
        old["cells"] = new["cells"] = {"message": f"text {number}"}
        new["row"] += 7
    found = compare(before, after)
    assert found.rise == 0
    for listed in (found.new_suspects, found.gone_suspects, found.pairs, found.classes, found.new_classes):
        assert listed == []


def test_classes_come_and_go():
    found = compare(example_summary(), changed(classes=["brand new", *example_summary()["classes"][1:]]))
    assert (found.new_classes, found.gone_classes) == (["brand new"], [example_summary()["classes"][0]])


def test_exit_codes(tmp_path):
    better, worse = write(tmp_path / "better", without_first_suspect()), write(tmp_path / "worse", changed())
    assert run("compare", worse, better, "--fail-on", "rise").exit_code == 0
    assert run("compare", better, worse).exit_code == 0
    risen = run("compare", better, worse, "--fail-on", "rise", "--json")
    assert (risen.exit_code, "has risen from" in risen.stderr) == (1, True)
    assert json.loads(risen.stdout)["rise"] == pytest.approx(0.05 * AT_LEAST)
    assert run("compare", better, worse, "--fail-on", "rise", "--tolerance", "0.1").exit_code == 0
    assert run("compare", better, tmp_path / "none").exit_code == 2
