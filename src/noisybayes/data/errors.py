"""The one error for input that cannot be used."""

from __future__ import annotations


class InputError(ValueError):
    """Bad input: one sentence that says what is wrong, where, and what to do next."""
