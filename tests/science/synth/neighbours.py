"""All units of a few rows on a tiny domain, and all pairs of neighbours they make."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, product

import numpy as np

from dither.privacy import Unit
from dither.question import Question

SIZES = (2, 3)
ROWS = list(product(range(2), range(3)))
PEOPLE, REPLACED = Unit("person"), Unit("person", "replace")


def asked(unit: Unit = PEOPLE, **cost: float) -> Question:
    return Question.of("synthetic table", cost or {"rho": 0.1}, unit=unit)


def units(rows: int) -> list[list[tuple[int, int]]]:
    """Everything that a unit of at most so many rows can be."""
    return [
        list(one)
        for size in range(rows + 1)
        for one in combinations_with_replacement(ROWS, size)
    ]


def tables(rows: list[tuple[int, int]]) -> np.ndarray:
    return np.array(rows, np.int32).reshape(len(rows), 2)


def neighbours(
    unit: Unit, rows: int, others: list[tuple[int, int]]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All pairs of tables that differ in one unit, beside the rows of others."""
    all_units = units(rows)
    before = all_units if unit == REPLACED else [[]]
    for one, other in product(before, all_units):
        yield tables(others + one), tables(others + other)
