"""Sparse rows on disk, block by block: more of them than fit into memory.

A folder of shards has one file for each block (values, indptr and indices of a CSR array) and `shards.json`, which is
written last: a folder without it is incomplete. Blocks are read by `fromfile`, since the pages of a memory map would
count as memory of this process until another process needs it. Shards can also be at a URL that fsspec can read
(s3://bucket/rows).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._extras import require
from .._files import DiskError, told_if_full
from .tree import Array

MANIFEST = "shards.json"
_INDEX_DTYPE = np.dtype(np.int32)  # limits the number of entries of one block


class ShardError(DiskError):
    """Rows on disk cannot be written or read; the message says what to do."""


class Block(NamedTuple):
    n_rows: int
    n_entries: int


class Remote(NamedTuple):
    """A path that fsspec reads, with the needed part of pathlib's interface."""

    url: str

    def __truediv__(self, name: str) -> Remote:
        return Remote(f"{self.url.rstrip('/')}/{name}")

    def __str__(self) -> str:
        return self.url

    def read_bytes(self) -> bytes:
        fsspec = require("fsspec", extra="dask", purpose="shards at a URL")
        try:
            with fsspec.open(self.url, "rb") as file:
                content: bytes = file.read()
                return content
        except OSError:
            raise
        except Exception as error:  # every kind of storage has its own errors
            raise OSError(str(error)) from None


class Shards:
    """Rows of a sparse matrix on disk, which estimators accept in place of X. `Shards.write` creates them.

    Parameters
    ----------
    folder : str or Path
        Where they were written; a URL that fsspec reads works too.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder: Path | Remote = Remote(str(folder)) if "://" in str(folder) else Path(folder)
        try:
            manifest = json.loads((self.folder / MANIFEST).read_bytes())
        except OSError:
            raise ShardError(f"{self.folder} contains no complete shards; write them again") from None
        except ValueError:
            raise ShardError(f"{self.folder / MANIFEST} is damaged; write the shards again") from None
        self.dtype = np.dtype(manifest["dtype"])
        self.blocks = [Block(*block) for block in manifest["blocks"]]
        self.edges = np.cumsum([0] + [block.n_rows for block in self.blocks])
        self.shape = (int(self.edges[-1]), int(manifest["n_columns"]))
        self.nnz = sum(block.n_entries for block in self.blocks)

    @classmethod
    def write(cls, folder: str | Path, blocks: Iterable[Any], n_columns: int, dtype: Any = np.float64) -> Shards:
        """Write CSR blocks, one by one, to a new folder.

        Parameters
        ----------
        folder : str or Path
            Created if it does not exist.
        blocks : iterable of CSR arrays of shape (n_rows, n_columns)
            Consumed one at a time.
        n_columns : int
            Columns of every block.
        dtype : dtype, default float64
            Type in which values are stored.

        Returns
        -------
        Shards
        """
        folder, dtype = Path(folder), np.dtype(dtype)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MANIFEST).unlink(missing_ok=True)
        written: list[Block] = []
        for number, block in enumerate(blocks):
            with told_if_full(folder, ShardError):
                written.append(_write_block(_path(folder, number), block, n_columns, dtype))
        manifest = {"dtype": dtype.name, "n_columns": n_columns, "blocks": written}
        with told_if_full(folder, ShardError):
            (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
        return cls(folder)

    def __len__(self) -> int:
        return self.shape[0]

    def read(self, number: int) -> Any:
        """One block as a CSR array."""
        n_rows, n_entries = self.blocks[number]
        path = _path(self.folder, number)
        layout = ((self.dtype, n_entries), (_INDEX_DTYPE, n_rows + 1), (_INDEX_DTYPE, n_entries))
        try:
            content = np.fromfile(path, np.uint8) if isinstance(path, Path) else bytearray(path.read_bytes())
        except OSError as error:
            raise ShardError(f"{path} can no longer be read ({error}); write the shards again") from None
        ends = np.cumsum([dtype.itemsize * count for dtype, count in layout])
        if len(content) != ends[-1]:
            raise ShardError(f"{path} is damaged: its size has changed since it was written; write the shards again")
        values, starts, columns = (
            np.frombuffer(content, dtype, count, end - dtype.itemsize * count)
            for (dtype, count), end in zip(layout, ends, strict=True)
        )
        block = sparse.csr_array((values, columns, starts), shape=(n_rows, self.shape[1]))
        block.has_canonical_format = True
        return block

    def __iter__(self) -> Iterator[Any]:
        return (self.read(number) for number in range(len(self.blocks)))

    def take(self, rows: Array) -> Any:
        """Some rows, in the order of `rows`, as a CSR array."""
        order = np.argsort(rows, kind="stable")
        block = np.searchsorted(self.edges, rows[order], side="right") - 1
        parts = [self.read(b)[rows[order[block == b]] - self.edges[b]] for b in np.unique(block)]
        if not parts:
            return sparse.csr_array((0, self.shape[1]), dtype=self.dtype)
        return sparse.vstack(parts, format="csr")[np.argsort(order, kind="stable")]


def _path(folder: Any, number: int) -> Any:
    return folder / f"{number:06d}.csr"


def _write_block(path: Path, block: Any, n_columns: int, dtype: np.dtype[Any]) -> Block:
    block = sparse.csr_array(block)
    if block.shape[1] != n_columns:
        raise ValueError(f"a block has {block.shape[1]} columns, but {n_columns} were announced")
    if not block.has_canonical_format:
        block = block.copy()
        block.sum_duplicates()
    if block.nnz > np.iinfo(_INDEX_DTYPE).max:
        raise ValueError(f"a block has {block.nnz:,} entries, too many for one file; split it into smaller ones")
    with path.open("wb") as file:
        # the widest type first, so that all of them are aligned
        for part, target in ((block.data, dtype), (block.indptr, _INDEX_DTYPE), (block.indices, _INDEX_DTYPE)):
            file.write(part.astype(target, copy=False).data)  # tofile would not say why it failed
    return Block(block.shape[0], block.nnz)
