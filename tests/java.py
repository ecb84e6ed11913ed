"""Java, for the tests that start Spark."""

from __future__ import annotations

import os
import shutil

import pytest


def find_java() -> str:
    """Path of Java. Without it the test is skipped, or fails where NOISYBAYES_CI is set."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    if found:
        return found
    reason = "no Java on this system (Debian: apt-get install openjdk-17-jre-headless)"
    if os.environ.get("NOISYBAYES_CI"):
        pytest.fail(reason)
    pytest.skip(reason)
