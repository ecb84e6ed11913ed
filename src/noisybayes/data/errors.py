"""The error for invalid input."""

from __future__ import annotations


class InputError(ValueError):
    """Invalid input: one sentence that says what is wrong, where, and what to do next."""
