"""Reconstruction by linear programming: bounded errors give the column away, noise for
all counts together does not.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from dither import ArgumentError
from dither.audit import attacks
from dither.audit.attacks.subsets import rebuilt_from
from dither.errors import MissingExtra
from tests.audit.attacks.support import held, shown_well
from tests.chance import chance

pytest.importorskip("scipy")


@chance(1e-8)
def test_exact_counts_give_everything() -> None:
    """Ours keep to their bounds (six standard errors each), and are a coin's at ε = 1:
    160 secrets, six standard errors.
    """
    found = attacks.subsets(people=40, tables=4, epsilon=(50.0, 1.0))
    shown_well(found)
    assert found.bounded[0].share == 1
    assert found.bounded[2].share > 0.65
    assert held(*found.rates)
    assert abs(found.ours[-1].share - 0.5) < 6 * 0.5 / 160**0.5


def test_the_program_by_hand() -> None:
    """Each person by itself, all, and one count that is wrong: the rest outvotes it."""
    chosen = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 1, 0], [0, 1, 1]]
    assert rebuilt_from(chosen, [1, 0, 1, 2, 1, 1]).tolist() == [1, 0, 1]
    assert rebuilt_from(chosen, [1, 0, 1, 2, 1, 3]).tolist() == [1, 0, 1]


def test_against_all_columns() -> None:
    """Among all columns of ten people none has a smaller error than the rebuilt one,
    where its solution is whole: exact counts.
    """
    source = np.random.default_rng(2)
    chosen = source.integers(0, 2, (40, 10))
    secret = source.integers(0, 2, 10)
    every = (np.arange(1024)[:, None] >> np.arange(10)) & 1
    errors = np.abs(every @ chosen.T - chosen @ secret).sum(axis=1)
    best = every[errors.argmin()]
    assert np.array_equal(rebuilt_from(chosen, chosen @ secret), best)
    assert np.array_equal(best, secret)


def test_a_given_column() -> None:
    secret = [1] * 15 + [0] * 15
    found = attacks.subsets(secret, tables=1, epsilon=1.0)
    assert (found.people, found.counts, found.bounded[0].share) == (30, 120, 1)
    shown_well(found)


@chance(1e-8)
@pytest.mark.full
def test_the_textbook_size() -> None:
    """128 people and 512 counts: errors of 2 give nearly all, noise for ε = 1 in all
    gives no more than a coin plus six standard errors (512 secrets), and noise for
    ε = 10 a little (0.55 to 0.6).
    """
    found = attacks.subsets(people=128, tables=4, epsilon=(10.0, 4.0, 1.0))
    assert found.bounded[0].share == 1
    assert found.bounded[2].share > 0.93
    assert found.ours[-1].share < 0.5 + 6 * 0.5 / 512**0.5
    assert found.ours[0].share < 0.75
    assert held(*found.rates)


@chance(1e-9)
def test_exact_counts_that_claim_an_epsilon_are_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module: Any = sys.modules["dither.audit.attacks.subsets"]
    monkeypatch.setattr(module.Geometric, "release", lambda self, exact: exact)
    assert not attacks.subsets(people=40, tables=2, epsilon=1.0).kept


@pytest.mark.parametrize(
    "given",
    [
        {"secret": []},
        {"secret": [0, 2]},
        {"secret": ["yes"]},
        {"secret": [[0, 1]]},
        {"secret": [float("nan")]},
        {"people": 0},
        {"counts": 0},
        {"counts": 10**9},
        {"tables": 0},
        {"epsilon": ()},
        {"epsilon": 0},
        {"epsilon": None},
    ],
)
def test_refusals(given: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=next(iter(given))):
        attacks.subsets(**given)


def test_scipy_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(MissingExtra, match="scipy"):
        attacks.subsets(people=4, tables=1)
