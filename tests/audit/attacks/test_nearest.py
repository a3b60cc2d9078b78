"""The likeliest table of noisy ones is that of a search through all."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from dither.audit.attacks import nearest
from dither.audit.attacks.nearest import EXACT, Nearest
from dither.audit.attacks.published import domain

OVER = domain({"sex": ["f", "m"], "old": [0, 1]}, None)
MEANS = np.array([1.0, 0.4, 0.7, 0.2])
CROSS = ("sex", "old")


EVERY = np.array(list(product(range(8), repeat=4)), np.int64)


def scores(counts: Any, tables: Any, values: Any, noise: Any) -> Any:
    """Of each table of counts, up to a constant."""
    logs = np.array([math.lgamma(n + 1) for n in range(100)])
    found = (counts * np.log(MEANS) - logs[counts]).sum(axis=1)
    for table, value, scale in zip(tables, values, noise, strict=True):
        misses = (value - table.of(counts)) / max(scale, EXACT)
        found = found - (misses**2).sum(axis=1) / 2
    return found


@pytest.mark.parametrize(
    ("wanted", "noise"),
    [
        ([CROSS], [0.7]),
        ([CROSS, ()], [1.5, 0.0]),
        ([CROSS, "sex"], [1.0, 0.5]),
        ([CROSS, "sex", ()], [2.0, 1.0, 0.0]),
    ],
)
def test_the_likeliest_table(wanted: Any, noise: list[float]) -> None:
    """Tables that nest: one step at a time reaches the best one."""
    tables = [OVER.table(names) for names in wanted]
    source = np.random.default_rng(3)
    truth = source.poisson(MEANS, (40, 4))
    values = [
        table.of(truth) + source.normal(0, scale, (40, table.size))
        for table, scale in zip(tables, noise, strict=True)
    ]
    found = Nearest(tables, noise, MEANS).solve(values)
    for block in range(40):
        shown = [value[block] for value in values]
        best = scores(EVERY, tables, shown, noise).max()
        got = scores(found[block : block + 1], tables, shown, noise)[0]
        assert got == pytest.approx(best)


def test_tables_without_the_cross_start_from_nobody() -> None:
    tables = [OVER.table("sex"), OVER.table("old")]
    values = [np.array([[3.0, 0.0]]), np.array([[2.0, 1.0]])]
    found = Nearest(tables, [0.0, 0.0], MEANS).solve(values)
    assert found.tolist() == [[2, 1, 0, 0]]


def test_blocks_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "AT_ONCE", 20)
    truth = np.random.default_rng(1).poisson(MEANS, (7, 4))
    tables = [OVER.table(CROSS)]
    found = Nearest(tables, [0.0], MEANS).solve([truth.astype(np.float64)])
    assert (found == truth).all()


def test_one_more_person() -> None:
    """The prior decides where the noise is large, what is published where it is not."""
    tables = [OVER.table(CROSS)]
    others = np.array([[5, 0, 0, 0], [0, 0, 0, 0]])
    shown = [np.array([[5.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]])]
    near = Nearest(tables, [0.1], MEANS).one_more(others, shown)
    assert near.tolist() == [3, 2]
    far = Nearest(tables, [100.0], MEANS).one_more(others, shown)
    assert far.tolist() == [0, 0]
