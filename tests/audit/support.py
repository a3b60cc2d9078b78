"""A small table whose unit "one" is told apart most easily, and questions about it."""

import pandas as pd

import dither
from dither import audit

ROWS = 60
FRAME = pd.DataFrame(
    {
        "id": [f"p{n % 20}" for n in range(ROWS)] + ["one"] * 30,
        "ward": ["A", "B"] * (ROWS // 2) + ["A"] * 30,
        "age": [n % 90 for n in range(ROWS)] + [90] * 30,
        "code": [f"c{n % 3}" for n in range(ROWS)] + ["rare"] * 30,
    }
)


def opened(frame, **more):
    declared = {
        "unit": "id",
        "bounds": {"age": (0, 110)},
        "keys": {"ward": ["A", "B"]},
        "budget": (3.0, 1e-2),
    }
    return dither.open(frame, **declared | more)


def ask(database, sql, draws=4000, **options):
    defaults = {"unit": "one"} if "without" not in options else {}
    return audit.query(
        database,
        sql,
        **defaults | {"epsilon": 1.0, "confidence": 1 - 1e-9} | options,
        draws=draws,
    )
