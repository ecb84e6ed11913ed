"""Screenshots of every page of the review desk and of the report for three tables, to check before a release.

python tools/page_pictures.py FOLDER

A table of texts, one with many columns and one with 77 classes; each on a desktop, on a phone and in dark mode, over
the full height of the page. Needs Chromium.
"""

from __future__ import annotations

import csv
import io
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright
from sklearn.datasets import load_breast_cancer

from noisybayes import audit

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

from make_screenshots import DESK, PHONE, WIDE, find_chromium, opened, serving, talk  # noqa: E402

LOOKS = {"desktop": {"viewport": WIDE}, "phone": {"viewport": PHONE}, "dark": {"scheme": "dark", "viewport": WIDE}}
OF_A_TABLE = ("", "/check", "/review", "/list", "/columns", "/export")
OTHERS = {name: path for name, path in DESK.items() if not path.startswith("/t/")} | {
    "chat": "/chat", "handover": "/handover", "leads": "/leads", "learn": "/learn", "missing": "/no/such/page",
}  # fmt: skip
MOST_PIXELS = 6_000  # height of a picture
PATIENCE = 300_000  # milliseconds, on a busy machine


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("give the folder for the screenshots")
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"texts": (ROOT / "examples" / "dealership.csv").read_text(), "wide": wide_table(), "many": many_classes()}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        take_reports(browser, tables, folder)
        take_pages(browser, tables, folder)
        browser.close()


def wide_table(noise: float = 0.1) -> str:
    """scikit-learn's breast-cancer data, with some wrong labels."""
    data, rng = load_breast_cancer(), np.random.default_rng(0)
    given = np.where(rng.random(len(data.target)) < noise, 1 - data.target, data.target)
    rows = [[*values, data.target_names[label]] for values, label in zip(data.data.tolist(), given, strict=True)]
    return as_csv([[*data.feature_names, "diagnosis"], *rows])


def many_classes(n_classes: int = 77, each: int = 12, noise: float = 0.1) -> str:
    """Short texts with intents, whose wrong labels are mostly those of a neighbouring intent."""
    rng = np.random.default_rng(0)
    rows = []
    for true in np.repeat(np.arange(n_classes), each).tolist():
        given = (true + 1) % n_classes if rng.random() < noise else true
        words = [
            *(f"topic{true}{'abcde'[rng.integers(5)]}" for _ in range(4)),
            *(f"word{rng.integers(60)}" for _ in range(4)),
        ]
        rows.append([" ".join(words), f"card_payment_not_recognised_{given}"])
    return as_csv([["message", "intent"], *rows])


def as_csv(rows: list[list[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def take_reports(browser: Browser, tables: dict[str, str], folder: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        for name, text in tables.items():
            path = Path(temporary) / f"{name}.csv"
            path.write_text(text)
            url = (audit(path).save(Path(temporary) / name) / "report.html").as_uri()
            for look, how in LOOKS.items():
                with opened(browser, offline=True, **how) as page:
                    page.set_default_timeout(PATIENCE)
                    page.goto(url)
                    picture(page, folder / f"report-{name}-{look}.png")


def take_pages(browser: Browser, tables: dict[str, str], folder: Path) -> None:
    with serving() as url:
        with opened(browser, url) as page:
            page.set_default_timeout(PATIENCE)
            for name, text in tables.items():
                if name != "texts":  # the server already has that one
                    import_table(page, name, text)
            talk(page)
        for look, how in LOOKS.items():
            with opened(browser, url, **how) as page:
                page.set_default_timeout(PATIENCE)
                for number, name in enumerate(tables, 1):
                    for path in OF_A_TABLE:
                        page.goto(f"/t/{number}{path}")
                        picture(page, folder / f"desk-{name}{path.replace('/', '-') or '-overview'}-{look}.png")
                for name, path in OTHERS.items():
                    page.goto(path)
                    picture(page, folder / f"desk-{name}-{look}.png")


def import_table(page: Page, name: str, text: str) -> None:
    """As a person would: choose the file, accept the guesses, wait."""
    page.goto("/import")
    page.get_by_label("File").set_input_files({"name": f"{name}.csv", "mimeType": "text/csv", "buffer": text.encode()})
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("button", name="Find the wrong labels").click()
    while "/t/" not in page.url or page.locator(".fit, [data-reload]").count():
        time.sleep(1)


def picture(page: Page, path: Path) -> None:
    height = min(page.evaluate("document.documentElement.scrollHeight"), MOST_PIXELS)
    clip = {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": height}
    page.screenshot(path=path, full_page=True, clip=clip, timeout=PATIENCE)
    print(path)


if __name__ == "__main__":
    main()
