"""Writes the notebooks of docs/ from their pages: `python tools/notebooks.py`.

A page's words become cells of words, its Python cells of code, and what it shows as
output the output of the cell before. A test compares both and runs the notebook.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("trial", "training-digits", "hospitals")
PAGES = tuple(ROOT / "docs" / f"{name}.md" for name in NAMES)
BLOCK = re.compile(
    r"^```(?P<language>\w+)(?P<info>[^\n]*)\n(?P<code>.*?)^```[ ]*$"
    r"|^<!-- test\n.*?^-->$",
    re.MULTILINE | re.DOTALL,
)
FRONT = re.compile(r"\A---\n.*?^---\n", re.MULTILINE | re.DOTALL)
"""What a page tells the site, not its readers"""
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def place(page: Path) -> Path:
    """Where the notebook of a page is."""
    return page.with_suffix(".ipynb")


def notebook(page: Path) -> str:
    """The notebook of a page, as a file's text."""
    cells = list(_cells(FRONT.sub("", page.read_text(encoding="utf-8"))))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    held = {
        "cells": cells,
        "metadata": {"kernelspec": KERNEL, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(held, indent=1, ensure_ascii=False) + "\n"


def _cells(text: str) -> Iterator[dict[str, Any]]:
    done, code = 0, None
    for block in BLOCK.finditer(text):
        yield from _words(text[done : block.start()])
        done = block.end()
        if block["language"] == "python":
            code = _code(block["code"])
            yield code
        elif "Output" in (block["info"] or "") and code is not None:
            code["outputs"] = [_output(block["code"])]
    yield from _words(text[done:])


def _words(text: str) -> Iterator[dict[str, Any]]:
    if text.strip():
        yield {"cell_type": "markdown", "metadata": {}, "source": _lines(text.strip())}


def _code(text: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": _lines(text.strip()),
    }


def _output(text: str) -> dict[str, Any]:
    return {"name": "stdout", "output_type": "stream", "text": _lines(text)}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    for page in PAGES:
        place(page).write_text(notebook(page), encoding="utf-8")


if __name__ == "__main__":
    main()
