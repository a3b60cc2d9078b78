"""The wheel of this checkout in an empty environment: what somebody has who just
installed it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Installed", "NoIndex", "install"]

ROOT = Path(__file__).parent.parent
OFFLINE = re.compile(
    r"No matching distribution|Could not find a version|Max retries|Temporary failure in name resolution"
)
LIMIT = 300
"""Seconds for one command of pip, on the slowest machine."""


class NoIndex(Exception):
    """No package index can be reached."""


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it, and a folder to work in."""

    python: Path
    folder: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command in that folder. Nothing leads it to this checkout."""
        dropped = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CI")
        environment = {
            name: value for name, value in os.environ.items() if name not in dropped
        }
        environment |= {
            "COLUMNS": "160",
            "PYTHONWARNINGS": "error",
            "DITHER_STATE": str(self.folder / ".state"),
        }
        return subprocess.run(
            words,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            encoding="utf-8",
        )

    def dither(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run(str(self.python.parent / "dither"), *words)


def install(folder: Path, python: str = sys.executable) -> Installed:
    """Build the wheel and install it, with the pinned versions of what it needs and
    nothing else.
    """
    wheels, environment = folder / "wheels", folder / "environment"
    _pip(python, "wheel", "--no-deps", "-w", str(wheels), str(ROOT))
    subprocess.run(
        [python, "-m", "venv", "--without-pip", str(environment)],
        check=True,
        capture_output=True,
    )
    own = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    (wheel,) = wheels.glob("dither-*.whl")
    pinned = str(ROOT / "constraints.txt")
    _pip(
        python,
        "--python",
        str(own),
        "install",
        "--no-compile",
        "-c",
        pinned,
        str(wheel),
    )
    work = folder / "work"
    work.mkdir()
    return Installed(own, work)


def _pip(python: str, *words: str) -> None:
    command = [python, "-m", "pip", "-q", "--disable-pip-version-check", *words]
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONPATH"
    }
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=LIMIT,
    )
    if done.returncode and OFFLINE.search(done.stderr):
        raise NoIndex(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
