"""Ranges: what a unit moves, what is read, what it costs, and how far off it is."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal

import numpy as np
import pytest

import dither
from dither import Budget
from dither.errors import ArgumentError, BudgetExceeded
from dither.mechanisms import Gaussian, Laplace
from dither.mechanisms.tree import Tree
from dither.privacy import Unit
from dither.science.census.bins import MOST, bins_of
from dither.science.census.ranges import ranges
from tests.chance import chance

REPLACE = Unit("row", "replace")


@pytest.fixture
def exact(monkeypatch):
    """Mechanisms release what they are given."""
    for mechanism in (Laplace, Gaussian):
        monkeypatch.setattr(mechanism, "release", lambda self, value: value)


# What one unit moves


def moved(one, two, domain, branching):
    tree = Tree(len(domain), branching, root=False)
    counts = [
        bins_of(None, domain).places(np.array(held, float)) for held in (one, two)
    ]
    sums = [tree.sums(np.bincount(held, minlength=tree.leaves)) for held in counts]
    off = sums[0] - sums[1]
    return np.abs(off).sum(), math.sqrt((off**2).sum())


@pytest.mark.parametrize("size", [1, 3, 4, 9])
@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_no_pair_of_neighbours_moves_the_tree_by_more(size, relation):
    """All values of one unit with up to two of them, beside all others; and some pair
    moves it by as much, so nothing is wasted.
    """
    domain, most = range(size), 2
    owned = [
        held
        for number in range(most + 1)
        for held in itertools.combinations_with_replacement(domain, number)
    ]
    pairs = itertools.product(owned, owned if relation == "replace" else [()])
    found = [moved(one, two, domain, 3) for one, two in pairs]
    levels = Tree(size, 3, root=False).levels
    each = (2 * most, math.sqrt(2) * most) if relation == "replace" else (most, most)
    limits = levels * each[0], math.sqrt(levels) * each[1]
    largest = np.array(found).max(axis=0)
    assert (largest <= np.array(limits) + 1e-9).all()
    if size == 9:  # large enough for two values to have nothing in common
        assert largest == pytest.approx(limits)


@pytest.mark.parametrize(
    ("unit", "l1", "l2"),
    [(Unit("row"), 3, 3), (REPLACE, 6, 6)],
    ids=["moves", "replaced"],
)
def test_the_noise_is_for_that(unit, l1, l2):
    """4096 bins have three levels; L2 is the root of what is written here."""
    asked = {"domain": range(4096), "budget": Budget(epsilon=50, unit=unit)}
    found = ranges([1], epsilon=0.5, **asked).noise_of
    assert found.sensitivity == l1
    assert isinstance(found, Laplace)
    found = ranges([1], domain=range(4096), rho=0.1, budget=None)
    assert found.noise_of.sensitivity == pytest.approx(math.sqrt(3))
    rho = Budget(epsilon=50, delta=1e-6, unit=unit)
    found = ranges([1], domain=range(4096), rho=0.1, budget=rho).noise_of
    assert found.sensitivity == pytest.approx(math.sqrt(l2))
    assert isinstance(found, Gaussian)


# What is read


ODD = [
    3,
    "3",
    b"3",
    Decimal(3),
    np.float32(3),
    " 3 ",
    None,
    math.nan,
    math.inf,
    -math.inf,
    10**400,
    3.5,
    -1,
    5,
    "three",
    "",
    object(),
    [3],
    3 + 0j,
    "9" * 5000,
]


@pytest.mark.usefixtures("exact")
def test_each_value_is_read_by_itself():
    """What a value counts for does not change with whatever else is there."""
    alone = [ranges([one], domain=range(5), epsilon=1).value for one in ODD]
    together = ranges(ODD, domain=range(5), epsilon=1).value
    assert together == pytest.approx(np.sum(alone, axis=0))
    assert together.round(6).tolist() == [0, 0, 0, 6, 0]


@pytest.mark.parametrize("values", [[], ["x"], [None, None], np.empty(0), [math.nan]])
@pytest.mark.usefixtures("exact")
def test_nothing_is_counted_as_nothing(values):
    budget = Budget(epsilon=1)
    found = ranges(values, edges=[0, 1, 2], epsilon=0.5, budget=budget)
    assert found.value.tolist() == [0, 0]
    assert budget.spent > 0.4


@pytest.mark.usefixtures("exact")
def test_edges_belong_to_the_bin_above_and_the_last_to_the_last():
    found = ranges([0, 18, 64.9, 65, 110, 110.1], edges=[0, 18, 65, 110], epsilon=1)
    assert found.value.tolist() == [1, 2, 2]
    assert found.keys == ("[0, 18)", "[18, 65)", "[65, 110]")
    assert found.range(0, 65).value == pytest.approx(3)
    assert found.range(18, 110).value == pytest.approx(4)


@pytest.mark.usefixtures("exact")
def test_a_domain_ends_before_its_end():
    found = ranges(np.array([4, 5, 6, 7]), domain=range(5, 7), epsilon=1)
    assert found.value.tolist() == [1, 1]
    assert found.keys == (5, 6)
    assert found.range(5, 7).value == pytest.approx(2)


@pytest.mark.usefixtures("exact")
def test_a_dataset_pays_and_caps_rows(tmp_path):
    lines = ["who,age"] + [f"{who},{age}" for who in "abcd" for age in (3, 3, 9, 200)]
    (tmp_path / "ages.csv").write_text("\n".join(lines))
    with dither.open(
        tmp_path / "ages.csv",
        unit="who",
        bounds={"age": (0, 9)},
        rows=4,
        budget=5.0,
        ledger=tmp_path / "book.db",
    ) as ages:
        asked = {"column": "age", "domain": range(10), "epsilon": 0.5}
        all_rows = ranges(ages, **asked)
        two = ranges(ages, **asked, rows=2)
    assert all_rows.value.round(6).tolist() == [0, 0, 0, 8, 0, 0, 0, 0, 0, 8]
    assert two.value.sum() == pytest.approx(8)
    assert all_rows.receipt is not None
    assert any("at most 4 values" in one for one in all_rows.notes)
    assert any("bounds" in one for one in all_rows.notes)


# Questions that are refused, before anything is charged


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"edges": [0, 1], "domain": range(3)},
        {"edges": [1]},
        {"edges": [1, 1]},
        {"edges": [2, 1]},
        {"edges": [0, math.nan]},
        {"edges": [0, math.inf]},
        {"edges": "01"},
        {"edges": ["0", "1"]},
        {"edges": {0: 1}},
        {"edges": 5},
        {"domain": range(0)},
        {"domain": range(0, 10, 2)},
        {"domain": 4096},
        {"domain": [0, 1]},
        {"domain": range(MOST + 1)},
        {"domain": range(2**60, 2**60 + 5)},
        {"domain": range(4), "branching": 1},
        {"domain": range(4), "branching": "16"},
        {"domain": range(4), "rows": 2},
        {"domain": range(4), "column": "age"},
        {"domain": range(4), "table": "people"},
        {"domain": range(4), "provenance": ""},
        {"domain": range(4), "error": 5},
    ],
)
def test_bad_questions_cost_nothing(asked):
    budget = Budget(epsilon=1)
    cost = {} if "error" in asked else {"epsilon": 0.5}
    with pytest.raises((ArgumentError, TypeError)):
        ranges([1, 2], **cost, budget=budget, **asked)
    assert budget.spent == 0


@pytest.mark.parametrize("values", ["123", 5, {"a": 1}, np.zeros((2, 2)), None])
def test_what_is_no_column_is_refused(values):
    with pytest.raises(ArgumentError, match="values"):
        ranges(values, domain=range(4), epsilon=1)


@pytest.mark.parametrize(
    ("low", "high"), [(3, 3), (4, 2), (-1, 3), (0, 11), (0.5, 3), ("a", 3), (0, None)]
)
def test_ranges_must_lie_in_the_domain(low, high):
    found = ranges([1], domain=range(10), epsilon=1)
    with pytest.raises(ArgumentError):
        found.range(low, high)


def test_a_spent_budget_answers_nothing():
    budget = Budget(epsilon=0.5)
    with pytest.raises(BudgetExceeded):
        ranges([1], domain=range(4), epsilon=1, budget=budget)


class Guarded(list):
    """A column that must not be read before it was paid for."""

    paid = False

    def __iter__(self):
        assert self.paid, "read before the charge"
        return super().__iter__()


def test_nothing_is_read_before_the_charge():
    values = Guarded([1, 2])
    with pytest.raises(BudgetExceeded):
        ranges(values, domain=range(4), epsilon=2, budget=Budget(epsilon=1))
    values.paid = True
    ranges(values, domain=range(4), epsilon=1, budget=Budget(epsilon=1))


# How far off it is


@chance(1e-9)
@pytest.mark.parametrize("cost", [{"epsilon": 1.0}, {"epsilon": 0.05}, {"rho": 0.02}])
@pytest.mark.parametrize("size", [1, 2, 3, 40])
def test_intervals_hold(cost, size):
    """200 trees each; coverage of single bins and of a range lies less than 7 standard
    errors below 95 % (bins of one tree share noise, so each tree counts once).
    """
    values = np.repeat(np.arange(size), 3)
    bins, wide = [], []
    for _ in range(200):
        found = ranges(values, domain=range(size), branching=4, **cost)
        low, high = found.interval(0.95)
        bins.append(((low <= 3) & (high >= 3)).mean())
        low, high = found.range(0, (size + 1) // 2).interval(0.95)
        wide.append(low <= 3 * ((size + 1) // 2) <= high)
    for held in (bins, wide):
        error = max(np.std(held), 0.05) / math.sqrt(200)
        assert np.mean(held) > 0.95 - 7 * error


def test_long_ranges_are_three_times_sharper_than_flat_ones():
    """By exact variances: 4096 bins, ε = 0.1, all ranges alike."""
    tree, flat = (Tree(4096, b, root=False) for b in (16, 4096))
    random = np.random.default_rng(1)
    ends = np.sort(random.integers(0, 4097, (200, 2)), axis=1)
    place = np.arange(4096)
    weights = (place >= ends[:, :1]) & (place < ends[:, 1:])
    noisy = [
        levels**2 * tree_.variance(weights).mean()
        for levels, tree_ in ((3, tree), (1, flat))
    ]
    assert math.sqrt(noisy[1] / noisy[0]) > 3


def test_measurements_are_whole_and_the_counts_fit_them():
    found = ranges(np.arange(300), domain=range(300), rho=0.5)
    assert [one.size for one in found.measurements] == list(found.tree.sizes)
    assert all(one.dtype == np.int64 for one in found.measurements)
    again = found.tree.fit(np.concatenate(found.measurements))
    assert again == pytest.approx(found.value)


def test_arithmetic_leaves_the_tree_behind():
    found = ranges([1, 2], domain=range(4), epsilon=1)
    assert type(found * 2) is dither.Release
    assert type(found[1]) is dither.Release


def test_each_value_in_memory_is_one_unit():
    homes = dither.Budget(3.0, unit=Unit("household"))
    found = ranges([1, 2], domain=range(4), epsilon=1.0, budget=homes)
    assert "each value is one household" in found.notes
    edges = dither.Budget(3.0, unit=Unit("edge"))
    with pytest.raises(dither.errors.UnitMismatch, match="people or households"):
        ranges([1, 2], domain=range(4), epsilon=1.0, budget=edges)
    assert edges.spent == 0
