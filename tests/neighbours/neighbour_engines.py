"""Where neighbouring databases can lie: each engine's place, in a module of its own.

A new engine is a module `<name>_place.py` here, with a dict `PLACES` of its name and
its class.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from tests.neighbours.neighbour_place import Place

__all__ = ["PLACES"]

OWN = "neighbour_place"


def _places() -> dict[str, Any]:
    found: dict[str, Any] = {"duckdb": Place}
    for path in sorted(Path(__file__).parent.glob("*_place.py")):
        if path.stem != OWN:
            found |= import_module(f"tests.neighbours.{path.stem}").PLACES
    return found


PLACES = _places()
