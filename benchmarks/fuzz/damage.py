"""Damage that needs no knowledge of the format."""

from __future__ import annotations

import numpy as np


def flip(data: bytes, rng: np.random.Generator) -> bytes:
    """Flip some bits, usually few."""
    if not data:
        return data
    changed = bytearray(data)
    for position in rng.integers(len(data), size=int(rng.choice([1, 1, 1, 3, 20]))):
        changed[position] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def cut(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: int(rng.integers(len(data) + 1))]


def hole(data: bytes, rng: np.random.Generator) -> bytes:
    start, stop = sorted(rng.integers(len(data) + 1, size=2))
    return data[:start] + data[stop:]


def repeat(data: bytes, rng: np.random.Generator) -> bytes:
    start, stop = sorted(rng.integers(len(data) + 1, size=2))
    return data[:stop] + data[start:]


def noise(data: bytes, rng: np.random.Generator) -> bytes:
    start = int(rng.integers(len(data) + 1))
    return data[:start] + rng.bytes(int(rng.integers(1, 64))) + data[start:]


def zeros(data: bytes, rng: np.random.Generator) -> bytes:
    start, stop = sorted(rng.integers(len(data) + 1, size=2))
    return data[:start] + bytes(int(stop - start)) + data[stop:]


DAMAGES = {"bit flips": flip, "cut": cut, "hole": hole, "repeat": repeat, "noise": noise, "zeros": zeros}
