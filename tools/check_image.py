"""Runs the steps of the Dockerfile without Docker, from building the wheel to the health check of the running server.

python tools/check_image.py

In a temporary folder and an environment of this Python version; needs the network. The user account of the image is
the one step left out.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from secrets import token_hex

ROOT = Path(__file__).parents[1]
NEED_AN_IMAGE = ("useradd", "install --directory")
UP_SECONDS = 60


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder)
        subprocess.run([sys.executable, "-m", "venv", image / "venv"], check=True)
        environment = os.environ | {
            "PATH": f"{image / 'venv/bin'}:{os.environ['PATH']}",
            "NOISYBAYES_TOKEN": token_hex(),
        }
        environment.pop("PYTHONPATH", None)
        here, commands = image, {}
        for name, rest in instructions():
            if name == "WORKDIR":
                here = Path(inside(image, rest))
                here.mkdir(exist_ok=True)
            elif name == "COPY" and not rest.startswith("--from"):
                copy(rest.split(), here)
            elif name == "RUN":
                run(inside(image, rest), here, environment)
            elif name in ("ENTRYPOINT", "CMD"):
                commands[name] = json.loads(rest)
            elif name == "HEALTHCHECK":
                commands[name] = json.loads(rest.partition("CMD ")[2])
        serve = [inside(image, word) for word in [*commands["ENTRYPOINT"], *commands["CMD"]]]
        check_health(serve, commands["HEALTHCHECK"], here, environment)


def instructions() -> list[tuple[str, str]]:
    """Of the Dockerfile: (instruction, arguments), continued lines joined."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines if line)]


def inside(image: Path, text: str) -> str:
    """The text with the folders of the image in the temporary one."""
    return re.sub(r"(?<=[ \"(])(?=/(wheels|data|build)\b)|^(?=/(wheels|data|build)\b)", str(image), text)


def copy(words: list[str], here: Path) -> None:
    *sources, target = words
    for source in sources:
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, here / target, dirs_exist_ok=True)
        else:
            shutil.copy(ROOT / source, here / target)


def run(command: str, here: Path, environment: dict[str, str]) -> None:
    steps = [step.strip() for step in command.split("&&")]
    for step in steps:
        if not step.startswith(NEED_AN_IMAGE):
            print(f"$ {step}", flush=True)
            subprocess.run(["/bin/sh", "-c", step], cwd=here, env=environment, check=True)


def check_health(serve: list[str], health: list[str], here: Path, environment: dict[str, str]) -> None:
    print(f"$ {' '.join(serve)}", flush=True)
    server = subprocess.Popen(serve, cwd=here, env=environment)
    try:
        end = time.monotonic() + UP_SECONDS
        while subprocess.run(health, cwd=here, env=environment, stderr=subprocess.DEVNULL, check=False).returncode:
            if server.poll() is not None or time.monotonic() > end:
                sys.exit("the server did not become healthy")
            time.sleep(0.5)
    finally:
        server.terminate()
        server.wait()
    print("healthy")


if __name__ == "__main__":
    main()
