"""Opens every page of the built site in a browser: broken links, pages that are too wide for a phone, the search.

python tools/check_site.py [FOLDER]

Run `make docs` first. With a folder, every page is saved as a picture: on a desktop, on a phone and in dark mode.
Needs Chromium. Links to other sites are not followed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urldefrag

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

from make_screenshots import PHONE, WIDE, find_chromium, opened  # noqa: E402

SITE = ROOT / "site"
LOOKS = {"desktop": {"viewport": WIDE}, "phone": {"viewport": PHONE}, "dark": {"scheme": "dark", "viewport": WIDE}}
FOUND_BY_SEARCH = {"mislabeling matrix": "concepts", "docker": "docker", "find_label_issues": "cleanlab"}
MOST_PIXELS = 6_000  # height of a picture
LINKS = "[...document.querySelectorAll('a[href], img[src]')].map(each => each.href || each.src)"
ANCHORS = "[...document.querySelectorAll('[id]')].map(each => each.id)"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def main() -> None:
    if not (SITE / "index.html").exists():
        sys.exit("there is no site: run `make docs` first")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with serving_site() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        names = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html"))
        problems = [*broken_links(browser, url, names), *layout_problems(browser, url, names, folder)]
        problems += search_problems(browser, url)
        browser.close()
    print("\n".join(problems) or "no problem found")
    sys.exit(bool(problems))


def broken_links(browser: Browser, url: str, names: list[str]) -> Iterator[str]:
    """Links and pictures of every page whose file or anchor does not exist."""
    links, anchors = {}, {}
    with opened(browser, url) as page:
        for name in names:
            page.goto(f"/{name}")
            links[name] = page.evaluate(LINKS)
            anchors[name] = {"", *page.evaluate(ANCHORS)}
    n_links = 0
    for name, targets in links.items():
        for target in {each for each in targets if each.startswith(url)}:
            n_links += 1
            path, anchor = urldefrag(target.removeprefix(f"{url}/"))
            path = unquote(path.split("?")[0]) or "index.html"
            if not (SITE / path).is_file():
                yield f"{name}: {path} does not exist"
            elif path in anchors and unquote(anchor) not in anchors[path]:
                yield f"{name}: {path} has no anchor {anchor!r}"
    print(f"{len(names)} pages, {n_links} links")


def layout_problems(browser: Browser, url: str, names: list[str], folder: Path | None) -> Iterator[str]:
    """Errors in the console, missing files, and pages that scroll sideways."""
    for look, settings in LOOKS.items():
        with opened(browser, url, **settings) as page:
            errors: list[str] = []
            page.on("console", lambda message, errors=errors: message.type == "error" and errors.append(message.text))
            page.on("response", lambda answer, errors=errors: answer.status >= 400 and errors.append(answer.url))
            for name in names:
                page.goto(f"/{name}", wait_until="load")
                yield from (f"{name} ({look}): {error}" for error in errors)
                errors.clear()
                if (pixels := page.evaluate(OVERFLOW)) > 0:
                    yield f"{name} ({look}): {pixels} pixels too wide"
                if folder:
                    save_picture(page, folder / look / f"{name.replace('/', '-').removesuffix('.html')}.png")


def search_problems(browser: Browser, url: str) -> Iterator[str]:
    with opened(browser, url) as page:
        for words, expected in FOUND_BY_SEARCH.items():
            page.goto("/index.html")
            page.get_by_placeholder("Search").first.click()
            page.keyboard.type(words)
            results = page.locator(".md-search-result__link")
            try:
                results.first.wait_for(timeout=20_000)
            except TimeoutError:
                yield f"the search finds nothing for {words!r}"
                continue
            targets = results.evaluate_all("links => links.map(link => link.href)")
            if not any(expected in target for target in targets):
                yield f"the search for {words!r} does not find {expected}: {targets[:5]}"


def save_picture(page: Page, picture: Path) -> None:
    picture.parent.mkdir(parents=True, exist_ok=True)
    size = page.viewport_size
    height = min(MOST_PIXELS, page.evaluate("document.documentElement.scrollHeight"))
    page.set_viewport_size({"width": size["width"], "height": height})
    page.screenshot(path=picture)
    page.set_viewport_size(size)


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """No line for every request."""


@contextmanager
def serving_site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(SITE)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


if __name__ == "__main__":
    main()
