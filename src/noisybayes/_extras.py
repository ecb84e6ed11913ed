"""Optional dependencies: one sentence with the pip command when one is missing."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


class MissingExtraError(ImportError):
    """A part of noisybayes is used without the packages that it needs."""


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional module."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise MissingExtraError(f"{purpose} needs {module}: pip install 'noisybayes[{extra}]'") from None
