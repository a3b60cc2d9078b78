"""Quantiles of fitted leaf counts: DuckDB's answers without noise, covered by their
intervals with it.
"""

import math

import duckdb
import numpy as np
import pytest

import dither
from dither.mechanisms import TreeMechanism
from dither.query.statistics.quantiles import Leaves, cdf, extreme, quantile, rank

RANDOM = np.random.default_rng(6)  # allowed: test inputs, not noise
LEVELS = [0.01, 0.1, 0.25, 0.29, 0.5, 0.7, 0.75, 0.9, 0.99]


def counted(leaves, values, row=1):
    return row * np.bincount([leaves.leaf(x) for x in values], minlength=leaves.count)


def tree_of(leaves, **promise):
    return TreeMechanism(tree=leaves.tree, radius=1, **promise or {"epsilon": 1.0})


@pytest.mark.parametrize(
    ("leaves", "count", "step"),
    [
        (Leaves(0, 110, True), 111, 1),
        (Leaves(-2000, 2095, True), 4096, 1),
        (Leaves(-2000, 2096, True), 2049, 2),
        (Leaves(0, 10**15, True), 4096, 244200244201),
        (Leaves(7, 7, True), 1, 1),
        (Leaves(0.0, 500.0, False), 4001, 0.125),
        (Leaves(3.0, 3.0, False), 1, 1.0),
        (Leaves(-8e307, 8e307, False), 4001, 4e304),
    ],
)
def test_leaves_are_public_points(leaves, count, step):
    assert (leaves.count, leaves.step) == (count, pytest.approx(step))
    assert leaves.tree.leaves == count <= 4096
    assert leaves.leaf(leaves.low) == 0
    assert leaves.leaf(leaves.high) == count - 1
    assert leaves.value(0) == leaves.low
    assert leaves.value(count - 1) == pytest.approx(leaves.high, rel=1e-3)
    assert leaves.low <= leaves.value(count - 1) <= leaves.high
    for leaf in {0, count // 3, count - 1}:
        assert leaves.leaf(leaves.value(leaf)) == leaf
    assert isinstance(leaves.value(0), int if leaves.integer else float)


@pytest.mark.parametrize(
    "leaves", [Leaves(0, 110, True), Leaves(-5, 10**6, True), Leaves(-1.0, 3.0, False)]
)
def test_every_value_counts_at_the_nearest_point(leaves):
    for x in RANDOM.uniform(leaves.low - 3, leaves.high + 3, 500):
        value = int(x) if leaves.integer else float(x)
        inside = min(max(value, leaves.low), leaves.high)
        assert abs(leaves.value(leaves.leaf(value)) - inside) <= leaves.step / 2 * (
            1 + 1e-9
        )


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


def test_extremes_without_noise():
    """Exact where the noise is far below a row; else the value at or beyond which
    `rank` rows lie.
    """
    leaves = Leaves(0, 200, True)
    values = np.arange(10, 151)
    sharp = TreeMechanism(tree=leaves.tree, radius=1, epsilon=1e4)
    exact = counted(leaves, values).astype(float)
    assert rank(sharp) == 0.5
    assert quantile(exact, 0, leaves, sharp).value == 10
    assert quantile(exact, 1, leaves, sharp).value == 150
    noisy = tree_of(leaves)
    assert 10 < (needed := rank(noisy)) < 40
    assert extreme(exact, leaves, noisy).value == 9 + math.ceil(needed)
    assert extreme(exact, leaves, noisy, largest=True).value == 151 - math.ceil(
        rank(noisy, largest=True)
    )


@pytest.mark.parametrize(
    "promise", [{"epsilon": 1.0}, {"mu": 0.25}], ids=["Laplace", "Gaussian"]
)
@pytest.mark.parametrize(
    ("leaves", "values"),
    [
        (Leaves(0.0, 100.0, False), RANDOM.normal(40, 10, 2000)),
        (Leaves(0, 110, True), RANDOM.normal(40, 15, 2000).round()),
        (Leaves(0, 4, True), RANDOM.integers(0, 5, 300)),
    ],
    ids=["fine", "ages", "marks"],
)
def test_intervals_cover_at_least_what_they_say(leaves, values, promise):
    """Counts jump at the quantile, so more than 95 % is right; 800 draws, below by 5
    standard deviations at most.
    """
    mechanism, exact = tree_of(leaves, **promise), counted(leaves, values)
    fits = mechanism.release(np.tile(exact, (800, 1)))
    for level in (0, 0.1, 0.5, 0.9, 1):
        truth = quantile(exact.astype(float), level, leaves, mechanism).value
        found = [quantile(counts, level, leaves, mechanism) for counts in fits]
        ends = np.array([estimate.ends(0.95) for estimate in found])
        assert np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])) > 0.91
        assert all(
            low <= estimate.value <= high
            for estimate, (low, high) in zip(found, ends, strict=True)
        )
    x = float(np.median(values))
    truth = cdf(exact.astype(float), x, leaves, mechanism).value
    assert truth == np.mean([leaves.leaf(v) <= leaves.leaf(x) for v in values])
    ends = np.array([cdf(counts, x, leaves, mechanism).ends(0.95) for counts in fits])
    assert np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])) == pytest.approx(
        0.95, abs=0.045
    )


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
