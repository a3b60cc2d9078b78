"""The code in README.md and docs/ runs, in order, page by page, with warnings as errors."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"^(?P<indent>[ ]*)```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^(?P=indent)```[ ]*$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its code, and the line where the code begins."""

    language: str
    code: str
    line: int


def blocks(text: str) -> list[Block]:
    found = []
    for match in FENCE.finditer(text):
        indent = len(match["indent"])
        code = "".join(line[indent:] if line.strip() else line for line in match["code"].splitlines(keepends=True))
        found.append(Block(match["language"], code, text.count("\n", 0, match.start("code"))))
    return found


def commands(code: str) -> list[list[str]]:
    """The `dither …` lines of a shell block that stand alone; pipes and substitutions are for the reader's shell."""
    lines = [line.removeprefix("$ ").strip() for line in code.splitlines()]
    wanted = [line for line in lines if re.match(r"dither\b", line) and not re.search(r"[|$>&`]", line)]
    return [shlex.split(line, comments=True) for line in wanted]


def run_python(page: Path, found: list[Block]) -> None:
    namespace: dict[str, Any] = {"__name__": "__docs__"}
    for block in found:
        # Blank lines in front, so that a traceback names the line of the page.
        code = compile("\n" * block.line + block.code, str(page), "exec", dont_inherit=True)
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("error")
            exec(code, namespace)


def run_command(arguments: list[str], folder: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "COLUMNS": "120"}
    command = [sys.executable, "-W", "error", "-m", "dither.cli", *arguments[1:]]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(arguments)} ended with {done.returncode}: {done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = blocks(page.read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    run_python(page, [block for block in found if block.language == "python"])
    for block in found:
        if block.language == "sh":
            for arguments in commands(block.code):
                run_command(arguments, tmp_path)


def test_blocks_are_found_with_their_place() -> None:
    text = "one\n\n```python\nx = 1\n```\n\n- item\n\n    ```sh\n    dither doctor  # look\n    ```\n"
    assert blocks(text) == [Block("python", "x = 1\n", 3), Block("sh", "dither doctor  # look\n", 9)]


def test_only_plain_dither_commands_are_run() -> None:
    code = "make demo\ndither doctor --json  # data\n$ dither demo\ndither completion fish | source\ndithering\n"
    assert commands(code) == [["dither", "doctor", "--json"], ["dither", "demo"]]


def test_a_warning_in_a_page_is_an_error() -> None:
    with pytest.raises(UserWarning, match="old"):
        run_python(Path("page.md"), [Block("python", "import warnings\nwarnings.warn('old')\n", 3)])


def test_blocks_of_a_page_share_their_names() -> None:
    run_python(Path("page.md"), [Block("python", "x = 1\n", 3), Block("python", "assert x == 1\n", 9)])
