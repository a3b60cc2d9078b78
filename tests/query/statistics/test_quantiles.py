"""Quantiles of fitted leaf counts: DuckDB's answers without noise, covered by their
intervals with it.
"""

import math
from fractions import Fraction
from itertools import chain, combinations_with_replacement

import duckdb
import numpy as np
import pytest

import dither
from dither.mechanisms import TreeMechanism
from dither.query.statistics.leaves import Leaves
from dither.query.statistics.quantiles import cdf, extreme, quantile, rank
from tests.chance import at_least, at_most, chance

RANDOM = np.random.default_rng(6)  # allowed: test inputs, not noise
LEVELS = [0.01, 0.1, 0.25, 0.29, 0.5, 0.7, 0.75, 0.9, 0.99]


def counted(leaves, values, row=1):
    return row * np.bincount([leaves.leaf(x) for x in values], minlength=leaves.count)


def tree_of(leaves, **promise):
    return TreeMechanism(tree=leaves.tree, radius=1, **promise or {"epsilon": 1.0})


@pytest.mark.parametrize("rows", [1, 2, 7, 10, 100, 1001])
@pytest.mark.parametrize("row", [1, 4096])
def test_without_noise_it_is_quantile_disc(rows, row):
    leaves = Leaves(0, 50, True)
    values = RANDOM.integers(0, 51, rows)
    tree, mechanism = leaves.tree, tree_of(leaves)
    counts = tree.fit(tree.sums(counted(leaves, values, row)))
    for level in LEVELS:
        ((expected,),) = (
            duckdb.connect()
            .execute(
                f"SELECT quantile_disc(x, {level}) FROM (SELECT unnest(?::INTEGER[]) AS x)",
                [values.tolist()],
            )
            .fetchall()
        )
        assert quantile(counts, level, leaves, mechanism, row).value == expected


@pytest.mark.parametrize("row", [1, 4096])
def test_without_noise_the_ends_are_both_plain_quantiles(row):
    """The first value up to which the share lies, and those between which engines
    interpolate: the ends are exactly the outermost of them. All small data are tried.
    """
    leaves = Leaves(0, 3, True)
    sharp = TreeMechanism(tree=leaves.tree, radius=1, epsilon=1e6)
    for values in chain.from_iterable(
        combinations_with_replacement(range(4), rows) for rows in range(1, 6)
    ):
        counts = counted(leaves, values, row).astype(float)
        for level in (0.01, 0.25, 0.29, 0.5, 0.9):
            place = (len(values) - 1) * Fraction(repr(level))
            first = values[max(0, math.ceil(len(values) * Fraction(repr(level))) - 1)]
            around = values[math.floor(place)], values[math.ceil(place)]
            found = quantile(counts, level, leaves, sharp, row)
            assert found.ends(0.95) == (min(first, *around), max(first, *around))
            assert found.value == first


def test_an_interval_ends_on_edges_of_leaves():
    """A median between two points of a coarse grid is not one of them."""
    leaves = Leaves(0, 1e6, False)
    counts = counted(leaves, [10.57626] * 20_000).astype(float)
    low, high = quantile(counts, 0.5, leaves, tree_of(leaves)).ends(0.95)
    assert low < 10.57626 < high < low + 0.1


def test_extremes_without_noise():
    """Exact where the noise is far below a row; else the value at or beyond which
    `rank` rows lie.
    """
    leaves = Leaves(0, 2000, True)
    values = np.arange(100, 1501)
    sharp = TreeMechanism(tree=leaves.tree, radius=1, epsilon=1e4)
    exact = counted(leaves, values).astype(float)
    assert rank(sharp) == 0.5
    assert quantile(exact, 0, leaves, sharp).value == 100
    assert quantile(exact, 1, leaves, sharp).value == 1500
    noisy = tree_of(leaves)
    assert 10 < (needed := rank(noisy)) < 60
    assert extreme(exact, leaves, noisy).value == 99 + math.ceil(needed)
    assert extreme(exact, leaves, noisy, largest=True).value == 1501 - math.ceil(
        rank(noisy, largest=True)
    )


def test_an_extreme_that_noise_hides_has_no_value():
    """Up to ten times as many rows as the noise hides; the interval still holds."""
    leaves = Leaves(0, 2000, True)
    mechanism = tree_of(leaves)
    hidden = math.ceil(rank(mechanism))
    for rows, told in (
        (0, False),
        (1, False),
        (9 * hidden, False),
        (11 * hidden, True),
    ):
        counts = counted(leaves, np.arange(rows) % 1500 + 200).astype(float)
        for largest in (False, True):
            found = extreme(counts, leaves, mechanism, largest=largest)
            assert (found.value is not None) == told
            low, high = found.ends(0.95)
            least, most = (200, min(rows, 1500) + 199) if rows else (0, 2000)
            assert low <= (most if largest else least) <= high
            assert (high == 2000) if largest else (low == 0)


@chance(1e-9)
def test_a_minimum_never_exceeds_the_maximum():
    """Where both are shown; they are for few rows, or for many."""
    leaves = Leaves(0, 20_000, True)
    for epsilon, rows in ((0.5, 900), (1.0, 200), (1.0, 500), (30.0, 1), (30.0, 20)):
        mechanism = tree_of(leaves, epsilon=epsilon)
        exact = counted(leaves, RANDOM.integers(0, 20_001, rows))
        shown = 0
        for counts in mechanism.release(np.tile(exact, (40, 1))):
            low, high = (
                extreme(counts, leaves, mechanism, largest=largest).value
                for largest in (False, True)
            )
            if low is not None and high is not None:
                shown += 1
                assert low <= high
        assert shown <= 0.5 * 40 or rows not in (1, 200)


@chance(1e-8)
@pytest.mark.parametrize(
    "promise", [{"epsilon": 1.0}, {"mu": 0.25}], ids=["Laplace", "Gaussian"]
)
@pytest.mark.parametrize(
    ("leaves", "values"),
    [
        (Leaves(0.0, 1e4, False), RANDOM.normal(40, 10, 2000)),
        (Leaves(0, 110, True), RANDOM.normal(40, 15, 2000).round()),
        (Leaves(0, 4, True), RANDOM.integers(0, 5, 300)),
    ],
    ids=["wide", "ages", "marks"],
)
def test_intervals_cover_at_least_what_they_say(leaves, values, promise):
    """The plain answers about the values themselves, of either definition. Counts jump
    at the quantile, so more than 95 % is right.
    """
    mechanism, exact = tree_of(leaves, **promise), counted(leaves, values)
    fits = mechanism.release(np.tile(exact, (800, 1)))
    clamped = np.clip(values, leaves.low, leaves.high)
    for level in (0, 0.1, 0.5, 0.9, 1):
        truths = [
            np.quantile(clamped, level, method=method)
            for method in ("linear", "inverted_cdf")
        ]
        found = [quantile(counts, level, leaves, mechanism) for counts in fits]
        ends = np.array([estimate.ends(0.95) for estimate in found])
        held = (ends[:, 0] <= min(truths)) & (max(truths) <= ends[:, 1])
        assert np.sum(held) >= at_least(800, 0.95, 1e-9)
        assert all(
            estimate.value is None or low <= estimate.value <= high
            for estimate, (low, high) in zip(found, ends, strict=True)
        )
    x = float(np.median(values))
    truth = np.mean(clamped <= x)
    ends = np.array([cdf(counts, x, leaves, mechanism).ends(0.95) for counts in fits])
    held = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    assert np.sum(held) >= at_least(800, 0.945, 1e-9)
    if leaves.integer:  # a leaf each; counts are whole, so the share is not exact
        assert np.sum(held) <= at_most(800, 0.955, 1e-9)


def test_a_share_holds_what_its_leaf_cannot_tell():
    """Half of the values lie below x in its own leaf."""
    leaves = Leaves(0, 1e6, False)
    sharp = TreeMechanism(tree=leaves.tree, radius=1, epsilon=1e5)
    leaf = leaves.leaf(5000.0)
    first, last = leaves.start(leaf), leaves.end(leaf)
    values = np.linspace(first + 1e-3, last - 1e-3, 1001)
    exact = counted(leaves, values).astype(float)
    low, high = cdf(exact, float(values[500]), leaves, sharp).ends(0.95)
    assert low <= 501 / 1001 <= high
    for x, known in ((-1, 0.0), (1e6, 1.0), (2e6, 1.0)):
        assert cdf(exact, x, leaves, sharp).ends(0.95) == (known, known)


def test_intervals_are_not_far_too_wide():
    """Ranks within twice the median's own error."""
    leaves = Leaves(0.0, 100.0, False)
    values = np.sort(RANDOM.uniform(0, 100, 20_000))
    mechanism = tree_of(leaves, mu=0.25)
    low, high = quantile(
        mechanism.release(counted(leaves, values)), 0.5, leaves, mechanism
    ).ends(0.95)
    ranks = np.searchsorted(values, high) - np.searchsorted(values, low)
    assert ranks <= 4 * mechanism.error(0.95, share=0.5) + 20


def test_where_nothing_was_counted():
    leaves = Leaves(0, 10, True)
    mechanism = tree_of(leaves)
    for counts in (np.zeros(11), np.full(11, -3.0)):
        assert quantile(counts, 0.5, leaves, mechanism).value == 5
        assert quantile(counts, 0.5, leaves, mechanism).ends(0.95) == (0, 10)
        assert cdf(counts, 3, leaves, mechanism).value == 0.5
        assert cdf(counts, 3, leaves, mechanism).ends(0.95) == (0.0, 1.0)
    few = mechanism.release(np.zeros(11, np.int64) + 1)
    low, high = quantile(few, 0.5, leaves, mechanism).ends(0.95)
    assert 0 <= low <= high <= 10


def test_one_leaf_and_bad_levels():
    leaves = Leaves(3, 3, True)
    mechanism = tree_of(leaves)
    assert quantile(np.array([10.0]), 0.5, leaves, mechanism).value == 3
    assert extreme(np.array([100.0]), leaves, mechanism, largest=True).ends(0.95) == (
        3,
        3,
    )
    for level in (-0.1, 1.5, math.nan):
        with pytest.raises(dither.ArgumentError, match="level"):
            quantile(np.array([10.0]), level, leaves, mechanism)
