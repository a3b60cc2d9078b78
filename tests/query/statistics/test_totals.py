"""Counts and sums, with what clipping hid of them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dither.mechanisms import Gaussian, Laplace
from dither.query.statistics.estimates import Moments, figures
from dither.query.statistics.intervals import Hidden
from dither.query.statistics.totals import Total, Whole, tails
from tests.chance import chance

NOISES = [
    (Laplace(sensitivity=3, epsilon=1), Laplace(sensitivity=9, epsilon=1)),
    (Gaussian(sensitivity=3, mu=1), Gaussian(sensitivity=9, mu=1)),
]


@pytest.mark.parametrize(("kept", "hidden"), NOISES, ids=["Laplace", "Gaussian"])
@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("steps", [-500.0, -3.0, 50.0, 900.0])
def test_each_end_misses_as_often_as_it_may(kept, hidden, sign, steps):
    """The near end looks at what was kept, and beyond a certain size at both; the far
    one at both. Together they miss what the interval may.
    """
    total = Total(1000, kept, 1.0, sign, Hidden(steps, hidden.law))
    both, low, high = kept.law + hidden.law, *total.sides(0.99)
    if not sign:
        width = both.quantile(0.005)
        assert (low, high) == (1000 + steps - width, 1000 + steps + width)
        return
    split = tails(kept.law.deviation, hidden.law.deviation, 0.01)
    assert split.near + split.far + split.sure <= 0.01 * (1 + 1e-9)
    near, far = (1000 - low, high - 1000) if sign > 0 else (high - 1000, 1000 - low)
    surely = sign * steps - both.quantile(split.sure)
    assert near == -max(-kept.law.quantile(split.near), surely)
    assert far >= sign * steps + both.quantile(split.far)
    assert far >= both.quantile(split.far) / 2


def test_light_data_is_hardly_moved():
    """Noise alone adds three per cent to the squared error, however wide it is."""
    kept = Laplace(sensitivity=1, epsilon=1).law
    for scale in (3, 30, 1000):
        hidden = Laplace(sensitivity=scale, epsilon=1).law
        total = Total(0, NOISES[0][0], 1.0, 1, Hidden(0.0, hidden))
        total = replace(total, mechanism=Laplace(sensitivity=1, epsilon=1))
        least = (kept + hidden).quantile(
            tails(kept.deviation, hidden.deviation, 0.05).sure
        )
        steps = np.arange(math.ceil(least), math.ceil(least) + 60 * scale)
        odds = np.exp(-steps / scale) * np.tanh(0.5 / scale)
        added = float((odds * (steps - least) ** 2).sum())
        assert added <= 0.035 * kept.variance
        assert replace(total, hidden=Hidden(least, hidden)).shift == 0
        assert replace(total, hidden=Hidden(least + 7, hidden)).shift == 7


@chance(1e-8)
@pytest.mark.parametrize(("kept", "hidden"), NOISES, ids=["Laplace", "Gaussian"])
@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("lost", [0, 5, 60])
def test_totals_hold_with_hidden_rows(kept, hidden, sign, lost):
    """Each of 500 intervals misses with 1 % at most; 23 misses are p < 1e-8. The value
    lies inside.
    """
    missed, truth = 0, 1000 + (sign or -1) * lost
    noisy, cut = kept.release([1000] * 500), hidden.release([truth - 1000] * 500)
    for value, steps in zip(noisy, cut, strict=True):
        total = Total(int(value), kept, 1.0, sign, Hidden(float(steps), hidden.law))
        low, high = total.ends(0.99)
        missed += not low <= truth <= high
    assert missed < 23


@chance(1e-8)
@pytest.mark.parametrize(("kept", "hidden"), NOISES, ids=["Laplace", "Gaussian"])
@pytest.mark.parametrize("function", ["avg", "var_pop", "stddev_samp"])
def test_figures_hold_with_hidden_rows(kept, hidden, function):
    """Each of 500 intervals misses with 1 % at most; 23 misses are p < 1e-8. A row is
    many steps, as in private SQL; the hidden rows are all at the top.
    """
    moments = Moments.over((1 if function == "avg" else 2,), [(0.0, 1.0)])
    kept, hidden = (
        replace(one, sensitivity=one.sensitivity * moments.total)
        for one in (kept, hidden)
    )
    rows, lost = [0.0] * 600 + [0.5] * 400 + [1.0] * 1000, [1.0] * 200
    truth = {
        "avg": np.mean,
        "var_pop": np.var,
        "stddev_samp": lambda x: np.std(x, ddof=1),
    }
    expected, missed = float(truth[function](np.array(rows + lost))), 0
    parts, cut = (
        np.array([moments.parts([x]) for x in values]).sum(axis=0)
        for values in (rows, lost)
    )
    for _ in range(500):
        known = Hidden(law=hidden.law, parts=tuple(int(x) for x in hidden.release(cut)))
        (found,) = figures(function, moments, [kept.release(parts)], kept, [known])
        low, high = found.ends(0.99)
        missed += not low <= expected <= high
        assert low <= found.value <= high
    assert missed < 23


class Between:
    def __init__(self, low, high):
        self.found = low, high

    def ends(self, _confidence):
        return self.found


@pytest.mark.parametrize(
    ("ends", "whole"),
    [
        ((2.3, 6.8), (3, 6)),
        ((5.9998, 5.9999), (5, 6)),
        ((-math.inf, 1.5), (-math.inf, 1)),
    ],
)
def test_whole_ends_are_never_the_wrong_way_round(ends, whole):
    """The noise of an estimate that was moved may lie between two whole numbers."""
    assert Whole(Between(*ends)).ends(0.95) == whole
