"""Regenerate the pictures in docs/img with the system's Chromium: the report of an audit, the pages of the review desk.

python docs/make_screenshots.py
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import Browser, Page, sync_playwright

from noisybayes import audit

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "img"
WIDE, PHONE = {"width": 1200, "height": 900}, {"width": 390, "height": 844}
MOST_BYTES = 400_000
UP_SECONDS = 120

DESK = {
    "home": "/", "overview": "/t/1", "review": "/t/1/review", "import": "/import", "columns": "/t/1/columns",
    "check": "/t/1/check", "list": "/t/1/list", "export": "/t/1/export", "api": "/api",
}  # fmt: skip
TALL = {"overview": 1350, "chat": 1000, "report": 1330}  # the interesting part is below the usual height
SAID = ["How much is a new Tarvo?", "Sport, please", "Call me at 555-0142"]

WROTE = [
    ("ann", "my airbag warning light is on"), ("bob", "How much is a new Velmora Sport? Call 555-0142-771"),
    ("bob", "and does it have CarPlay?"), ("carl", "I want to cancel my order"), ("carl", "hello??"),
    ("dora", "Is a used Quillon in stock? dora@example.com"),
]  # fmt: skip


def main() -> None:
    chromium = find_chromium()
    os.chdir(ROOT)  # the report shows the path of the table as it was given
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        take_report(browser)
        take_desk(browser)
        browser.close()


def find_chromium() -> str:
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    return found or sys.exit("no Chromium on this system (Debian: apt-get install chromium)")


def take_report(browser: Browser) -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = (audit("examples/dealership.csv").save(Path(folder) / "audit") / "report.html").as_uri()
        with opened(browser, offline=True) as page:
            page.set_viewport_size(WIDE | {"height": TALL["report"]})
            page.goto(url)
            page.evaluate("for (const notes of document.querySelectorAll('details.section[open]')) notes.open = false")
            shoot(page, "report")


def take_desk(browser: Browser) -> None:
    with serving() as url:
        with opened(browser, url) as page:
            page.goto("/t/1/review")
            for key in "aaakaa":  # so that there are verdicts to show
                with page.expect_navigation():
                    page.keyboard.press(key)
            page.set_viewport_size(WIDE | {"height": TALL["chat"]})
            talk(page)
            shoot(page, "desk-chat")
            page.set_viewport_size(WIDE | {"height": 700})
            for name, path in {"bot-handover": "/handover"}.items():
                page.goto(path)
                shoot(page, name)
            for name, path in DESK.items():
                page.set_viewport_size(WIDE | {"height": TALL.get(name, WIDE["height"])})
                page.goto(path)
                page.keyboard.press("w")  # "Why?" of the review
                shoot(page, f"desk-{name}")
        for name, look in {"desk-review-dark": {"scheme": "dark"}, "desk-review-phone": {"viewport": PHONE}}.items():
            with opened(browser, url, **look) as page:
                page.goto("/t/1/review")
                shoot(page, name)


def talk(page: Page) -> None:
    """What people wrote to the bot: through its API, and on the page, which stays open."""
    for number, (person, message) in enumerate(WROTE):
        body = {"message_id": str(number), "person": person, "message": message}
        page.request.post("/api/bots/bot/messages", data=body)
    page.goto("/chat")
    for message in SAID:
        page.get_by_label("Message").fill(message)
        with page.expect_navigation():
            page.get_by_role("button", name="Send").click()


@contextmanager
def opened(
    browser: Browser, url: str = "", *, scheme: str = "light", viewport: dict[str, int] = WIDE, offline: bool = False
) -> Iterator[Page]:
    context = browser.new_context(base_url=url, viewport=viewport, color_scheme=scheme, offline=offline)
    if url:
        context.add_cookies([{"name": "noisybayes_reviewer", "value": "ada", "url": url}])
    yield context.new_page()
    context.close()


def shoot(page: Page, name: str) -> None:
    """The top of the page, as a person sees it before scrolling, without what is empty below a short one."""
    picture = PICTURES / f"{name}.png"
    height = page.evaluate("Math.min(innerHeight, document.body.getBoundingClientRect().height)")
    page.screenshot(path=picture, clip={"x": 0, "y": 0, "width": page.viewport_size["width"], "height": height})
    size = picture.stat().st_size
    print(f"{picture.relative_to(ROOT)}: {size / 1000:.0f} kB")
    if size > MOST_BYTES:
        sys.exit(f"{picture} is larger than {MOST_BYTES / 1000:.0f} kB")


@contextmanager
def serving() -> Iterator[str]:
    """`noisybayes serve --demo` on a free port, until the example table is fitted."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "noisybayes", "serve", "--demo", f"--port={port}"])
    try:
        url = f"http://127.0.0.1:{port}"
        end = time.monotonic() + UP_SECONDS
        while not is_fitted(url):
            if process.poll() is not None or time.monotonic() > end:
                sys.exit("the server did not start")
            time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.wait()


def is_fitted(url: str) -> bool:
    try:
        with urlopen(f"{url}/api/tables/1", timeout=5) as answer:
            return json.load(answer)["fit"] is not None
    except OSError:
        return False


if __name__ == "__main__":
    main()
