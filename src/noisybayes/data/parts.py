"""The parts of a table: files on this machine, behind a URL or in memory, and what is in them: bytes, lines of text."""

from __future__ import annotations

import atexit
import bz2
import codecs
import glob
import gzip
import io
import lzma
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from .._extras import require
from .._files import told_if_full
from . import decoding
from .errors import InputError

STANDARD_INPUT = "-"
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+(::[A-Za-z][A-Za-z0-9+.\-]+)*://")
_MAGIC = re.compile(r"[*?\[]")
_MAGIC_BYTES = 6
_HEAD = 1 << 20  # bytes
_LARGE = 100_000_000  # bytes of a pipe that are kept in memory


@dataclass(frozen=True)
class Part:
    """A file with a path (available to every worker under the same one), behind a URL, or in memory.

    What is in memory comes from a pipe or an open file, which can be read only once.
    """

    name: str  # for messages; the URL
    path: Path | None = None
    content: bytes | None = None

    def open(self) -> BinaryIO:
        if self.content is not None:
            return io.BytesIO(self.content)
        if self.path is None:
            return _remote(self.name, lambda fs, path: fs.open(path, "rb"))  # type: ignore[no-any-return]
        try:
            return self.path.open("rb")
        except FileNotFoundError:
            raise InputError(f"there is no file {self.path}; check the path") from None
        except PermissionError:
            raise InputError(
                f"you have no permission to read {self.path}; change it with: chmod u+r {self.path}"
            ) from None
        except IsADirectoryError:
            raise InputError(f"{self.path} is a folder; give a file in it") from None
        except (OSError, ValueError) as error:
            raise InputError(f"{self.path} cannot be opened ({error}); check the path") from None

    def size(self) -> int:
        if self.content is not None:
            return len(self.content)
        return (
            int(_remote(self.name, lambda fs, path: fs.size(path)) or 0)
            if self.path is None
            else self.path.stat().st_size
        )

    def version(self) -> tuple[Any, ...]:
        """Equal as long as the file is unchanged."""
        if self.content is not None:
            return ()
        if self.path is None:
            return (_remote(self.name, lambda fs, path: fs.ukey(path)),)
        status = self.path.stat()
        return status.st_size, status.st_mtime_ns, status.st_ino


Source = str | Path | BinaryIO | Sequence["str | Path | Part"]


def find_parts(source: Source, suffixes: Sequence[str]) -> list[Part]:
    """The files of a table, in the order of their rows.

    Parameters
    ----------
    source : a path, a folder of parts, a pattern such as ``parts/*.csv``, a URL that fsspec reads (of a file, a folder
        or a pattern), a list of these, an open binary file, or "-" for standard input
    suffixes : of the files of a folder that are parts of the table; other files are ignored
    """
    if isinstance(source, str | Path):
        return _locate(str(source), suffixes)
    if isinstance(source, Sequence):
        if not source:
            raise InputError("the list of files is empty; give at least one file")
        found = [[one] if isinstance(one, Part) else _locate(str(one), suffixes) for one in source]
        return _without_empty([part for parts in found for part in parts])
    return [Part(str(getattr(source, "name", "the input")), content=source.read())]


def _locate(source: str, suffixes: Sequence[str]) -> list[Part]:
    if source == STANDARD_INPUT:
        return [_kept("standard input", sys.stdin.buffer)]
    if _URL.match(source):
        return _without_empty([Part(url) for url in _remote_files(source, suffixes)])
    path = Path(source)
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe
        with path.open("rb") as stream:
            return [_kept(source, stream)]
    if path.is_dir():
        files = [str(file) for file in path.iterdir() if file.is_file()]
        return _without_empty([_local(file) for file in _parts_of_folder(source, files, suffixes)])
    if _MAGIC.search(source) and not path.exists():
        matches = sorted(match for match in glob.glob(source, recursive=True) if Path(match).is_file())
        if not matches:
            raise InputError(f"no file matches {source}; check the pattern")
        return _without_empty([_local(match) for match in matches])
    return [_local(source)]


def _kept(name: str, stream: BinaryIO) -> Part:
    """What can be read only once: in memory, or if it is large, in a temporary file until this process ends."""
    head = stream.read(_LARGE)
    if len(head) < _LARGE:
        return Part(name, content=head)
    file = tempfile.NamedTemporaryFile(prefix="noisybayes-")  # noqa: SIM115
    atexit.register(file.close)
    with told_if_full(Path(file.name).parent):
        file.write(head)
        del head
        shutil.copyfileobj(stream, file, 1 << 20)
        file.flush()
    return Part(name, Path(file.name))


def _local(path: str) -> Part:
    return Part(str(Path(path)), Path(path))


def _remote_files(url: str, suffixes: Sequence[str]) -> list[str]:
    def files(fs: Any, path: str) -> list[str]:
        found: list[str] = []
        if _MAGIC.search(path) and not fs.exists(path):
            found = sorted(match for match in fs.glob(path) if fs.isfile(match))
            if not found:
                raise InputError(f"no file matches {url}; check the pattern")
        elif fs.isdir(path):
            inside = [entry["name"] for entry in fs.ls(path, detail=True) if entry["type"] == "file"]
            found = _parts_of_folder(url, inside, suffixes)
        return [str(fs.unstrip_protocol(file)) for file in found] or [url]

    return _remote(url, files)  # type: ignore[no-any-return]


def _parts_of_folder(folder: str, files: list[str], suffixes: Sequence[str]) -> list[str]:
    """Files of a known format; names that begin with . or _ are metadata of the program that wrote the folder."""
    known = [file for file in files if set(Path(file.lower()).suffixes[-2:]) & set(suffixes)]
    parts = sorted(file for file in known if Path(file).name[0] not in "._")
    if not parts:
        raise InputError(f"the folder {folder} has no file that ends in {', '.join(suffixes)}; give the files")
    return parts


def _without_empty(parts: Sequence[Part]) -> list[Part]:
    """Spark and others write an empty file if a worker had no rows."""
    if len(parts) < 2:
        return list(parts)
    filled = [part for part in parts if not (part.path and part.path.is_file() and not part.size())]
    return filled or list(parts[:1])


def _remote(url: str, action: Callable[[Any, str], Any]) -> Any:
    fsspec = require("fsspec", extra="dask", purpose=f"reading {url}")
    try:
        fs, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError, OSError) as error:  # a protocol that needs another package, or is unknown
        raise InputError(
            f"{url} cannot be read here ({error}); install the missing package or save it as a file"
        ) from None
    try:
        return action(fs, path)
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"there is no file {url}; check the address") from None
    except Exception as error:  # every file system of fsspec has its own errors
        raise InputError(f"{url} cannot be read ({error}); check the address and your permission to read it") from None


class Content:
    """What is in one part.

    Attributes
    ----------
    name : for messages
    path : of an uncompressed local file, which can be read from any offset; else None
    encoding : of text
    sheet : of a workbook; None for the first one
    n_bytes, bytes_read : size of the part as stored, and how much of it was read
    """

    def __init__(self, part: Part, file: BinaryIO, encoding: str, sheet: str | None) -> None:
        self.name, self.sheet = part.name, sheet
        # byte order marks are removed anyway; encoding a line with utf-8-sig would add one to each
        self.encoding = "utf-8" if codecs.lookup(encoding).name == "utf-8-sig" else encoding
        self._file = file if file.seekable() else io.BytesIO(file.read())
        self._start = self._file.tell()
        self._unpack = _compression(self._file)
        self.path: Path | None = part.path if self._unpack is None else None
        self.n_bytes = part.size()
        self.bytes_read = 0

    def chunks(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """The decompressed bytes from `start` to `stop`; every call starts over."""
        self._file.seek(self._start)
        stream: Any = self._file if self._unpack is None else self._unpack(self._file)
        position = stream.seek(start) if start else 0
        while stop is None or position < stop:
            size = decoding.CHUNK if stop is None else min(decoding.CHUNK, stop - position)
            try:
                chunk = stream.read(size)
            except Exception as error:  # every compression library has its own errors
                raise InputError(
                    f"{self.name} is damaged or truncated ({error}); download or compress it again"
                ) from None
            if not chunk:
                return
            position += len(chunk)
            self.bytes_read = self._file.tell() - self._start
            yield chunk

    def lines(self, start: int = 0, stop: int | None = None) -> decoding.Lines:
        return decoding.Lines(self.name, self.chunks(start, stop), self.encoding, is_start=start == 0)

    def everything(self) -> bytes:
        return b"".join(self.chunks())

    def head(self) -> bytes:
        """The beginning, used to detect formats and encodings."""
        return b"".join(self.chunks(0, _HEAD))


@contextmanager
def opened(part: Part, encoding: str = "utf-8", sheet: str | None = None) -> Iterator[Content]:
    with part.open() as file:
        yield Content(part, file, encoding, sheet)


def _compression(stream: BinaryIO) -> Callable[[BinaryIO], Any] | None:
    """Detected from the content: names of pipes say nothing, and those of files may be wrong."""
    start = stream.read(_MAGIC_BYTES)
    stream.seek(-len(start), io.SEEK_CUR)
    return next((unpack for magic, unpack in _UNPACK.items() if start.startswith(magic)), None)


def _unzstd(stream: BinaryIO) -> Any:
    for module in ("compression.zstd", "zstandard"):  # the first is included in Python 3.14
        try:
            return import_module(module).open(stream, "rb")
        except ModuleNotFoundError:
            continue
    raise InputError("zstd files cannot be read here; unpack it with zstd -d, or pip install zstandard")


_UNPACK: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh91A": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
    b"\x28\xb5\x2f\xfd": _unzstd,
}
