"""The target that atheris calls: its bytes are read as a table or as a model. `guided` starts this in a new process.

An input that fails is kept under a name that says what failed and where, and the run continues.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import re
import sys
import tempfile
import traceback
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from . import fuzz_tables, model_files
from .runner import SECONDS
from .table_writers import WRITERS

#: File suffixes: the first byte of an input selects one, the second whether and which encoding is given.
_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx", "", ".csv.gz")
_ENCODINGS = (None, None, None, "utf-8", "utf-16", "utf-16-le", "cp1252", "gb18030", "utf-7", "hz", "shift_jis", "idna")
_SEEDS = 120
_LONGEST = 20_000


def table_seeds() -> list[bytes]:
    """Undamaged tables of all formats."""
    rng, seeds = np.random.default_rng(0), []
    for number in range(_SEEDS):
        suffix, data = list(WRITERS.values())[number % len(WRITERS)](rng, int(rng.choice([1, 2, 12])))
        seeds.append(bytes([_SUFFIXES.index(suffix), number % len(_ENCODINGS)]) + data)
    return [seed for seed in seeds if len(seed) < _LONGEST]


def read_table_input(data: bytes, folder: Path) -> None:
    if len(data) < 3:
        return
    path = folder / f"table{_SUFFIXES[data[0] % len(_SUFFIXES)]}"
    path.write_bytes(data[2:])
    try:
        fuzz_tables.check(path, None, {"encoding": _ENCODINGS[data[1] % len(_ENCODINGS)]}, audited=False)
    finally:
        path.unlink()


def model_seeds() -> list[bytes]:
    return list(model_files.originals())


def read_model_input(data: bytes, folder: Path) -> None:
    path = folder / "model"
    path.write_bytes(data)
    model_files.check(path)


def mutated_model(data: bytes, most: int, seed: int) -> bytes:
    """Mutate an entry before it is packed and correct its checksum; otherwise nothing gets past the checksums."""
    mutate: Callable[[bytes, int], bytes] = importlib.import_module("atheris").Mutate
    rng = np.random.default_rng(seed)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name = list(members)[int(rng.integers(len(members)))]
        members[name] = mutate(members[name], len(members[name]) + 64)
        packed = model_files.packed(members, method=zipfile.ZIP_STORED)
    except Exception:  # already damaged: any bytes will do
        return mutate(data, most)
    return packed if len(packed) <= most else data


TARGETS: dict[str, tuple[Callable[[], list[bytes]], Callable[[bytes, Path], None], Any]] = {
    "tables": (table_seeds, read_table_input, None),
    "models": (model_seeds, read_model_input, mutated_model),
}


def main(kind: str, work: Path, seconds: int) -> None:
    """Fuzz for `seconds`; findings go to `work/findings`, inputs that cover new code to `work/corpus`."""
    atheris = importlib.import_module("atheris")
    seeds, read, mutator = TARGETS[kind]
    corpus, findings = work / "corpus", work / "findings"
    for folder in (corpus, findings):
        folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds():
        (corpus / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
    scratch = Path(tempfile.mkdtemp(prefix="noisybayes-guided-", dir=work))
    warnings.simplefilter("ignore")  # warnings about values far from those of a fit

    def one_input(data: bytes) -> None:
        start = process_time()
        try:
            read(data, scratch)
            if process_time() - start > SECONDS:
                (findings / f"hang-{hashlib.sha256(data).hexdigest()[:16]}").write_bytes(data)
        except BaseException as error:  # polars raises Rust panics, which are not of type Exception
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            _keep(error, data, findings)

    # a shared machine may pause for minutes: a hang is detected by processor time, by wall time only as a last resort
    options = [
        f"-max_total_time={seconds}", f"-artifact_prefix={findings}/", "-timeout=1200", "-report_slow_units=1200",
        "-rss_limit_mb=4096", "-max_len=40000", "-print_final_stats=1",
    ]  # fmt: skip
    given = {} if mutator is None else {"custom_mutator": mutator}
    atheris.Setup([sys.argv[0], *options, str(corpus)], one_input, **given)
    atheris.Fuzz()


def _keep(error: BaseException, data: bytes, findings: Path) -> None:
    """Keep the first input of each kind of failure: the type of the error and the line that raised it."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    name = re.sub(r"\W+", "-", f"{type(error).__name__}-{Path(frame.filename).name}-{frame.lineno}")
    if not (findings / name).exists():
        (findings / name).write_bytes(data)
        report = {"error": "".join(traceback.format_exception(error))[-4000:]}
        (findings / f"{name}.json").write_text(json.dumps(report), encoding="utf-8")
