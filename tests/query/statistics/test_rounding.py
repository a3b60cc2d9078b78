"""What rounding may move: figures of values as they are, beside those of rounded ones."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from dither.mechanisms import Laplace
from dither.query.statistics.estimates import Moments, Sums
from dither.query.statistics.rounding import Apart, Moved, Turned, moved
from dither.query.statistics.totals import SIDES, Estimate

RANDOM = np.random.default_rng(7)  # allowed: test inputs, not noise
STEP = 0.1


@dataclass(frozen=True)
class Exactly:
    """An interval without noise."""

    value: float

    def ends(self, confidence):  # noqa: ARG002 - a spread's
        return self.value, self.value


def rounded(x):
    return np.floor(x / STEP + 0.5) * STEP


def lattices():
    """Columns that rounding moves most: two values at either side of half a step, or
    all at one side; and usual ones."""
    for tiny in (1e-12, 0.02, 0.0499):
        yield RANDOM.choice([0.05 - tiny, 0.05 + tiny], 40)
        yield RANDOM.choice([0.05 - tiny, 0.65 - tiny], 40)
        yield RANDOM.choice([0.05 - tiny, 0.65 + tiny, 3.0], 40)
    for scale in (0.01, 0.1, 1.0):
        yield RANDOM.normal(0.3, scale, 40)


def holds(spread, truth):
    low, high = spread.ends(0.95)
    return low - 1e-12 <= truth <= high + 1e-12


@pytest.mark.parametrize("x", list(lattices()))
def test_a_mean_and_a_variance_move_no_farther(x):
    by, seen = STEP / 2, rounded(x)
    assert holds(Moved(Exactly(seen.mean()), by), x.mean())
    assert holds(Apart(Exactly(seen.var()), by, math.inf), x.var())


@pytest.mark.parametrize("x", list(lattices()))
def test_a_correlation_turns_no_farther(x):
    for y in lattices():
        if x.var() < 1e-20 or y.var() < 1e-20:
            continue
        a, b = rounded(x), rounded(y)
        found = np.corrcoef(a, b)[0, 1] if a.var() > 1e-9 < b.var() else 0.0
        variances = Exactly(a.var()), Exactly(b.var())
        turned = Turned(Exactly(found), variances, (STEP / 2, STEP / 2))
        assert holds(turned, np.corrcoef(x, y)[0, 1])


def test_where_the_bounds_are_reached():
    """Two values that rounding moves apart by a whole step."""
    x = np.array([0.05 - 1e-9, 0.05 + 1e-9])
    low, high = Apart(Exactly(rounded(x).var()), STEP / 2, 1.0).ends(0.95)
    assert low == pytest.approx(0.0, abs=1e-12)
    assert high == pytest.approx(STEP**2)


def test_open_ends_stay_open():
    @dataclass(frozen=True)
    class Open:
        low: float
        high: float

        def ends(self, confidence):  # noqa: ARG002 - a spread's
            return self.low, self.high

    anywhere = Open(-math.inf, math.inf)
    assert Moved(anywhere, 1.0, (0.0, 5.0)).ends(0.9) == (-math.inf, math.inf)
    assert Apart(anywhere, 1.0, 4.0).ends(0.9) == (-math.inf, math.inf)
    assert Moved(Open(3.0, math.inf), 1.0).ends(0.9) == (2.0, math.inf)
    turned = Turned(anywhere, (Exactly(1.0), Exactly(1.0)), (0.1, 0.1))
    assert turned.ends(0.9) == (-math.inf, math.inf)


def test_what_is_not_rounded_is_left_alone():
    estimate = Estimate(3.0, Exactly(3.0), Exactly(3.0))
    assert moved(estimate, 0.0, SIDES[1]) is estimate
    wider = moved(estimate, 4.0, SIDES[1], SIDES[0])
    assert (wider.ends(0.9), wider.ends(0.9, noise=True)) == ((0.0, 7.0), (-1.0, 7.0))


FIGURES = {
    "mean": ((1,), Sums.mean, lambda x, _: x.mean()),
    "variance": ((2,), Sums.variance, lambda x, _: x.var()),
    "sample": ((2,), lambda s: s.variance(sample=True), lambda x, _: x.var(ddof=1)),
    "deviation": ((2,), Sums.deviation, lambda x, _: x.std()),
    "covariance": ((1, 1), Sums.covariance, lambda x, y: np.cov(x, y, ddof=0)[0, 1]),
    "correlation": ((2, 2), Sums.correlation, lambda x, y: np.corrcoef(x, y)[0, 1]),
}


@pytest.mark.parametrize(("degrees", "ask", "plainly"), FIGURES.values(), ids=FIGURES)
@pytest.mark.parametrize("bits", [None, 50])
def test_intervals_hold_figures_of_values_that_are_not_rounded(
    degrees, ask, plainly, bits
):
    """With hardly any noise, so that rounding is all that can move them."""
    moments = Moments.over(degrees, [(0.0, 100.0)] * len(degrees), bits=bits)
    step, rows = 100.0 / moments.steps[0], 60
    mechanism = Laplace(sensitivity=moments.total, epsilon=1e12)
    for part in (0.49, 0.51, 0.4999):
        x, y = (RANDOM.choice([part * step, (1 - part + 3) * step], rows) for _ in "xy")
        y = np.where(RANDOM.random(rows) < 0.5, x, y)
        each = [moments.parts(row[: len(degrees)]) for row in zip(x, y, strict=True)]
        sums = [sum(column) for column in zip(*each, strict=True)]
        low, high = ask(Sums(moments, sums, mechanism)).ends(0.95)
        truth = plainly(x, y)
        slack = 1e-9 * (high - low)
        assert low - slack <= truth <= high + slack


def test_integers_have_no_margin():
    moments = Moments.over((2, 2), [(0, 100), (0, 10**6)], [True, True], bits=56)
    assert moments.exact == (True, False)
    assert moments.rounding(0) == 0 < moments.rounding(1)
    assert Moments.over((1,), [(0, 2**45)], [True], bits=50).exact == (True,)
    assert Moments.over((1,), [(3.0, 3.0)]).rounding() == 0
