"""A few visits under a budget, and a receipt for reading them."""

from __future__ import annotations

from datetime import date
from typing import Any

import pandas as pd

import dither

VISITS = {
    "id": ["a", "a", "a", "b", "b", "c", None],
    "ward": ["A", "A", "B", "B", "C", "Z", "A"],
    "age": [10, 200, None, 40, 50, 60, 70],
    "day": [date(2024, 1, n) for n in range(1, 8)],
}


def opened(data: dict[str, list[Any]] = VISITS, **declared: Any) -> dither.Dataset:
    frame = pd.DataFrame(data)
    if "age" in frame:
        frame["age"] = frame["age"].astype("Int64")
    about = {
        "unit": "id",
        "bounds": {"age": (0, 110)},
        "keys": {"ward": ["A", "B", "C"]},
        "rows": 50,
        "budget": 3.0,
        "name": "visits",
    }
    return dither.open(frame, **(about | declared))


def paid(dataset: dither.Dataset) -> dither.Receipt:
    return dataset.account.charge(dither.PureDP(0.1, unit=dataset.unit))
