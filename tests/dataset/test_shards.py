"""Sparse rows on disk: what was written comes back, and what cannot is said."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from noisybayes.dataset.shards import MANIFEST, ShardError, Shards

X = sparse.csr_array(sparse.random(50, 7, 0.3, "csr", None, np.random.default_rng(0)))
EDGES = [0, 20, 20, 21, 50]


def written(folder, dtype=np.float64):
    blocks = (X[start:stop] for start, stop in pairwise(EDGES))
    return Shards.write(folder, blocks, 7, dtype)


def dense(blocks):
    return np.vstack([block.toarray() for block in blocks])


def test_rows_come_back(tmp_path):
    shards = written(tmp_path / "new" / "rows")
    for found in (shards, Shards(shards.folder)):
        assert (found.shape, len(found), found.nnz, found.dtype) == ((50, 7), 50, X.nnz, np.float64)
        assert found.edges.tolist() == EDGES
        assert [block.n_rows for block in found.blocks] == [20, 0, 1, 29]
        assert (dense(found) == X.toarray()).all()
        assert (found.read(3).toarray() == X[21:].toarray()).all()
    for rows in ([], [49, 0, 20, 20, 19], range(50)):
        rows = np.array(rows, dtype=np.int64)
        assert (shards.take(rows).toarray() == X[rows].toarray()).all()
    single = written(tmp_path / "float32", np.float32)
    assert (dense(single) == X.toarray().astype(np.float32)).all()


def test_entries_are_put_in_order_and_added_up(tmp_path):
    twice = sparse.csr_array((np.ones(3), [2, 0, 2], [0, 3]), shape=(1, 3))
    block = Shards.write(tmp_path, [twice], 3).read(0)
    assert (block.indices.tolist(), block.data.tolist()) == ([0, 2], [1, 2])
    assert twice.nnz == 3
    assert Shards.write(tmp_path / "none", [], 3).shape == (0, 3)
    with pytest.raises(ValueError, match="a block has 7 columns, but 8 were announced"):
        Shards.write(tmp_path, [X], 8)


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda folder: (folder / MANIFEST).unlink(), "contains no complete shards"),
        (lambda folder: (folder / MANIFEST).write_text("{"), "is damaged; write the shards again"),
        (lambda folder: (folder / "000000.csr").unlink(), "can no longer be read (.*); write the shards again"),
        (lambda folder: (folder / "000000.csr").write_bytes(b"short"), "is damaged: its size has changed"),
    ],
)
def test_what_is_said_of_damage(tmp_path, damage, text):
    written(tmp_path)
    damage(tmp_path)
    with pytest.raises(ShardError, match=text.replace("(.*)", r"\(.*\)")):
        list(Shards(tmp_path))


def test_writing_that_failed_left_nothing_finished(tmp_path):
    def blocks():
        yield X
        raise KeyboardInterrupt

    written(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        Shards.write(tmp_path, blocks(), 7)
    with pytest.raises(ShardError, match="contains no complete shards"):
        Shards(tmp_path)
