"""All methods of the experiments, and their titles in tables."""

from __future__ import annotations

from . import methods
from .text_methods import TEXT_METHODS, TEXT_TITLES

METHODS: dict[str, methods.Method] = {**methods.METHODS, **TEXT_METHODS}
TITLES = {**methods.TITLES, **TEXT_TITLES}
