"""Leaves: each value lies in one of them, between its printed edges, and the number
that is shown for a leaf lies in it.
"""

from itertools import pairwise

import duckdb
import numpy as np
import pytest

from dither.query.catalogue.calendar import DAY, LENGTHS
from dither.query.statistics.leaves import Leaves

RANDOM = np.random.default_rng(61)  # allowed: test inputs, not noise
TIMES = (DAY, *LENGTHS.values(), 1)
EXACT = [
    Leaves(0, 110, True),
    Leaves(-2000, 2095, True),
    Leaves(-2000, 2096, True),
    Leaves(7, 7, True),
    Leaves(2**60, 2**60 + 1000, True, 1 << 14),
    Leaves(100_000, 150_000, True),
    Leaves(-719_162, 2_932_896, True, units=(1,)),
    Leaves(18_262 * DAY, 20_088 * DAY, True, units=TIMES),
]
UNEVEN = [
    Leaves(0, 20_000, True),
    Leaves(0, 8192, True),
    Leaves(-5, 10**6, True),
    Leaves(-(10**6), 10**6, True),
    Leaves(-(10**6), -3, True),
    Leaves(0, 10**15, True),
    Leaves(0.0, 100.0, False),
    Leaves(0.0, 1e6, False, 1 << 14),
    Leaves(-1.0, 3.0, False),
    Leaves(-1e6, -1e-3, False),
    Leaves(1900.0, 2100.0, False),
    Leaves(1e9, 1e9 + 1e-3, False),
    Leaves(-8e307, 8e307, False),
    Leaves(3.0, 3.0, False),
    Leaves(0.0, 5e-324, False),
]


def name(leaves):
    return f"{leaves.low} to {leaves.high}{'' if leaves.integer else ' (reals)'}"


def values_of(leaves):
    """Values of all sizes, those at edges, and some that are out of bounds."""
    width = float(leaves.high) - float(leaves.low)
    sizes = np.exp(RANDOM.uniform(-14, 0, 1000)) * (width or 1.0)
    signs = RANDOM.choice([-1.0, 1.0], 1000)
    reals = [*(leaves.low + sizes), *(signs * sizes)]
    at = RANDOM.integers(0, leaves.count, 300).tolist()
    ends = [end for leaf in at for end in (leaves.start(leaf), leaves.end(leaf))]
    made = int if leaves.integer else float
    return [made(x) for x in (*reals, *ends, 0, leaves.low, leaves.high)]


@pytest.mark.parametrize("leaves", EXACT + UNEVEN, ids=name)
def test_values_lie_between_the_edges_of_their_leaf(leaves):
    assert leaves.tree.leaves == leaves.count <= leaves.most
    for x in values_of(leaves):
        inside, leaf = min(max(x, leaves.low), leaves.high), leaves.leaf(x)
        assert 0 <= leaf < leaves.count
        assert leaves.start(leaf) <= inside <= leaves.end(leaf)
    assert (leaves.leaf(leaves.low), leaves.start(0)) == (0, leaves.low)
    last = leaves.count - 1
    assert (leaves.leaf(leaves.high), leaves.end(last)) == (last, leaves.high)
    assert leaves.shares().sum() == pytest.approx(1)


@pytest.mark.parametrize("leaves", EXACT + UNEVEN, ids=name)
def test_leaves_follow_each_other_and_show_a_number_of_their_own(leaves):
    starts, ends, values = (
        [edge(leaf) for leaf in range(leaves.count)]
        for edge in (leaves.start, leaves.end, leaves.value)
    )
    for edges in (starts, ends, values):
        assert all(a <= b for a, b in pairwise(edges))
        assert isinstance(edges[0], int if leaves.integer else float)
    assert all(
        a <= x <= b or leaves.count == 1
        for a, x, b in zip(starts, values, ends, strict=True)
    )
    if not leaves.integer or leaves.high - leaves.low < 1 << 40:
        assert [leaves.leaf(x) for x in values] == list(range(leaves.count))
    if leaves.step is not None or (leaves.integer and leaves.high < 1 << 40):
        apart = {a - b for a, b in zip(starts[1:], ends[:-1], strict=True)}
        assert apart <= {1}


@pytest.mark.parametrize(
    ("leaves", "count", "step"),
    [
        (EXACT[0], 111, 1),
        (EXACT[1], 4096, 1),
        (EXACT[2], 2049, 2),
        (EXACT[3], 1, 1),
        (EXACT[4], 1001, 1),
        (EXACT[5], 3847, 13),
        (UNEVEN[0], 4095, None),
        (UNEVEN[6], 4096, None),
        (UNEVEN[13], 1, None),
    ],
    ids=str,
)
def test_few_integers_have_a_leaf_each(leaves, count, step):
    assert (leaves.count, leaves.step) == (count, step)


def test_wide_bounds_cost_little_accuracy():
    """Bounds that are a million times too wide leave the leaves of small numbers less
    than 1 % wide; reals would be 250 apart if leaves were equal.
    """
    for high in (1e2, 1e6):
        leaves = Leaves(0, high, False)
        for x in (high * 1e-5, high * 1e-3, high / 2):
            leaf = leaves.leaf(x)
            assert leaves.end(leaf) - leaves.start(leaf) < 0.01 * x
    small = Leaves(0, 10**6, True)
    assert [small.leaf(x) for x in range(12)] == list(range(12))


def test_what_is_shown_is_what_people_write():
    prices = Leaves(0, 1000, False)
    shown = [prices.value(prices.leaf(x)) for x in (0, 0.1, 5, 19.9, 100, 500, 1000)]
    assert shown == [0, 0.1, 5, 19.9, 100, 500, 1000]
    assert str(Leaves(0, 100, False).value(1500)).count("0") < 3
    whole = Leaves(0, 20_000, True)
    assert whole.value(whole.leaf(15_001)) == 15_000
    times = EXACT[-1]
    assert all(times.value(leaf) % LENGTHS["hour"] == 0 for leaf in range(1, 4000))
    both = Leaves(-3, 1e6, False)
    assert both.value(both.leaf(0)) == 0


@pytest.mark.parametrize("leaves", UNEVEN[-7:-1], ids=name)
def test_an_edge_that_arithmetic_may_miss_is_in_both_leaves(leaves):
    """Engines' logarithms may differ in the last bit."""
    for leaf in range(1, leaves.count, 97):
        assert leaves.start(leaf) < leaves.end(leaf - 1)
        x = (leaves.start(leaf) + leaves.end(leaf - 1)) / 2
        assert leaves.leaf(x) in (leaf - 1, leaf)


def test_the_median_of_a_sample_lies_in_the_leaf_that_the_engine_finds():
    """The shares of a leaf are the chances of a value that is drawn evenly."""
    leaves = Leaves(-3.0, 50.0, False)
    drawn = duckdb.sql(
        "SELECT (hash(range) / 18446744073709551616.0) * 53 - 3 AS x FROM range(100000)"
    ).fetchnumpy()["x"]
    found = np.bincount(leaves.sorted(drawn), minlength=leaves.count) / drawn.size
    assert np.abs(np.cumsum(found) - np.cumsum(leaves.shares())).max() < 0.01
