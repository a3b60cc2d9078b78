"""Counts of tables that agree with marginals are those of a search through all."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from dither.audit.attacks.published import domain
from dither.audit.attacks.solving import Solver

OVER = domain(
    {"sex": ["f", "m"], "age": [0, 1, 2]}, {"adult": ("age", [False, True, True])}
)
CHANCES = np.array([0.3, 0.1, 0.2, 0.05, 0.25, 0.1])
WANTED: list[list[Any]] = [
    [()],
    ["sex"],
    ["sex", "age"],
    [("sex", "adult"), "age"],
    [("sex", "age")],
    [("age", "adult"), "sex"],
    ["adult", ("sex", "adult")],
]


def likelihood(counts: tuple[int, ...]) -> float:
    logs = [
        n * math.log(p) - math.lgamma(n + 1)
        for n, p in zip(counts, CHANCES, strict=True)
    ]
    return sum(logs)


@pytest.mark.parametrize("wanted", WANTED, ids=str)
def test_all_small_blocks(wanted: list[Any]) -> None:
    """Every block of at most three people over six cells."""
    tables = [OVER.table(names) for names in wanted]
    blocks = [one for one in product(range(4), repeat=6) if sum(one) <= 3]
    counts = np.array(blocks, np.int64)
    marginals = [table.of(counts) for table in tables]
    keys = [tuple(int(n) for m in marginals for n in m[b]) for b in range(len(blocks))]
    agree: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for key, block in zip(keys, blocks, strict=True):
        agree.setdefault(key, []).append(block)
    solver = Solver(tables, CHANCES, OVER.cells)
    for at, key in enumerate(keys):
        found = solver.solve([one[at] for one in marginals])
        assert found.count == len(agree[key])
        assert found.table is not None
        best = max(likelihood(one) for one in agree[key])
        assert tuple(found.table) in agree[key]
        assert likelihood(tuple(found.table)) == pytest.approx(best)


def test_tables_that_contradict_have_no_solution() -> None:
    tables = [OVER.table("sex"), OVER.table("age")]
    solver = Solver(tables, CHANCES, OVER.cells)
    found = solver.solve([np.array([1, 0]), np.array([0, 0, 2])])
    assert (found.count, found.table) == (0, None)
    odd = Solver([OVER.table(("adult", "age"))], CHANCES, OVER.cells)
    children = np.array([0, 1, 0, 0, 0, 0])  # one adult of the first age
    assert OVER.table(("adult", "age")).labels[1] == (False, 1)
    assert odd.solve([children]).count == 0


def test_too_many_tables_are_not_looked_through() -> None:
    solver = Solver([OVER.table(())], CHANCES, OVER.cells, 50)
    assert solver.solve([np.array([2])]).count == math.comb(7, 5)
    found = solver.solve([np.array([1 << 60])])
    assert (found.count, found.table) == (None, None)


def test_large_blocks_of_two_marginals_are_looked_through() -> None:
    """Cells of one age come together, so that a state is how many women are left; in
    the order of the cells it is how many are left of each age.
    """
    over = domain({"sex": ["f", "m"], "age": [0, 1, 2, 3]}, None)
    tables = [over.table("sex"), over.table("age")]
    solver = Solver(tables, np.full(8, 1 / 8), over.cells)
    found = solver.solve([np.array([3, 1997]), np.array([400, 500, 500, 600])])
    assert found.count == math.comb(6, 3)
    found = solver.solve([np.array([100, 100]), np.full(4, 50)])
    women = np.ones(1)
    for _ in range(4):
        women = np.convolve(women, np.ones(51))
    assert found.count == women[100]
