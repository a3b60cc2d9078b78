"""Rewrites what pages show as output: `python tools/outputs.py PAGE …`.

Each page runs in an empty folder, as in tests/test_docs.py. If a block marked
`title="Output"` no longer has the words that its code prints, the lines that differ
are replaced. A line of which only the numbers differ stays as it is, because noise is
new in every run and the words around a block may mention its numbers.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from difflib import SequenceMatcher
from itertools import chain, repeat
from pathlib import Path
from re import Match
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script

from tests.test_docs import (
    FENCE,
    OUTPUT,
    ROOT,
    Block,
    commands,
    run_alone,
    run_command,
    run_python,
    shape,
)

__all__ = ["merged", "rewritten"]

INDENT = "  "


def rewritten(page: Path) -> str:
    """The text of a page, with the output of its code as it is printed now."""
    text = page.read_text(encoding="utf-8")
    found, done = [], 0
    for block, printed in _ran(page, text):
        if OUTPUT not in (block["info"] or ""):
            continue
        margin = block["indent"]
        old = [line.removeprefix(margin) for line in block["code"].splitlines()]
        shown = merged(old, printed.strip("\n").splitlines())
        new = "".join(f"{margin}{line}\n" for line in shown)
        found += [text[done : block.start("code")], new]
        done = block.end("code")
    return "".join([*found, text[done:]])


def merged(old: list[str], new: list[str]) -> list[str]:
    """The new lines; an old one is kept if it differs in its numbers only."""
    words = [[tuple(shape(line)) for line in lines] for lines in (old, new)]
    found = list(new)
    for first, second, size in SequenceMatcher(
        None, *words, autojunk=False
    ).get_matching_blocks():
        found[second : second + size] = map(
            _indented, old[first : first + size], new[second : second + size]
        )
    return found


def _indented(old: str, new: str) -> str:
    """The old line, with the indentation of an entry if it is one now."""
    entry = new.startswith(INDENT) and not new.startswith(3 * " ")
    return INDENT + old if entry and not old.startswith(" ") else old


def _ran(page: Path, text: str) -> Iterator[tuple[Match[str], str]]:
    """Each block, after it ran, with what was printed last."""
    namespace: dict[str, Any] = {"__name__": "__docs__"}
    ways = chain([run_alone], repeat(run_command))
    printed = ""
    for block in FENCE.finditer(text):
        code, language = block["hidden"] or block["code"], block["language"]
        line = text.count("\n", 0, block.start())
        if block["hidden"] is not None or (
            language == "python" and OUTPUT not in block["info"]
        ):
            shown = run_python(
                page, Block("python", _plain(block, code), line), namespace
            )
            printed = shown if block["hidden"] is None or shown else printed
        elif language == "sh":
            printed = "".join(next(ways)(one) for one in commands(_plain(block, code)))
        yield block, printed


def _plain(block: Match[str], code: str) -> str:
    """Code without the margin of its block."""
    margin = block["indent"] or ""
    return "".join(line.removeprefix(margin) for line in code.splitlines(keepends=True))


def main(names: list[str]) -> None:
    for name in names:
        page = Path(name).resolve()
        before = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            text = rewritten(page)
        if page.read_text(encoding="utf-8") != before:
            print(f"{os.path.relpath(page, ROOT)} was changed meanwhile; run it again")
        elif text != before:
            page.write_text(text, encoding="utf-8")
            print(f"{os.path.relpath(page, ROOT)} is written")


if __name__ == "__main__":
    main(sys.argv[1:])
