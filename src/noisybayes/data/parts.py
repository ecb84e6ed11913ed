"""Where a table comes from: one file or several parts, on this machine, behind a URL or in memory."""

from __future__ import annotations

import glob
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from .._extras import require
from .errors import InputError

STANDARD_INPUT = "-"
Source = str | Path | BinaryIO | Sequence[str | Path]
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+(::[A-Za-z][A-Za-z0-9+.\-]+)*://")
_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class LocalFile:
    """A file available to every worker under the same path."""

    path: Path

    @property
    def name(self) -> str:
        return str(self.path)

    def open(self) -> BinaryIO:
        if self.path.is_dir():
            raise InputError(f"{self.path} is a folder; give a file in it")
        try:
            return self.path.open("rb")
        except FileNotFoundError:
            raise InputError(f"there is no file {self.path}; check the path") from None
        except PermissionError:
            raise InputError(
                f"you have no permission to read {self.path}; change it with: chmod u+r {self.path}"
            ) from None
        except (OSError, ValueError) as error:
            raise InputError(f"{self.path} cannot be opened ({error}); check the path") from None

    def size(self) -> int:
        return self.path.stat().st_size

    def version(self) -> tuple[Any, ...]:
        """Equal as long as the file is unchanged."""
        status = os.stat(self.path)
        return status.st_size, status.st_mtime_ns, status.st_ino


@dataclass(frozen=True)
class RemoteFile:
    """A file that fsspec reads."""

    url: str

    @property
    def name(self) -> str:
        return self.url

    @property
    def path(self) -> None:
        return None

    def open(self) -> BinaryIO:
        fs, path = _file_system(self.url)
        return _remote(self.url, lambda: fs.open(path, "rb"))  # type: ignore[no-any-return]

    def size(self) -> int:
        fs, path = _file_system(self.url)
        return int(_remote(self.url, lambda: fs.size(path)) or 0)

    def version(self) -> tuple[Any, ...]:
        fs, path = _file_system(self.url)
        return (_remote(self.url, lambda: fs.ukey(path)),)


@dataclass(frozen=True)
class InMemory:
    """Data from a pipe or an open file, which can be read only once."""

    name: str
    content: bytes

    @property
    def path(self) -> None:
        return None

    def open(self) -> BinaryIO:
        return io.BytesIO(self.content)

    def size(self) -> int:
        return len(self.content)

    def version(self) -> tuple[Any, ...]:
        return ()


Part = LocalFile | RemoteFile | InMemory


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
        return _without_empty([part for one in source for part in _locate(str(one), suffixes)])
    return [InMemory(str(getattr(source, "name", "the input")), source.read())]


def _locate(source: str, suffixes: Sequence[str]) -> list[Part]:
    if source == STANDARD_INPUT:
        return [InMemory("standard input", sys.stdin.buffer.read())]
    if _URL.match(source):
        return _without_empty([RemoteFile(url) for url in _remote_files(source, suffixes)])
    path = Path(source)
    if path.is_dir():
        files = [str(file) for file in path.iterdir() if file.is_file()]
        return _without_empty([LocalFile(Path(file)) for file in _parts_of_folder(source, files, suffixes)])
    if _MAGIC.search(source) and not path.exists():
        matches = sorted(match for match in glob.glob(source, recursive=True) if Path(match).is_file())
        if not matches:
            raise InputError(f"no file matches {source}; check the pattern")
        return _without_empty([LocalFile(Path(match)) for match in matches])
    return [LocalFile(path)]


def _remote_files(url: str, suffixes: Sequence[str]) -> list[str]:
    fs, path = _file_system(url)

    def files() -> list[str]:
        if _MAGIC.search(path) and not fs.exists(path):
            matches = sorted(match for match in fs.glob(path) if fs.isfile(match))
            if not matches:
                raise InputError(f"no file matches {url}; check the pattern")
            return matches
        if fs.isdir(path):
            inside = [entry["name"] for entry in fs.ls(path, detail=True) if entry["type"] == "file"]
            return _parts_of_folder(url, inside, suffixes)
        return []

    urls: list[str] = _remote(url, files)
    return [str(fs.unstrip_protocol(file)) for file in urls] or [url]


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
    filled = [part for part in parts if not (isinstance(part, LocalFile) and part.path.is_file() and not part.size())]
    return filled or list(parts[:1])


def _file_system(url: str) -> tuple[Any, str]:
    fsspec = require("fsspec", extra="dask", purpose=f"reading {url}")
    try:
        fs, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError, OSError) as error:  # a protocol that needs another package, or is unknown
        raise InputError(
            f"{url} cannot be read here ({error}); install the missing package or save it as a file"
        ) from None
    return fs, path


def _remote(url: str, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"there is no file {url}; check the address") from None
    except Exception as error:  # every file system of fsspec has its own errors
        raise InputError(f"{url} cannot be read ({error}); check the address and your permission to read it") from None
