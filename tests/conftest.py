from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from .browser import ARGUMENTS, find_browser

# scikit-learn skips its check of array API input unless scipy is told of it before its import
os.environ.setdefault("SCIPY_ARRAY_API", "1")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A real browser; not for longer than a module, since others may need an event loop of their own."""
    path = find_browser()
    # Imported here, so that the tests can be collected and skipped where the dev extra is not installed.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()
