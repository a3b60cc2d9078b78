"""Commands as their users type them, and a book to ask them about."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from dither.cli import main
from dither.ledger import Ledger
from tests.ledger.golden.make import fill


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=text)


def run_alone(*arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, where a warning is an error."""
    command = [sys.executable, "-W", "error", "-m", "dither.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def filled(path: Path) -> Path:
    """A book with something in every table."""
    with Ledger.open(path) as ledger:
        fill(ledger)
    return path
