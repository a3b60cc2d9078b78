"""Rows as parts: never negative, always the same total, exact for integers. Statistics of
their noisy sums: exact without noise, sensible where noise drowns them, covered by
their intervals.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither.mechanisms import Gaussian, Laplace
from dither.query.statistics.estimates import Moments, Sums
from dither.query.statistics.intervals import NOTHING
from dither.query.statistics.totals import totals
from tests.chance import at_least, at_most, chance

RANDOM = np.random.default_rng(5)  # allowed: test inputs, not noise
BOUNDS = (0.0, 100.0)


def data(rows):
    x = np.clip(RANDOM.normal(40, 15, rows), *BOUNDS)
    return np.stack([x, np.clip(x / 2 + RANDOM.normal(30, 12, rows), *BOUNDS)], axis=1)


ROWS = data(2000)


def part_sums(moments, rows):
    each = [moments.parts(row[: len(moments.degrees)].tolist()) for row in rows]
    return [sum(column) for column in zip(*each, strict=True)]


def laplace(moments, epsilon=1.0):
    return Laplace(sensitivity=moments.total, epsilon=epsilon)


def gaussian(moments, epsilon=1.0):
    return Gaussian(sensitivity=moments.total, epsilon=epsilon, delta=1e-6)


STATISTICS = {
    "count": ((1,), Sums.count, len),
    "total": ((1,), Sums.total, lambda x: x[:, 0].sum()),
    "mean": ((1,), Sums.mean, lambda x: x[:, 0].mean()),
    "mean of a variance's parts": ((2,), Sums.mean, lambda x: x[:, 0].mean()),
    "variance": ((2,), Sums.variance, lambda x: x[:, 0].var()),
    "sample variance": (
        (2,),
        lambda s: s.variance(sample=True),
        lambda x: x[:, 0].var(ddof=1),
    ),
    "deviation": (
        (2,),
        lambda s: s.deviation(sample=True),
        lambda x: x[:, 0].std(ddof=1),
    ),
    "covariance": ((1, 1), Sums.covariance, lambda x: np.cov(x.T, ddof=0)[0, 1]),
    "sample covariance": (
        (1, 1),
        lambda s: s.covariance(sample=True),
        lambda x: np.cov(x.T)[0, 1],
    ),
    "correlation": ((2, 2), Sums.correlation, lambda x: np.corrcoef(x.T)[0, 1]),
    "mean of the second": ((2, 2), lambda s: s.mean(of=1), lambda x: x[:, 1].mean()),
    "variance of the second": (
        (2, 2),
        lambda s: s.variance(of=1),
        lambda x: x[:, 1].var(),
    ),
    "covariance of a correlation's parts": (
        (2, 2),
        Sums.covariance,
        lambda x: np.cov(x.T, ddof=0)[0, 1],
    ),
}


@pytest.mark.parametrize(
    ("degrees", "ask", "plainly"), STATISTICS.values(), ids=STATISTICS
)
def test_without_noise_the_answer_is_the_plain_one(degrees, ask, plainly):
    """Integers between their limits: to the last bits."""
    rows = RANDOM.integers(-3, 98, (300, 2))
    moments = Moments.over(degrees, [(-3, 97)] * len(degrees), [True] * len(degrees))
    assert ask(
        Sums(moments, part_sums(moments, rows), laplace(moments))
    ).value == pytest.approx(plainly(rows), rel=1e-12)


@pytest.mark.parametrize(
    ("degrees", "ask", "plainly"), STATISTICS.values(), ids=STATISTICS
)
def test_reals_are_rounded_a_little(degrees, ask, plainly):
    moments = Moments.over(degrees, [BOUNDS] * len(degrees))
    found = ask(Sums(moments, part_sums(moments, ROWS), laplace(moments))).value
    assert found == pytest.approx(plainly(ROWS), rel=1e-3)


def coverage(degrees, ask, mechanism_of, draws, confidence=0.95, rows=ROWS):
    """How often the figure of rounded values is held, by intervals for the noise alone."""
    moments = Moments.over(degrees, [BOUNDS] * len(degrees))
    moments = replace(moments, exact=(True,) * len(degrees))
    exact, mechanism = np.array(part_sums(moments, rows)), mechanism_of(moments)
    truth = ask(Sums(moments, exact.tolist(), mechanism)).value
    noisy = mechanism.release(np.tile(exact, (draws, 1)))
    ends = np.array(
        [
            ask(Sums(moments, sums.tolist(), mechanism)).ends(confidence)
            for sums in noisy
        ]
    )
    return np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))


IN_TURN = [
    pytest.param(name, of, marks=[] if (place + turn) % 2 else [pytest.mark.full])
    for place, name in enumerate(STATISTICS)
    for turn, of in enumerate([laplace, gaussian])
]
"""One mechanism and the other in turn; those between wait for the full run."""


def fits(share, draws, confidence=0.95):
    """Whether so large a share holds the truth, but for chance and for 0.004 that
    linearizing may cost.
    """
    least = at_least(draws, confidence - 0.004, 1e-9)
    return least <= round(share * draws) <= at_most(draws, confidence + 0.004, 1e-9)


@chance(2e-9)
@pytest.mark.parametrize(("name", "mechanism_of"), IN_TURN)
def test_intervals_cover_what_they_say(name, mechanism_of):
    degrees, ask, _ = STATISTICS[name]
    assert fits(coverage(degrees, ask, mechanism_of, 1500), 1500)


@chance(2e-9)
@pytest.mark.full
@pytest.mark.parametrize("mechanism_of", [laplace, gaussian])
@pytest.mark.parametrize(
    "name", ["count", "total", "mean", "variance", "covariance", "correlation"]
)
def test_intervals_cover_what_they_say_closely(name, mechanism_of):
    degrees, ask, _ = STATISTICS[name]
    assert fits(coverage(degrees, ask, mechanism_of, 12_000), 12_000)


@chance(4e-9)
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.99])
def test_other_confidences(confidence):
    for mechanism_of in (laplace, gaussian):
        found = coverage((1,), Sums.mean, mechanism_of, 1500, confidence)
        assert fits(found, 1500, confidence)


@chance(1e-8)
def test_small_groups_are_covered_too():
    """The mean's interval is exact for any count; the others may only be wider."""
    few = ROWS[:40]
    for mechanism_of in (laplace, gaussian):
        assert fits(coverage((1,), Sums.mean, mechanism_of, 1500, rows=few), 1500)
        for name in ("variance", "covariance", "correlation"):
            degrees, ask, _ = STATISTICS[name]
            found = coverage(degrees, ask, mechanism_of, 500, rows=few)
            assert found * 500 >= at_least(500, 0.95, 1e-9)


@pytest.mark.parametrize("sign", [-1, 0])
@pytest.mark.parametrize(
    ("degrees", "ask", "value", "ends"),
    [
        ((1,), Sums.mean, 30.0, (10.0, 50.0)),
        ((2,), Sums.variance, 0.0, (0.0, 400.0)),
        ((2,), Sums.deviation, 0.0, (0.0, 20.0)),
        ((1, 1), Sums.covariance, 0.0, (-400.0, 400.0)),
        ((2, 2), Sums.correlation, 0.0, (-1.0, 1.0)),
    ],
)
def test_where_noise_drowned_everything(degrees, ask, value, ends, sign):
    moments = Moments.over(degrees, [(10.0, 50.0)] * len(degrees))
    estimate = ask(
        Sums(moments, [sign * moments.total] * len(moments.places), laplace(moments))
    )
    assert estimate.value == value
    assert estimate.ends(0.95) == pytest.approx(ends)


@pytest.mark.parametrize("mechanism_of", [laplace, gaussian])
def test_noise_of_any_kind_stays_within_what_is_possible(mechanism_of):
    for degrees, ask, low, high in [
        ((1,), Sums.mean, 0, 100),
        ((2,), lambda s: s.variance(sample=True), 0, 5000),
        ((1, 1), Sums.covariance, -2500, 2500),
        ((2, 2), Sums.correlation, -1, 1),
    ]:
        moments = Moments.over(degrees, [BOUNDS] * len(degrees))
        mechanism = mechanism_of(moments, 0.3)
        for sums in mechanism.release(
            np.tile(part_sums(moments, ROWS[:8]), (300, 1))
        ).tolist():
            estimate = ask(Sums(moments, sums, mechanism))
            for confidence in (0.05, 0.95):
                least, most = estimate.ends(confidence)
                assert low - 1e-9 <= least <= estimate.value <= most <= high + 1e-9


def test_impossibly_far_outside_is_taken_as_the_limit():
    """A count of ones at −50 standard deviations explains no mean; the interval is that
    of a mean of 0.
    """
    moments = Moments.over((1,), [BOUNDS])
    mechanism = gaussian(moments)
    far, limit = (
        Sums(moments, [1000 * moments.total, ones], mechanism).mean()
        for ones in (-300 * moments.total, 0)
    )
    assert far.value == 0
    assert far.ends(0.95)[0] == 0
    assert 0 < far.ends(0.95)[1] == pytest.approx(limit.ends(0.95)[1], rel=0.5)


def test_sums_beyond_64_bits():
    moments = Moments.over((2,), [BOUNDS])
    sums = [part * 2**50 for part in part_sums(moments, ROWS[:200])]
    assert Sums(moments, sums, laplace(moments)).variance().value == pytest.approx(
        ROWS[:200, 0].var(), rel=1e-3
    )


def test_plain_counts_and_sums():
    mechanism = Laplace(sensitivity=4, epsilon=1)
    count = totals([500], mechanism, 1, 1, [NOTHING])[0]
    assert count.value == 500
    width = mechanism.error(0.95, integer=True)
    assert count.ends(0.95) == (500 - width, 500 + width)
    half = totals([500], mechanism, 0.5, 1, [NOTHING])[0]
    assert half.value == 250
    assert half.ends(0.95) == (250 - width / 2, 250 + width / 2)


SHAPES = [(1,), (2,), (1, 1), (2, 2), (2, 1)]


def shape(degrees, steps=7):
    return Moments(degrees, ((0.0, 1.0),) * len(degrees), (steps,) * len(degrees))


VALUES = st.floats(0, 1) | st.floats(allow_nan=False)


@given(st.sampled_from(SHAPES), st.lists(VALUES, min_size=2, max_size=2))
def test_parts_are_never_negative_and_add_up(degrees, row):
    """So one row moves the sums by `total` in L1, whatever it holds."""
    moments = shape(degrees)
    parts = moments.parts(row[: len(degrees)])
    assert min(parts) >= 0
    assert sum(parts) == moments.total == 7 ** sum(degrees)
    assert len(parts) == len(moments.places) == math.prod(d + 1 for d in degrees)


def test_the_last_index_runs_fastest():
    moments = shape((2, 1))
    assert moments.places == ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1))
    assert moments.parts([1.0, 0.0]) == [0, 0, 0, 0, 343, 0]


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (0, 110), (-5, 1000), (3, 3), (0, 2**40)]
)
@pytest.mark.parametrize("degrees", [(1,), (2,)])
def test_integers_are_not_rounded(low, high, degrees):
    moments = Moments.over(degrees, [(low, high)], [True])
    (steps,), width = moments.steps, high - low
    assert 0 < steps <= 1 << (30 if degrees == (1,) else 15)
    if 0 < width <= 1000:
        assert steps % width == 0
        assert all(
            moments.place(x) == (x - low) * (steps // width)
            for x in range(low, high + 1)
        )
    assert moments.place(low - 10) == 0
    assert moments.place(high + 10) == (steps if width else 0)


def test_the_usual_steps_stay_below_forty_bits():
    for degrees in [(1,), (2,), (1, 1), (2, 2)]:
        assert Moments.over(degrees, [(0.0, 5.0)] * len(degrees)).total <= 1 << 40


def test_an_even_spread_for_previews():
    moments = Moments.over((2,), [(0.0, 1.0)])
    rows = [moments.parts([x / 1000]) for x in range(1001)]
    even = [sum(column) for column in zip(*rows, strict=True)]
    assert even == pytest.approx(moments.expected(1001), rel=0.01)
