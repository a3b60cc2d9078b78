"""Write tests/chance.txt: every test of chance with its false-alarm rate.

    python tools/chance.py

Read from the sources: the decorator `@chance(rate)` of a function or class, a mark of a
parameter in it, a dict of a file that maps names of parameters to marks (`CHANCE = {…}`),
or `pytestmark` of a file. A rate is of one run of a test; the last line adds up those of
all lines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = ROOT / "tests"
LISTED = TESTS / "chance.txt"


def rate_of(node: ast.AST) -> float | None:
    """The rate where a node is `chance(rate)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    if node.func.id != "chance":
        return None
    return float(ast.literal_eval(node.args[0]))


def rates(nodes: list[ast.expr]) -> list[float]:
    """All rates named inside of these."""
    inner = (one for node in nodes for one in ast.walk(node))
    return [rate for one in inner if (rate := rate_of(one)) is not None]


def found(path: Path) -> Iterator[tuple[str, float]]:
    """The tests of chance of a file; the worst rate where parameters have their own."""
    text = path.read_text(encoding="utf-8")
    if "chance(" not in text:
        return
    tree = ast.parse(text)
    place = path.relative_to(ROOT).as_posix()
    for node in tree.body:
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == "pytestmark"
        ):
            yield from ((f"{place}", rate) for rate in rates([node.value])[:1])
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            yield from named(place, node.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            stated = rates(node.decorator_list)
            if stated:
                yield f"{place}::{node.name}", max(stated)


def named(place: str, marks: ast.Dict) -> Iterator[tuple[str, float]]:
    """Parameters whose marks are kept in a dict, each with its own rate."""
    for key, mark in zip(marks.keys, marks.values, strict=True):
        rate = rate_of(mark)
        if rate is not None and isinstance(key, ast.Constant):
            yield f"{place}[{key.value}]", rate


def listing() -> str:
    """The text of the list."""
    tests = sorted(one for path in TESTS.rglob("test_*.py") for one in found(path))
    lines = [f"{rate:<8.0e} {name}" for name, rate in tests]
    total = sum(rate for _, rate in tests)
    return "\n".join([*lines, f"{total:<8.0e} together, of {len(tests)}", ""])


if __name__ == "__main__":
    LISTED.write_text(listing(), encoding="utf-8")
