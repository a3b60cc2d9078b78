"""Noisy counts of public cells, with each person and without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither import ArgumentError
from dither.audit import attacks
from dither.audit.attacks.rates import rate
from dither.audit.attacks.tabulated import Tabulated, tabulated
from tests.audit.attacks.support import near
from tests.chance import chance

TABLE = {
    "age": [5, 9, 10, 15, 99],
    "sex": ["f", "f", "m", "m", "m"],
    "ill": ["a", "b", "a", "a", "b"],
}


def held() -> attacks.Anonymized:
    return attacks.anonymize(TABLE, ["age", "sex"], secret="ill", k=2)


def test_cells_are_those_of_public_edges() -> None:
    found = tabulated(held(), {"age": range(0, 31, 10)}, 1.0)
    assert found.cells.tolist() == [0, 0, 1, 1, 2]
    exact = Tabulated(found.cells, found.codes, 2, 50.0)
    assert exact.released().tolist() == [[1, 1], [1, 1], [2, 0], [2, 0], [0, 1]]
    assert exact.without().tolist() == [[0, 1], [1, 0], [1, 0], [1, 0], [0, 0]]
    assert exact.of_one().tolist() == [[1, 0], [0, 1], [1, 0], [1, 0], [0, 1]]


@chance(4e-9)
def test_a_person_alone_is_told_as_closed_forms_say() -> None:
    """One count of two is theirs: with noise of parameter a = e^-ε, the chance to name
    the larger is P(x + 1 > y) + P(x + 1 = y)/2, and a coin without them.
    """
    codes = np.zeros(40_000, np.intp)
    cells = np.arange(codes.size)
    with_them, without = Tabulated(cells, codes, 2, 1.0).told()
    size = np.arange(-60, 61)
    a = np.exp(-1.0)
    mass = (1 - a) / (1 + a) * a ** np.abs(size)
    apart = np.subtract.outer(size + 1, size)
    chances = np.outer(mass, mass)
    expected = chances[apart > 0].sum() + chances[apart == 0].sum() / 2
    assert near(rate("with", with_them, 0.5), float(expected))
    assert near(rate("without", without, 0.5), 0.5)


@pytest.mark.parametrize(
    ("edges", "problem"),
    [
        (None, "edges of the numbers 'age' are missing"),
        ({"sex": [0, 1]}, "edges of the numbers 'age' are missing"),
        ({"age": [3]}, "two or more increasing numbers"),
        ({"age": [3, 2]}, "two or more increasing numbers"),
        ({"age": [0, float("nan")]}, "two or more increasing numbers"),
        ({"age": "0-9"}, "two or more increasing numbers"),
        ([1, 2], "must map columns of numbers to their edges"),
    ],
)
def test_edges_must_be_declared(edges: Any, problem: str) -> None:
    with pytest.raises(ArgumentError, match=problem):
        tabulated(held(), edges, 1.0)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), "much", None])
def test_a_bad_epsilon_is_refused(epsilon: Any) -> None:
    with pytest.raises(ArgumentError, match="epsilon"):
        tabulated(held(), {"age": [0, 50, 110]}, epsilon).told()
