"""What `make docs` adds to MkDocs, so that one set of pages works on the code host and on the site.

- Pages outside docs/ (`PAGES`) are added to the site, and links are rewritten to the new place of their target. A link
  to a file that is not on the site, such as a test, becomes plain text.
- Pages of the gallery offer the notebook of their example.
- The page `docstrings.md` lists the public names for mkdocstrings.
- Formulas become MathML, which browsers render natively: no script is loaded.
"""

from __future__ import annotations

import html
import json
import re
import sys
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from to_notebook import notebook  # noqa: E402  the tool beside this one

#: Pages outside docs/, with their names on the site.
PAGES = {
    "README.md": "readme.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security-policy.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "examples/README.md": "examples.md",
}
_SOURCES = {site: source for source, site in PAGES.items()}
# pictures from another server
_BADGE = re.compile(r"^\[!\[[^\]]*\]\(https://img\.shields\.io/[^)]*\)\]\([^)]*\)\n", re.MULTILINE)
_IMAGE = r"!\[[^\]]*\]\([^)\s]+\)"
_LINK = rf"(?P<link>\[(?P<text>(?:[^\[\]]|{_IMAGE})*)\]\((?P<target>[^)\s]+)\))"  # the text may be a picture
_CODE_OR_LINK = re.compile(rf"^```.*?^```$|`[^`\n]+`|{_LINK}", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of the root and that of the docstrings."""
    for source, site in PAGES.items():
        files.append(File.generated(config, site, content=(ROOT / source).read_text(encoding="utf-8")))
    files.append(File.generated(config, "docstrings.md", content=docstrings_page()))
    for example in sorted((ROOT / "examples" / "gallery").glob("*.py")):
        document = json.dumps(notebook(example.read_text(encoding="utf-8")), ensure_ascii=False)
        files.append(File.generated(config, f"gallery/{example.stem}.ipynb", content=document))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite the links of a page for the site."""
    source = PurePosixPath(_SOURCES.get(page.file.src_uri, f"docs/{page.file.src_uri}"))

    def rewritten(match: re.Match[str]) -> str:
        if match["link"] is None:
            return match[0]
        target, text = site_target(match["target"], source), _CODE_OR_LINK.sub(rewritten, match["text"])
        return text if target is None else f"[{text}]({target})"

    if "\n## " not in markdown:
        page.meta.setdefault("hide", ["toc"])  # an empty table of contents would only take space from wide tables
    if source.parent.name == "gallery" and source.stem != "index":
        markdown += f"\n[Download it as a notebook]({source.stem}.ipynb)\n"
    return _CODE_OR_LINK.sub(rewritten, _BADGE.sub("", markdown))


def site_target(target: str, source: PurePosixPath) -> str | None:
    """Where a link of the page `source` (its path in the repository) leads on the site; None if nowhere."""
    if re.match(r"[a-z]+:|#", target):
        return target
    path, hash_, fragment = target.partition("#")
    at = normpath(source.parent / path)
    if at.endswith(".ipynb"):  # generated for the site
        return target
    if at in PAGES or (at.startswith("docs/") and (ROOT / at).is_file()):
        folder = PurePosixPath(site_path(str(source))).parent
        return relpath(site_path(at), folder) + hash_ + fragment
    return None if (ROOT / at).exists() else target  # missing targets are left for the strict build to report


def site_path(path: str) -> str:
    """Where a page or picture of the repository is on the site."""
    return PAGES.get(path, path.removeprefix("docs/"))


def on_page_content(content: str, **_: Any) -> str:
    """Render the formulas."""

    def drawn(match: re.Match[str]) -> str:
        block = match[1] == "div"
        formula = html.unescape(match[2]).strip()[2:-2]
        return convert(formula, display="block" if block else "inline")

    return re.sub(r'<(div|span) class="arithmatex">(.*?)</\1>', drawn, content, flags=re.DOTALL)


def docstrings_page() -> str:
    """One entry for each public name, from the module that defines it."""
    import noisybayes

    lines = [
        "# API from docstrings",
        "",
        "Signatures and docstrings of the public names; [API](api.md) explains them.",
        "",
    ]
    for name in noisybayes.__all__:
        lines += [f"::: {getattr(noisybayes, name).__module__}.{name}", ""]
    return "\n".join(lines)
