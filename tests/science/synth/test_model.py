"""The whole model: exact without noise, private with it, and never in the way of odd
tables.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from dither import Budget
from dither.audit import mechanism
from dither.errors import ArgumentError, BudgetExceeded
from dither.mechanisms import Additive, Gaussian
from dither.privacy import Unit
from dither.science.synth.marginals import Codes
from dither.science.synth.model import (
    Model,
    Plan,
    checked_rows,
    model,
    most_rows,
    plan,
    run,
)
from tests.chance import chance
from tests.science.synth.neighbours import PEOPLE, REPLACED, asked

SIZES = (4, 3, 5, 2)


def drawn(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)  # allowed: test inputs, not noise


def tree_table(rows: int = 20_000) -> np.ndarray:
    """Column 1 follows 0, 2 follows 1, and 3 follows 1."""
    source = drawn(1)
    first = source.integers(0, 4, rows)

    def follow(parent: np.ndarray, size: int) -> np.ndarray:
        same = source.random(rows) < 0.7
        return np.where(same, parent % size, source.integers(0, size, rows))

    second = follow(first, 3)
    columns = [first, second, follow(second, 5), follow(second, 2)]
    return np.stack(columns, axis=1).astype(np.int32)


def sure(codes: np.ndarray, sizes: tuple[int, ...] = SIZES, **more: Any) -> Model:
    """A model with next to no noise."""
    return run(plan(sizes, more.get("pairs", ()), asked(rho=1e9)), codes)


def shares(codes: np.ndarray, i: int, j: int, sizes: tuple[int, ...]) -> np.ndarray:
    found = np.zeros((sizes[i], sizes[j]))
    np.add.at(found, (codes[:, i], codes[:, j]), 1)
    return found / len(codes)


def test_without_noise_the_tree_is_found_and_its_pairs_are_exact() -> None:
    codes = tree_table()
    found = sure(codes)
    assert set(found.edges) == {(0, 1), (1, 2), (1, 3)}
    assert found.total == pytest.approx(len(codes))
    for i, j in found.edges:
        off = np.abs(found.marginal(i, j) - shares(codes, i, j, SIZES)).max()
        assert off < 1e-6
        assert np.abs(found.marginal(j, i) - found.marginal(i, j).T).max() < 1e-12


def test_a_table_that_is_a_tree_exactly_has_all_its_pairs() -> None:
    """A chain of 0, 1 and 2 with whole counts: the pair 0, 2 follows from the others."""
    first, second = np.array([[4, 2], [2, 4]]), np.array([[2, 4], [4, 2]])
    rows = [
        (a, b, c)
        for a, b, c in product(range(2), repeat=3)
        for _ in range(int(first[a, b] * second[b, c]))
    ]
    codes = np.array(rows, np.int32)
    found = sure(codes, (2, 2, 2))
    for i, j in [(0, 1), (1, 2), (0, 2)]:
        wanted = shares(codes, i, j, (2, 2, 2))
        assert np.abs(found.marginal(i, j) - wanted).max() < 1e-6


def test_pairs_of_all_columns_agree_with_the_columns() -> None:
    found = run(plan(SIZES, (), asked(rho=0.01)), tree_table(2000))
    for i, j in product(range(4), repeat=2):
        pair = found.marginal(i, j)
        assert (pair >= 0).all()
        assert np.abs(pair.sum(axis=1) - found.marginal(i)).max() < 1e-9
        assert np.abs(pair.sum(axis=0) - found.marginal(j)).max() < 1e-9


@chance(1e-12)
@pytest.mark.parametrize("cost", [{"rho": 0.01}, {"epsilon": 1.0}])
def test_samples_have_the_shares_of_the_model(cost: dict[str, float]) -> None:
    found = model(tree_table(), SIZES, asked(**cost))
    rows = found.sample(50_000)
    assert rows.shape == (50_000, 4)
    for i, j in product(range(4), repeat=2):
        if i < j:
            off = np.abs(shares(rows, i, j, SIZES) - found.marginal(i, j)).sum()
            # Independent draws would be off by about 0.01.
            assert off < 0.005
    assert found.sample().shape == (found.count, 4)


def test_pairs_that_are_asked_for_come_first() -> None:
    found = sure(tree_table(), pairs=[(3, 0)])
    assert found.edges[0] == (0, 3)
    assert len(found.edges) == 3


def test_a_model_is_charged_before_the_table_is_read() -> None:
    budget = Budget(epsilon=1.0, unit=PEOPLE)
    question = asked(epsilon=0.75, budget=budget)  # type: ignore[arg-type]
    model(tree_table(100), SIZES, question)
    assert budget.spent == pytest.approx(0.75)
    # What cannot be read is not looked at: the charge is refused first.
    with pytest.raises(BudgetExceeded):
        model(None, SIZES, question)  # type: ignore[arg-type]


EMPTY = np.zeros((0, 3), np.int32)
OUTSIDE = np.full((10, 3), -1, np.int32)
ALIKE = np.zeros((10, 3), np.int32)
COSTS = [{"rho": 1e-9}, {"rho": 1e9}, {"epsilon": 1e-6}, {"epsilon": 100.0}]


@pytest.mark.parametrize("codes", [EMPTY, OUTSIDE, ALIKE])
@pytest.mark.parametrize("sizes", [(2, 3, 4), (1, 3, 4), (1, 1, 4), (1, 1, 1)])
@pytest.mark.parametrize("cost", COSTS)
def test_every_table_gets_a_model(
    codes: np.ndarray, sizes: tuple[int, ...], cost: dict[str, float]
) -> None:
    with np.errstate(all="raise"):
        found = run(plan(sizes, (), asked(**cost)), codes)
        rows = found.sample(50)
    assert (rows >= 0).all()
    assert (rows < np.array(sizes)).all()
    assert found.sample(0).shape == (0, 3)
    for i, j in product(range(3), repeat=2):
        assert found.marginal(i, j).sum() == pytest.approx(1)
    assert 1 <= found.count <= most_rows(sizes)


@pytest.mark.parametrize("size", [1, 6])
def test_a_table_of_one_column_has_no_pairs(size: int) -> None:
    found = sure(np.zeros((30, 1), np.int32), (size,))
    assert found.edges == ()
    assert found.twos.tables == ()
    assert found.count == 30
    assert (found.sample() == 0).all()


@pytest.mark.parametrize("n", [-1, 1.5, True, "many", None, 10**12])
def test_numbers_of_rows_that_make_no_sense_are_refused(n: Any) -> None:
    with pytest.raises(ArgumentError) as raised:
        checked_rows(n, SIZES)
    assert raised.value.argument == "n"


@chance(1e-12)
def test_the_number_of_rows_is_never_the_true_one() -> None:
    codes, totals = tree_table(500), set()
    for _ in range(40):
        totals.add(round(run(plan(SIZES, (), asked(epsilon=0.5)), codes).total))
    assert len(totals) > 10


BEFORE = np.array([[0, 0, 0]] * 2 + [[1, 1, 0]], np.int32)
AFTER = np.array([[0, 0, 0]] * 3 + [[1, 1, 0]], np.int32)
OTHER = np.array([[0, 0, 0], [1, 1, 1], [1, 1, 0]], np.int32)


class Attacker:
    """Runs the whole mechanism, and looks at how much more likely its noisy counts are
    for one table than for the other.
    """

    def __init__(self, a: np.ndarray, b: np.ndarray, made: Plan) -> None:
        self.made, self.power = made, 2 if isinstance(made.ones, Gaussian) else 1
        self.tables = [Codes.of(one, (2, 2, 2)) for one in (a, b)]

    def __call__(self, codes: np.ndarray) -> float:
        found = run(self.made, codes)
        assert found.plan.twos is not None
        ones, twos = found.plan.ones.scale, found.plan.twos.scale
        total = 0.0
        for i, noisy in enumerate(found.ones.tables):
            total += self._ratio(noisy, [one.one(i) for one in self.tables], ones)
        for edge, noisy in zip(found.edges, found.twos.tables, strict=True):
            total += self._ratio(noisy, [one.two(*edge) for one in self.tables], twos)
        return round(total, 6)

    def _ratio(self, noisy: np.ndarray, both: list[np.ndarray], scale: float) -> float:
        here, there = (np.abs((noisy - one) / scale) ** self.power for one in both)
        return float((there - here).sum())


def audited(a: np.ndarray, b: np.ndarray, claimed: Plan, made: Plan, draws: int) -> Any:
    return mechanism(
        Attacker(a, b, made),
        a,
        b,
        claimed=claimed.guarantee,
        draws=draws,
        confidence=1 - 1e-8,
        vectorized=False,
    )


def louder(made: Plan, times: float) -> Plan:
    """The same with less noise than it should have."""
    assert made.twos is not None
    ones, twos = (_louder(one, times) for one in (made.ones, made.twos))
    return replace(made, ones=ones, twos=twos)


def _louder(one: Additive, times: float) -> Additive:
    less = one.sensitivity / times
    if isinstance(one, Gaussian):
        return Gaussian(sensitivity=less, mu=one.mu, unit=one.unit)
    return replace(one, sensitivity=less)


@chance(2e-8)
def test_an_audit_does_not_refute_the_whole_and_finds_too_little_noise() -> None:
    made = plan((2, 2, 2), (), asked(PEOPLE, epsilon=1.0))
    assert not audited(BEFORE, AFTER, made, made, 500).refuted
    assert audited(BEFORE, AFTER, made, louder(made, 8), 500).refuted


@chance(2e-8)
@pytest.mark.full
@pytest.mark.parametrize(
    ("cost", "unit", "other"),
    [({"epsilon": 1.0}, REPLACED, OTHER), ({"rho": 0.2}, PEOPLE, AFTER)],
    ids=["pure", "rho"],
)
def test_a_longer_audit(cost: dict[str, float], unit: Unit, other: np.ndarray) -> None:
    made = plan((2, 2, 2), (), asked(unit, **cost))
    assert not audited(BEFORE, other, made, made, 3000).refuted
    assert audited(BEFORE, other, made, louder(made, 3), 3000).refuted
