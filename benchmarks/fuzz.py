"""Damaged and malicious files: each must be read, or refused with one sentence.

Cases are numbers: the same kind and number give the same file. A separate process reads them, so that a crash or a hang
costs only that process and one case.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import multiprocessing
import os
import resource
import shutil
import signal
import tempfile
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from noisybayes import BernoulliINB, GaussianINB, MixedINB, MultinomialINB, audit, load, simulate
from noisybayes._extras import MissingExtraError
from noisybayes.bot.config import SHIPPED, SHIPPED_NAMES, load_config
from noisybayes.data.batches import Batches
from noisybayes.data.errors import InputError
from noisybayes.data.formats import FORMATS
from noisybayes.data.read import read_table

from .result_files import Row, table

Rng = np.random.Generator
Members = dict[str, bytes]  # of a model file
RESULTS = ("read", "refused", "traceback", "wrong_rows", "crash", "hang")
#: A case that takes longer hangs: seconds of processor time, since wall time also passes when a machine is busy.
SECONDS = 20
_WAITED = 600  # a case that only waits uses no processor time; it hangs after this wall time
_MEMORY = 8 << 30  # bytes of address space; what needs more ends the process
_AUDITED = 20  # every twentieth table is also audited


def one_of(rng: Rng, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


def damaged(data: bytes, rng: Rng) -> bytes:
    """Damage that needs no knowledge of the format."""
    how = one_of(rng, ("bit flips", "cut", "hole", "repeat", "noise", "zeros"))
    start, stop = sorted(int(n) for n in rng.integers(len(data) + 1, size=2))
    if how == "bit flips":
        changed = bytearray(data)
        for position in rng.integers(len(data), size=one_of(rng, (1, 1, 1, 3, 20))) if data else ():
            changed[position] ^= 1 << int(rng.integers(8))
        return bytes(changed)
    middle = {
        "cut": b"",
        "hole": data[stop:],
        "repeat": data[start:stop] + data[start:],
        "noise": rng.bytes(int(rng.integers(1, 64))) + data[start:],
        "zeros": bytes(stop - start) + data[stop:],
    }
    return data[:start] + middle[how]


# --- tables of every format, encoding and column type ----------------------------------------------------------------

_CELLS = (
    "", " ", "yes", "0", "1,5", "1e154", "-1e400", "nan", '"', "a,b", "line\nbreak", "\0", "\u2028", "=1+1", "好", "é",
    "🙂", "\ufeff", "x" * 3_000, "{}", "[1", "NULL", "2020-01-01", "\ud7ff", "'; --", "<b>", "\t", "%s", "٣",
)  # fmt: skip
_VALUES = (None, True, 1, 2**70, 1.5, [], [1, "a"], {"a": {"b": [1]}}, float("nan"), "x", [[[]]])
_TYPED: tuple[tuple[Any, Any], ...] = (
    (timedelta(days=3), pl.Duration("ms")), (timedelta(microseconds=1), pl.Duration("us")), (date(1, 1, 1), pl.Date),
    (datetime(9999, 12, 31), pl.Datetime("us")), (datetime(2020, 1, 1), pl.Datetime("ns", "Asia/Tokyo")),
    (time(23, 59), pl.Time), (Decimal("1.10"), pl.Decimal(20, 5)), (b"\xff\0", pl.Binary), (True, pl.Boolean),
    (2**63, pl.UInt64), (-(2**63), pl.Int64), (255, pl.UInt8), (1e154, pl.Float64), (float("inf"), pl.Float32),
    (float("nan"), pl.Float64), ("a", pl.Categorical), ("a", pl.Enum(["a", "b"])), ([1, None], pl.List(pl.Int8)),
    ([1.0, 2.0], pl.Array(pl.Float32, 2)), ({"a": 1, "b": [None]}, pl.Struct({"a": pl.Int8, "b": pl.List(pl.String)})),
    (None, pl.Null), (2**100, pl.Int128), ("a\0b", pl.String),
)  # fmt: skip
_ENCODINGS = (
    None, "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252", "gb18030", "shift_jis", "big5", "ascii",
    "utf-7", "idna", "punycode", "rot13", "base64", "nonsense", "", "utf-8\0", "hz",
)  # fmt: skip
_PACKED: tuple[tuple[Callable[[bytes], bytes], str], ...] = (
    (gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz"), (gzip.compress, ""),
)  # fmt: skip


class WrongRowsError(AssertionError):
    """A table was read with more or fewer rows than it has."""


def try_table(rng: Rng, folder: Path, number: int) -> bool:
    """Whether the table was read; it must have the same rows when read at once and in batches."""
    write, n_rows = one_of(rng, _WRITERS), one_of(rng, (1, 2, 12, 40))
    suffix, data = write(rng, n_rows)
    is_intact, options = True, {}
    if write is _excel and rng.random() < 0.4:
        # damage to a ZIP file seldom passes its checksums, so an entry is damaged before it is packed
        entries = unzipped(data)
        name = one_of(rng, list(entries))
        is_intact, data = False, zipped(entries | {name: damaged(entries[name], rng)})
    elif rng.random() < 0.6:
        is_intact, data = False, damaged(data, rng)
    if rng.random() < 0.1:
        pack, more = one_of(rng, _PACKED)
        data, suffix = pack(data), suffix + more
    if rng.random() < 0.3:
        options = {"format": one_of(rng, (None, *FORMATS, "nonsense")), "encoding": one_of(rng, _ENCODINGS)}
    path = folder / f"table{suffix}"
    path.write_bytes(data)
    try:
        frame = read_table(path, **options)
        in_batches = sum(batch.height for batch in Batches(path, rows=7, **options))
        if frame.height != in_batches or (is_intact and not options and frame.height != n_rows):
            raise WrongRowsError(f"{n_rows} written, {frame.height} read, {in_batches} in batches")
        if number % _AUDITED == 0:
            audit(frame if options else path).summary()
    except (InputError, MissingExtraError) as error:
        return refused(error)
    finally:
        path.unlink()
    return True


def refused(error: Exception) -> bool:
    if "\n" in str(error).strip():
        raise AssertionError("the error has more than one line") from error
    return False


def _columns(rng: Rng, n: int) -> dict[str, list[str]]:
    words = np.array(["red", "blue", "car", "price", "open", "sunday", "好", "多少"])
    texts = [one_of(rng, _CELLS) if rng.random() < 0.3 else " ".join(rng.choice(words, size=4)) for _ in range(2 * n)]
    return {"text": texts[:n], "label": [str(label) for label in rng.choice(["a", "b"], size=n)], "more": texts[n:]}


def _delimited(rng: Rng, n: int) -> tuple[str, bytes]:
    separator, suffix = one_of(rng, ((",", ".csv"), ("\t", ".tsv"), (";", ".csv")))
    # values that no quoting preserves are left to the damage
    cells = {name: [cell.replace("\0", "0") or "-" for cell in column] for name, column in _columns(rng, n).items()}
    encoding = one_of(rng, ("utf-8", "utf-8-sig", "utf-16", "gb18030"))
    return suffix, pl.DataFrame(cells).write_csv(separator=separator, quote_style="always").encode(encoding, "replace")


def _json(rng: Rng, n: int) -> tuple[str, bytes]:
    """Rows, or an export of a labeling tool, in which some values have a type that is not expected."""
    export = one_of(rng, _EXPORTS)
    rows = [export(number, **row) for number, row in enumerate(pl.DataFrame(_columns(rng, n)).to_dicts())]
    for row in rows[1:]:  # the first one determines the format
        if rng.random() < 0.3:
            row[one_of(rng, list(row))] = one_of(rng, _VALUES)
    if rng.random() < 0.5:
        return ".json", json.dumps(rows, ensure_ascii=False).encode("utf-8", "replace")
    return ".jsonl", "\n".join(map(json.dumps, rows)).encode()


def _label_studio(number: int, text: str, label: str, more: str) -> dict[str, Any]:
    result = {"from_name": "label", "type": "choices", "value": {"choices": [label]}}
    annotations = [{"completed_by": 1, "result": [result], "was_cancelled": False}]
    return {"id": number, "annotations": annotations, "data": {"text": text, "more": more}}


def _argilla(number: int, text: str, label: str, more: str) -> dict[str, Any]:
    responses = {"label": [{"value": label, "user_id": "u"}]}
    return {"id": str(number), "status": "completed", "fields": {"text": text}, "responses": responses}


def _prodigy(number: int, text: str, label: str, more: str) -> dict[str, Any]:
    options = [{"id": "a"}, {"id": "b"}]
    accepted = {"options": options, "accept": [label], "answer": "accept"}
    return {"text": text, "_input_hash": 1, "_task_hash": 2, **accepted}


def _doccano(number: int, text: str, label: str, more: str) -> dict[str, Any]:
    return {"id": number, "text": text, "label": [label], "Comments": []}


def _plain(number: int, text: str, label: str, more: str) -> dict[str, Any]:
    return {"text": text, "label": label, "more": more}


_EXPORTS = (_plain, _plain, _label_studio, _argilla, _prodigy, _doccano)


def _parquet(rng: Rng, n: int) -> tuple[str, bytes]:
    value, dtype = one_of(rng, _TYPED)
    values = [None if rng.random() < 0.2 else value for _ in range(n)]
    frame = pl.DataFrame(_columns(rng, n)).with_columns(pl.Series("more", values, dtype=dtype, strict=False))
    stream = io.BytesIO()
    frame.write_parquet(stream, compression="uncompressed" if rng.random() < 0.5 else "zstd")
    return ".parquet", stream.getvalue()


def _excel(rng: Rng, n: int) -> tuple[str, bytes]:
    stream = io.BytesIO()
    pl.DataFrame(_columns(rng, n)).write_excel(stream)
    return ".xlsx", stream.getvalue()


_WRITERS = (_delimited, _json, _json, _parquet, _excel)


# --- model files, damaged or crafted with matching checksums ---------------------------------------------------------

_STRANGE: tuple[Any, ...] = (
    None, True, -1, 0, 3, 2**31, 2**63, 10**400, -0.5, 1e308, "", "x", "nan", [], {}, [None], {"array": "0.npy"},
    {"array": "none.npy"}, {"float": "nan"}, {"list": []}, {"tuple": [1, 2]}, {"slice": [0, 1, 0]}, {"objects": [{}]},
    {"value": "Mixed", "parts": []}, {"value": "Words", "parts": []}, {"value": "os.system", "parts": ["true"]},
)  # fmt: skip
_NUMBERS = (np.nan, np.inf, -np.inf, -1.0, 1e308, -1e308, 0.0, 5e-324, 1e6)
_TYPES = ("f8", "f4", "f2", "i8", "u1", "?", "U3", "S3", "M8[s]", "c16", ">f8")


@cache
def _model_rows() -> Any:
    return simulate(60, n_features=12, n_classes=3, diagonal=(0.8, 0.9), random_state=0)


@cache
def originals() -> list[bytes]:
    data, files = _model_rows(), []
    mixed = MixedINB([("bernoulli", slice(0, 5)), ("gaussian", list(range(5, 12)))])
    for model in (BernoulliINB(), MultinomialINB(), GaussianINB(), mixed, BernoulliINB(method="em")):
        with tempfile.TemporaryDirectory() as folder:
            model.fit(data.X, np.array(["a", "b", "c"])[data.y]).save(Path(folder) / "model")
            files.append((Path(folder) / "model").read_bytes())
    return files


def try_model(rng: Rng, folder: Path, number: int) -> bool:
    """Whether the model was read; it must then return probabilities."""
    original, path = one_of(rng, originals()), folder / "model"
    craft = one_of(rng, (_array, _array, _header, _document, _document, _deep, _bomb))
    path.write_bytes(damaged(original, rng) if rng.random() < 0.4 else craft(unzipped(original), rng))
    try:
        model = load(path)
    except InputError as error:
        return refused(error)
    rows = _model_rows().X
    if model.n_features_in_ == rows.shape[1]:
        with np.errstate(all="ignore"):
            model.predict(rows)
            if model.predict_proba(rows).shape != (len(rows), len(model.classes_)):
                raise AssertionError("the answer has another shape")
    return True


def unzipped(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: Members) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


_DOCUMENT = "about.npy"


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


def _text(members: Members) -> bytes:
    array = np.lib.format.read_array(io.BytesIO(members[_DOCUMENT]))
    return array.tobytes()  # type: ignore[no-any-return]


def _with_text(members: Members, text: bytes) -> bytes:
    return zipped(members | {_DOCUMENT: npy(np.frombuffer(text, dtype=np.uint8))})


def _some_array(members: Members, rng: Rng) -> str:
    name: str = one_of(rng, [name for name in members if name != _DOCUMENT])
    return name


def _array(members: Members, rng: Rng) -> bytes:
    """Replace numbers of one array, or change its type or shape."""
    name = _some_array(members, rng)
    array = np.lib.format.read_array(io.BytesIO(members[name]))
    kind = int(rng.integers(4))
    if kind == 0 and array.dtype.kind == "f" and array.size:
        array = array.copy()
        array.flat[int(rng.integers(array.size))] = one_of(rng, _NUMBERS)
    elif kind == 1:
        array = np.zeros(array.shape, dtype=one_of(rng, _TYPES))
    elif kind == 2:
        array = np.resize(array, tuple(int(n) for n in rng.integers(0, 5, size=int(rng.integers(0, 4)))))
    else:
        array = np.full(array.shape, one_of(rng, (-1, 0, 11, 12, 2**31, -(2**62))))
    return zipped(members | {name: npy(array)})


def _header(members: Members, rng: Rng) -> bytes:
    """The header of an array does not match its bytes."""
    name = _some_array(members, rng)
    shape = one_of(rng, ((2**40,), (2**62, 2), (-1,), (3, -3), (True,), "x", (0,), ()))
    header = {"descr": one_of(rng, _TYPES), "fortran_order": False, "shape": shape}
    text = (repr(header) if rng.random() < 0.8 else "(" * 3_000).encode()
    array = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + members[name][128:]
    return zipped(members | {name: array})


def _document(members: Members, rng: Rng) -> bytes:
    """Replace one value of the document."""
    document = json.loads(_text(members))
    holder, key = one_of(rng, list(_places(document)))
    holder[key] = one_of(rng, _STRANGE)
    return _with_text(members, json.dumps(document).encode())


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in value if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def _deep(members: Members, rng: Rng) -> bytes:
    depth = one_of(rng, (50, 1_000, 100_000))
    opening, closing = one_of(rng, ((b"[", b"]"), (b'{"list":[', b"]}")))
    deep = b'"missing_label": ' + opening * depth + closing * depth
    return _with_text(members, _text(members).replace(b'"missing_label": null', deep, 1))


def _bomb(members: Members, rng: Rng) -> bytes:
    """An entry that is large once unpacked; sometimes one that no reader needs."""
    name = one_of(rng, (_some_array(members, rng), _DOCUMENT, "unnamed.npy"))
    return zipped(members | {name: bytes(40_000_000)})


# --- configurations of the bot ---------------------------------------------------------------------------------------

_PIECES = (
    "- ", ": ", "{", "}", "[", "]", "&a ", "*a", "!!python/object:os.system ", "'", '"', "|", ">", "\t", "? ", "---\n",
    "~", "yes", "1e999", "0x1F", "2020-01-01", "{nothing}", "<<: ", "#", "%YAML 9.9\n", "\0", "\u2028", "[" * 200,
)  # fmt: skip


def try_config(rng: Rng, folder: Path, number: int) -> bool:
    text = (SHIPPED / f"{one_of(rng, SHIPPED_NAMES)}.yaml").read_bytes()
    lines = text.split(b"\n")
    here, there = rng.integers(len(lines), size=2)
    how = int(rng.integers(5))
    if how == 0:
        lines = [damaged(text, rng)]
    elif how == 1:
        del lines[here]
    elif how == 2:
        lines[here], lines[there] = lines[there], lines[here]
    elif how == 3:
        lines[here] = b" " * int(rng.integers(1, 9)) + lines[here]
    else:
        at = int(rng.integers(len(lines[here]) + 1))
        lines[here] = lines[here][:at] + one_of(rng, _PIECES).encode() + lines[here][at:]
    beside = folder / "config"  # a configuration refers to files beside it
    shutil.copytree(SHIPPED, beside, dirs_exist_ok=True)
    (beside / "case.yaml").write_bytes(b"\n".join(lines))
    try:
        load_config(beside / "case.yaml")
    except InputError as error:
        return refused(error)
    return True


# --- runs ------------------------------------------------------------------------------------------------------------

KINDS = {"tables": try_table, "models": try_model, "configs": try_config}


class Outcome(NamedTuple):
    kind: str
    number: int
    result: str  # one of RESULTS
    detail: str = ""
    seconds: float = 0.0  # of a processor


def run_case(kind: str, number: int, folder: Path) -> Outcome:
    """Create the file of this number and read it."""
    start, detail = process_time(), ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about fits to a handful of odd rows
            rng = np.random.default_rng([list(KINDS).index(kind), number])
            result = "read" if KINDS[kind](rng, folder, number) else "refused"
    except BaseException as error:  # polars raises Rust panics, which are not of type Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        result = "wrong_rows" if isinstance(error, WrongRowsError) else "traceback"
        detail = "".join(traceback.format_exception(error, limit=-3))[-600:]
    return Outcome(kind, number, result, detail, process_time() - start)


def run(kind: str, numbers: range) -> Iterator[Outcome]:
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="noisybayes-fuzz-") as folder:
        at = numbers.start
        while at < numbers.stop:  # a worker reads the cases from here on, until the last one or one that ends it
            ours, theirs = context.Pipe(duplex=False)
            rest = range(at, numbers.stop)
            worker = context.Process(target=_serve, args=(theirs, kind, rest, Path(folder)), daemon=True)
            worker.start()
            theirs.close()
            with contextlib.suppress(EOFError):
                while ours.poll(_WAITED):
                    yield ours.recv()
                    at += 1
            worker.join(5)
            is_waiting = worker.is_alive()
            worker.kill()
            worker.join()
            if at < numbers.stop:
                hangs = is_waiting or worker.exitcode == -signal.SIGPROF
                yield Outcome(kind, at, "hang" if hangs else "crash", f"exit {worker.exitcode}")
                at += 1


def _serve(pipe: Any, kind: str, numbers: range, folder: Path) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # Rust panics are printed there as well as raised
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    for number in numbers:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # ends this process, unless it is set again in time
        pipe.send(run_case(kind, number, folder))


def summary(outcomes: list[Outcome]) -> list[Row]:
    """One row per kind."""
    rows = []
    for kind in dict.fromkeys(outcome.kind for outcome in outcomes):
        group = [outcome for outcome in outcomes if outcome.kind == kind]
        counts = {result: sum(each.result == result for each in group) for result in RESULTS}
        slowest = round(max(each.seconds for each in group), 2)
        rows.append({"kind": kind, "first": group[0].number, "files": len(group), **counts, "slowest": slowest})
    return rows


def render(rows: list[Row]) -> str:
    header = ["what", "files", "read", "refused", "traceback", "wrong rows", "crash", "hang", "slowest"]
    return table(
        header,
        ([row["kind"], *(f"{row[name]:,}" for name in ("files", *RESULTS)), f"{row['slowest']:.1f} s"] for row in rows),
    )
