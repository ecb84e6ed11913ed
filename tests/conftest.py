from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from .browser import ARGUMENTS, find_browser

# scikit-learn skips its check of array API input unless scipy is told of it before its import
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# no example fails because the machine does something else meanwhile
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


STARTED = pytest.StashKey[float]()
#: Files that take longest, each on one worker of `make test`: begun last, they would leave the others idle.
FIRST = (
    "tests/test_docs.py", "tests/report/test_row_scorer_spark.py", "tests/estimators/test_sklearn.py",
    "tests/web/test_browser.py", "tests/web/test_server.py", "tests/bot/test_evaluate.py", "tests/cli/test_cluster.py",
    "tests/auditing/test_cluster.py", "tests/auditing/test_random_checks.py", "tests/test_without_pandas.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rank = {name: place for place, name in enumerate(FIRST)}
    items.sort(key=lambda item: rank.get(item.nodeid.partition("::")[0], len(rank)))


def pytest_collection_finish() -> None:
    """Leave the half million objects of modules and collected tests out of every later collection of garbage: the
    benchmarks collect before each measurement, which took half a second and now a few milliseconds."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)  # as the command line does


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.stash[STARTED] = time.monotonic()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Keep the seconds of a whole run for `make house`."""
    asked = session.config.option
    whole = "PYTEST_XDIST_WORKER" not in os.environ and not asked.file_or_dir and not asked.keyword
    if whole and exitstatus == 0 and session.config.cache is not None:
        session.config.cache.set("noisybayes/seconds", time.monotonic() - session.config.stash[STARTED])


@pytest.fixture(scope="module")
def small_forests() -> Iterator[None]:
    """For laws that hold for any number of trees."""
    from noisybayes.audit import forest

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(forest, "_TREES", 60)
        yield


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


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The example bot keeps its model; what is tested is not one that an earlier version has trained."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
        yield
