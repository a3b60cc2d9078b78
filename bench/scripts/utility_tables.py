"""One column of a table that others made, as text. This runs inside the environment of
the packages that ship them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bench.scripts.loop import serve


def answer(package: str, table: str, column: str) -> list[str]:
    """The values of the column that are not missing."""
    module: Any = import_module(package)
    found = module.load_penguins() if package == "palmerpenguins" else None
    frame = getattr(module, table) if found is None else found
    values = frame[column].astype(object)
    return [str(one) for one in values[values.notna()].tolist()]


if __name__ == "__main__":
    serve(answer)
