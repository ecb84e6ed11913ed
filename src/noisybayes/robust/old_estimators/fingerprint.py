"""Whether two fits are the same: of the same rows, with the same settings."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from typing import Any

import numpy as np

from ...dataset.rows import Rows, leaves, n_entries


def fingerprint(name: str, params: dict[str, Any], rows: Rows) -> str:
    """Fingerprint of a fit that may be resumed: every label, and the shape and number of entries of the features."""
    shapes = [(leaf.shape, str(leaf.dtype)) for leaf in leaves(rows.X)]
    settings = sorted((key, repr(value)) for key, value in params.items())
    digest = hashlib.sha256(repr((version("noisybayes"), name, settings, shapes, n_entries(rows.X))).encode())
    for values in rows[1:]:
        if values is not None:
            digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()
