"""The attacked table in each engine. A new engine is a module `<name>_worlds.py` here,
with a dict `WORLDS`.

A world is made from rows as `analyst.row` writes them, and is a `Dataset` under
`analyst.PUBLIC`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from dither.dataset import Dataset
from tests.attacks.analyst import visits

__all__ = ["WORLDS"]

OWN = "engine_worlds"
Rows = list[dict[str, Any]]


def _worlds() -> dict[str, Callable[[Rows], Dataset]]:
    found: dict[str, Callable[[Rows], Dataset]] = {"duckdb": visits}
    for path in sorted(Path(__file__).parent.glob("*_worlds.py")):
        if path.stem != OWN:
            found |= import_module(f"tests.attacks.{path.stem}").WORLDS
    return found


WORLDS = _worlds()
