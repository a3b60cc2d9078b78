"""The interval of a probability of superiority holds it at its rate."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy import stats

from dither.mechanisms import Gaussian, Laplace
from dither.science.trials.columns import Reals
from dither.science.trials.null import Law
from dither.science.trials.superiority import Pairs

LAWS = [Law.of(Laplace(sensitivity=1000, epsilon=e)) for e in (0.3, 3.0, 100.0)]
LAWS += [Law.of(Gaussian(sensitivity=1000, rho=r)) for r in (0.05, 5.0, 5000.0)]


def missed(law: Law, doubled: Reals, chances: Reals, truth: float) -> float:
    """How often the interval of five people against 500 misses, exactly: by the noise
    on each side of the noisy numbers whose intervals hold the truth.
    """

    def ends(noisy: float) -> tuple[float, float]:
        return Pairs(noisy, 5, 1000, law).ends(0.95)

    far = 40 * law.scale + 6000
    low = edge(lambda t: ends(t)[1] >= truth - 1e-9, -far, far)
    high = edge(lambda t: ends(t)[0] > truth + 1e-9, -far, far)
    below = 1 - law.with_pmf(doubled, chances, low)
    return below + law.with_pmf(doubled, chances, high)


def edge(holds: Callable[[float], bool], low: float, high: float) -> float:
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return float(np.round(high))


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize(
    ("win", "tie"), [(0.99, 0.0), (0.99, 0.01), (0.9, 0.1), (0.5, 0.0), (0.5, 0.1)]
)
def test_outcomes_against_a_constant(law: Law, win: float, tie: float) -> None:
    """Those that only win or lose are binomial, and spread most."""
    lose = max(0.0, 1 - win - tie)
    counts = [c for c in product(range(6), repeat=3) if sum(c) == 5]
    chances = stats.multinomial.pmf(counts, 5, [win, tie, lose])
    doubled = np.array([1000.0 * w + 500 * t for w, t, _ in counts])
    assert missed(law, doubled, chances, win + tie / 2) <= 0.0505


def test_ends_come_with_confidence() -> None:
    pairs = Pairs(700.0, 10, 100, LAWS[1])
    assert pairs.ends(0.5)[0] > pairs.ends(0.99)[0]
    assert pairs.ends(0.5)[1] < pairs.ends(0.99)[1]
    assert Pairs(-1e9, 10, 100, LAWS[1]).ends(0.95) == (0.0, 0.0)
    assert Pairs(1e9, 10, 100, LAWS[1]).ends(0.95) == (1.0, 1.0)
