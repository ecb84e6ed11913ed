"""What atheris is given and what is kept of what it finds; it runs itself in `noisybayes bench fuzz --coverage`."""

from __future__ import annotations

import io
import sys
import types
import zipfile
from pathlib import Path

import numpy as np
import pytest

from benchmarks.fuzz import fuzz_tables, guided, guided_target, model_files
from benchmarks.fuzz.guided_target import _keep, model_seeds, mutated_model, table_seeds
from noisybayes.data.errors import InputError
from noisybayes.estimators import load

FINDINGS = sorted((Path(__file__).parents[2] / "data" / "findings").iterdir())


@pytest.mark.parametrize("path", FINDINGS, ids=lambda path: path.name)
def test_what_was_once_found_is_read_or_refused_in_one_line(path):
    fuzz_tables.check(path, None, {}, audited=False)


def test_seeds_are_whole_files_of_all_formats(tmp_path):
    seeds = table_seeds()
    assert len({seed[0] for seed in seeds}) == 6  # endings
    for seed in seeds[:10]:
        guided_target.read_table_input(seed, tmp_path)
    for seed in model_seeds():
        (tmp_path / "model").write_bytes(seed)
        assert model_files.check(tmp_path / "model")


def test_a_changed_model_gets_past_its_checksums(tmp_path, monkeypatch):
    """Else only the code that compares checksums would be fuzzed."""

    def mutate(data, most):
        return data[:-8] + np.float64("nan").tobytes() if data.startswith(b"\x93NUMPY") else data

    monkeypatch.setitem(sys.modules, "atheris", types.SimpleNamespace(Mutate=mutate))
    said = []
    for seed in range(8):
        changed = mutated_model(model_seeds()[0], 100_000, seed)
        assert zipfile.is_zipfile(io.BytesIO(changed))
        (tmp_path / "model").write_bytes(changed)
        try:
            load(tmp_path / "model")
        except InputError as error:
            said.append(str(error))
    assert any("an array contains NaN" in each for each in said), said
    assert mutated_model(b"no archive", 100, 0) == b"no archive"


def test_the_first_input_of_each_failure_is_kept(tmp_path):
    folder = tmp_path / "findings"
    folder.mkdir()
    for data, error in ((b"a", KeyError("x")), (b"b", KeyError("y")), (b"c", ValueError("z"))):
        try:
            raise error
        except Exception as raised:
            _keep(raised, data, folder)
    (folder / "crash-123").write_bytes(b"d")
    names = guided.findings(tmp_path)
    assert [guided.is_end(name) for name in names] == [False, False, True]
    assert [(folder / name).read_bytes() for name in names] == [b"a", b"c", b"d"]
    assert "KeyError: 'x'" in guided.error_text(tmp_path, names[0])


def test_what_is_counted_is_what_was_told(tmp_path, monkeypatch):
    log = (
        "#1 INITED cov: 10 ft: 20 corp: 3/1Kb\n#9 NEW cov: 15 ft: 30 corp: 5/2Kb\nstat::number_of_executed_units: 77\n"
    )
    monkeypatch.setattr(guided, "_CHILD", f"import sys; sys.stderr.write({log!r})")
    monkeypatch.setattr(guided, "version", lambda name: "0")
    row = guided.one_run("tables", 60, tmp_path)
    assert (row["executed"], row["coverage_first"], row["coverage"], row["corpus"]) == (77, 10, 15, 5)
    assert "| tables | 1 | 77 | 10 | 15 | 5 | 0 | 0 |" in guided.render([row])
    monkeypatch.setattr(guided, "_CHILD", "raise SystemExit('no such thing')")
    with pytest.raises(RuntimeError, match="did not start: no such thing"):
        guided.one_run("tables", 60, tmp_path)
