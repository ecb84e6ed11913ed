"""Print the oldest version that pyproject.toml allows of each dependency, as pip requirements.

pip install --constraint <(python tools/oldest_dependencies.py) noisybayes
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("cli", "pandas", "arrow")  # those of an audit on the command line and of the tests on it


def oldest(requirements: list[str]) -> list[str]:
    """`numpy>=1.26` becomes `numpy==1.26`: the first allowed release."""
    return [re.sub(r">=([\d.]+)$", r"==\1", each) for each in requirements if ">=" in each]


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for line in oldest([*project["dependencies"], *(each for name in EXTRAS for each in extras[name])]):
        print(line)


if __name__ == "__main__":
    main()
