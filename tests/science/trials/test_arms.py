"""Laws of noisy counts, and the shares that they tell."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dither.mechanisms import Laplace
from dither.science.trials.arms import (
    LEFT_OUT,
    Known,
    Private,
    Share,
    Steps,
    added,
    noise_of,
)
from dither.science.trials.null import Law

MECHANISM = Laplace(sensitivity=1, epsilon=0.5)
LAW = Law.of(MECHANISM)


def test_a_known_arm_has_the_exact_law() -> None:
    arm = Known(7, 20, LAW)
    law = arm.law(0.3, 20)
    counts = np.arange(21)
    for y in (-8.0, -3.0, 0.0, 4.0):
        tails = LAW.survival(y + 6 - counts)
        wanted = float(tails @ stats.binom.pmf(counts, 20, 0.3))
        assert law.above(np.array(y)) == pytest.approx(wanted, abs=1e-9)
        tails = LAW.survival(counts - 6 - y)
        wanted = float(tails @ stats.binom.pmf(counts, 20, 0.3))
        assert law.below(np.array(y)) == pytest.approx(wanted, abs=1e-9)
    assert arm.moved(0.3) == pytest.approx(1)


@pytest.mark.parametrize("p", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("size", [1, 30, 3000])
def test_a_private_arm_has_the_law_of_a_simulation(p: float, size: int) -> None:
    source = np.random.default_rng(5)  # allowed: test inputs, not noise
    law = Private(0, 0, LAW).law(p, size)
    yes = source.binomial(size, p, 200_000)
    stop = 1 - np.exp(-1 / LAW.scale)
    noise = source.geometric(stop, (4, yes.size)) * np.array([[1], [-1], [1], [-1]])
    drawn = (1 - p) * (yes + noise[:2].sum(0)) - p * (size - yes + noise[2:].sum(0))
    for at in np.quantile(drawn, [0.02, 0.5, 0.98]):
        at_most, at_least = (drawn <= at + 1e-9).mean(), (drawn >= at - 1e-9).mean()
        assert at_most - 0.005 < law.below(np.array(at)) < at_most + 0.15
        assert at_least - 0.005 < law.above(np.array(at)) < at_least + 0.15
    assert law.values @ law.weights == pytest.approx(0, abs=0.02)
    variance = size * p * (1 - p) + (p**2 + (1 - p) ** 2) * LAW.variance
    assert law.values**2 @ law.weights == pytest.approx(variance, rel=2e-3)


def test_large_noise_is_held_in_few_parts() -> None:
    law = Law.of(Laplace(sensitivity=1, epsilon=1e-6))
    values, weights = noise_of(law)
    assert values.size < 60_000
    assert weights @ values**2 == pytest.approx(law.variance, rel=1e-3)
    arm = Private(10, 20, law)
    assert len(list(arm.sizes())) == 2
    assert arm.law(0.3, 30).weights.size < 50_000
    tail = float(Known(0, 50, law).law(0.3, 50).above(np.array(2e6)))
    assert tail == pytest.approx(float(law.survival(2e6)), rel=0.1)


def test_sums_of_whole_numbers_are_exact() -> None:
    die = np.arange(1.0, 7), np.full(6, 1 / 6)
    both = added([die, die], 1.0, 0.0)
    assert both.below(np.array([1.0, 2.0, 4.0, 12.0])) == pytest.approx(
        [0, 1 / 36, 6 / 36, 1], abs=1e-11
    )


def test_beyond_its_values_a_law_is_0_or_1() -> None:
    law = Steps(-1.0, 0.5, np.array([0.25, 0.5, 0.25]))
    far = np.array([-1e9, 1e9])
    assert law.below(far).tolist() == [0, 1]
    assert law.above(far).tolist() == [1, 0]


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 20.0])
def test_private_sizes_hold_the_true_one(epsilon: float) -> None:
    law = Law.of(Laplace(sensitivity=1, epsilon=epsilon))
    low, high = Private(500, 500, law).sizes()
    away = np.arange(0, high - 1000 + 1)
    noise = np.arange(-60 * int(law.scale + 1), 60 * int(law.scale + 1) + 1)
    inside = sum(
        float(law.pmf(noise) @ law.pmf(one - noise)) * (2 if one else 1)
        for one in away.tolist()
    )
    assert 1000 - low == high - 1000
    assert inside >= 1 - LEFT_OUT - 1e-9


def test_shares_lie_where_the_counts_do() -> None:
    assert Share(Known(5, 10, LAW), MECHANISM).ends(0.95) == (0.0, 1.0)
    low, high = Share(Known(500, 1000, LAW), MECHANISM).ends(0.95)
    width = MECHANISM.error(0.95, integer=True)
    assert (low, high) == pytest.approx((0.5 - width / 1000, 0.5 + width / 1000))
    width = MECHANISM.error(0.975, integer=True)
    low, high = Share(Private(500, 300, LAW), MECHANISM).ends(0.95)
    assert low == pytest.approx((500 - width) / 800)
    assert high == pytest.approx((500 + width) / 800)
    assert Share(Private(-2, -5, LAW), MECHANISM).ends(0.95) == (0.0, 1.0)
