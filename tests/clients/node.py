"""Node, where it is installed; in CI it must be."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
CLIENT = ROOT / "clients" / "js"


def program(name: str, tested: str = "the JavaScript client") -> str:
    """Where a program is; else a skipped test."""
    found = shutil.which(name)
    if found:
        return found
    if os.environ.get("CI"):
        pytest.fail(f"CI must test {tested}: no {name}", pytrace=False)
    pytest.skip(f"{tested} is not tested: no {name}")


def run(arguments: list[str], *, given: str = "", folder: Path = CLIENT) -> str:
    """What Node prints."""
    done = subprocess.run(
        [program("node"), *arguments],
        cwd=folder,
        input=given,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def ask(**questions: Any) -> Any:
    """What the JavaScript client says to the questions of test/compare.mjs."""
    given = json.dumps(questions)
    return json.loads(run(["test/compare.mjs"], given=given))
