"""Follows one grouped question through the query room: `python tools/path.py`.

It counts the functions and files that the question passes, and how often it crosses
from one file, or from one folder, into another, and writes the path into
docs/architecture.md. A test compares the page with the source.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import dither

ROOM = Path(dither.__file__).parent / "query"
ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
RESULT = ROOT / "bench" / "path.json"
MARKED = re.compile(r"(<!-- (files|counts) -->\n).*?(<!-- end -->)", re.DOTALL)
QUESTION = (
    "SELECT ward, COUNT(*) AS n, ROUND(AVG(age), 1) AS age FROM visits "
    "WHERE age >= 18 GROUP BY ward HAVING COUNT(*) > 10 ORDER BY n DESC"
)


@dataclass
class Trail:
    """What a question passed: files in the order in which it first came to them."""

    functions: set[tuple[str, str]] = field(default_factory=set)
    files: list[str] = field(default_factory=list)
    crossings: Counter[tuple[str, str]] = field(default_factory=Counter)
    stack: list[str] = field(default_factory=list)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        place = Path(frame.f_code.co_filename)
        if ROOM not in place.parents:
            return
        if event == "return":
            if self.stack:
                self.stack.pop()
        elif event == "call":
            self._enter(str(place.relative_to(ROOM)), frame.f_code.co_qualname)

    def _enter(self, file: str, function: str) -> None:
        self.functions.add((file, function))
        if file not in self.files:
            self.files.append(file)
        if self.stack and self.stack[-1] != file:
            self.crossings[self.stack[-1], file] += 1
        self.stack.append(file)

    @property
    def summary(self) -> dict[str, int]:
        """Calls and returns both cross, so crossings count twice."""
        folders = sum(
            count
            for (start, end), count in self.crossings.items()
            if Path(start).parent != Path(end).parent
        )
        return {
            "functions": len(self.functions),
            "files": len(self.files),
            "jumps between files": 2 * self.crossings.total(),
            "jumps between folders": 2 * folders,
        }


def followed(ask: Callable[[], Any]) -> Trail:
    """The path of what a call does."""
    path = Trail()
    sys.setprofile(path)
    try:
        ask()
    finally:
        sys.setprofile(None)
    return path


def question() -> Trail:
    """The path of the question, asked of a small table, and of printing its answer."""
    import duckdb

    rows = "SELECT i % 8000 AS id, ['A', 'B', 'C'][i % 3 + 1] AS ward, i % 110 AS age"
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE visits AS {rows} FROM range(50000) AS t(i)")
    about: dict[str, Any] = {
        "unit": "id",
        "bounds": {"age": (0, 110)},
        "keys": {"ward": ["A", "B", "C"]},
        "rows": 50,
        "budget": (30.0, 1e-6),
        "table": "visits",
    }
    with dither.open(connection, **about) as visits:
        # The first question loads what all later ones find there.
        str(visits.sql(QUESTION.replace("18", "17"), epsilon=0.5))
        return followed(lambda: str(visits.sql(QUESTION, epsilon=0.5)))


def purpose(file: str) -> str:
    """What a file is for: the first sentence of its docstring."""
    text = ast.get_docstring(ast.parse((ROOM / file).read_text(encoding="utf-8"))) or ""
    sentence = re.split(r"(?<=\.)\s", " ".join(text.split()), maxsplit=1)[0]
    return sentence.rstrip(".")


def files_table(files: list[str]) -> str:
    """The files in the order in which the question comes to them."""
    lines = ["| file in `query/` | what it is for |", "|---|---|"]
    lines += [f"| `{file}` | {purpose(file)} |" for file in files]
    return "\n".join(lines) + "\n"


def counts_table(counts: dict[str, dict[str, int]]) -> str:
    """What the question passes on its way."""
    lines = ["| the question passes | |", "|---|---|"]
    lines += [f"| {what} | {number:,} |" for what, number in counts["now"].items()]
    return "\n".join(lines) + "\n"


def page(text: str, files: list[str], counts: dict[str, dict[str, int]]) -> str:
    """The page with its tables made anew."""
    made = {"files": files_table(files), "counts": counts_table(counts)}
    return MARKED.sub(lambda found: found[1] + made[found[2]] + found[3], text)


def main() -> None:
    path = question()
    counts = {"now": path.summary}
    RESULT.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page(text, path.files, counts), encoding="utf-8")
    print(json.dumps(path.summary, indent=2))


if __name__ == "__main__":
    main()
