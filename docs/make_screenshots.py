"""Remake the pictures of the report: audit of the example data, opened in the system's Chromium without a network.

python docs/make_screenshots.py
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from noisybayes import audit

ROOT = Path(__file__).parents[1]
PICTURES = {"light": "report.png", "dark": "report-dark.png"}
VIEWPORT = {"width": 1200, "height": 900}
MOST_BYTES = 400_000


def main() -> None:
    chromium = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    if chromium is None:
        sys.exit("no Chromium on this system (Debian: apt-get install chromium)")
    os.chdir(ROOT)  # the page shows the path of the table as it was given
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = audit("examples/dealership.csv").save(Path(folder) / "audit") / "report.html"
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        for scheme, name in PICTURES.items():
            picture = ROOT / "docs" / "img" / name
            picture.parent.mkdir(exist_ok=True)
            take(browser, page, scheme, picture)
            print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size / 1000:.0f} kB")
            if picture.stat().st_size > MOST_BYTES:
                sys.exit(f"{picture} is larger than {MOST_BYTES / 1000:.0f} kB")
        browser.close()


def take(browser: Browser, page: Path, scheme: str, picture: Path) -> None:
    """The top of the page, as a person sees it before scrolling."""
    context = browser.new_context(viewport=VIEWPORT, color_scheme=scheme, device_scale_factor=1)
    context.set_offline(True)
    opened = context.new_page()
    opened.goto(page.as_uri())
    opened.screenshot(path=picture)
    context.close()


if __name__ == "__main__":
    main()
