"""Draw docs/img/architecture.svg from the import rules in pyproject.toml and the layout in CONTRIBUTING.md.

python tools/architecture_diagram.py
"""

from __future__ import annotations

import re
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "img" / "architecture.svg"
_WIDTH, _HEIGHT, _GAP = 860, 46, 14  # of the picture, of a layer, between layers
_LETTERS = 0.145  # characters of a description for each unit of width
_BOX = 'fill="#e8eaf6" stroke="#3f51b5"'


def layers() -> list[list[str]]:
    """Folders from the top: each imports only from those below; folders of one layer do not import each other."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    return [re.split(r" \| ", each) for rule in rules if rule["type"] == "layers" for each in rule["layers"]]


def descriptions() -> dict[str, str]:
    """The description of each folder in the layout, up to the first detail."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return {
        name: re.split(r"[:;]", said)[-1 if ".py:" in said else 0]
        for name, said in re.findall(r"^  (\w+)/ +(.+)$", text, re.M)
    }


def render() -> str:
    rows, said = layers(), descriptions()
    height = len(rows) * (_HEIGHT + _GAP) + _GAP + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" role="img">',
        "<title>Folders of noisybayes: each imports only from those below it</title>",
        f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
    ]
    for place, names in enumerate(rows):
        top = _GAP + place * (_HEIGHT + _GAP)
        width = (_WIDTH - _GAP * (len(names) + 1)) / len(names)
        for i, name in enumerate(names):
            left = _GAP + i * (width + _GAP)
            parts += box(left, top, width, name, said[name].strip())
    foot = "A folder imports only from those below it. Folders side by side do not import each other."
    parts.append(f'<text x="{_GAP}" y="{height - 12}" font-size="13" fill="#444444">{foot}</text>')
    return "\n".join([*parts, "</svg>", ""])


def box(left: float, top: float, width: float, name: str, said: str) -> list[str]:
    most = int(width * _LETTERS)
    shown = said if len(said) <= most else f"{said[: most - 1].rsplit(' ', 1)[0].rstrip(',')} …"
    return [
        f'<rect x="{left:.0f}" y="{top}" width="{width:.0f}" height="{_HEIGHT}" rx="5" {_BOX}/>',
        f'<text x="{left + 10:.0f}" y="{top + 19}" font-size="14" font-weight="bold" fill="#1a237e">{name}</text>',
        f'<text x="{left + 10:.0f}" y="{top + 37}" font-size="12" fill="#222222">{escape(shown)}</text>',
    ]


if __name__ == "__main__":
    PICTURE.write_text(render(), encoding="utf-8")
