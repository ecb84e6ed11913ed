"""The system's Chromium, for tests that look at a page as a person would."""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def find_browser() -> str:
    """Path of Chromium. Without it the test is skipped, or fails where NOISYBAYES_CI is set."""
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    if found:
        return found
    reason = "no Chromium on this system (Debian: apt-get install chromium)"
    if os.environ.get("NOISYBAYES_CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def expect(shown: Any) -> Any:
    """Playwright's assertions, which wait: a page may answer to a click only after the click has returned."""
    # Imported here, so that the tests can be collected and skipped where the dev extra is not installed.
    from playwright import sync_api

    sync_api.expect.set_options(timeout=30_000)
    return sync_api.expect(shown)
