"""Evidence about a proportion: p-values hold their level, and intervals their rate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dither.mechanisms import Gaussian, Laplace
from dither.science.trials.arms import LEFT_OUT, Private
from dither.science.trials.null import Law
from dither.science.trials.proportions import Fixed, Open, Population, Whole
from dither.science.trials.tulap import Tulap

SIDES = ("two-sided", "less", "greater")


def laplace(epsilon: float) -> Law:
    return Law.of(Laplace(sensitivity=1, epsilon=epsilon))


def levels(law: Law, n: int, p: float, alpha: float) -> dict[str, float]:
    """How often the cautious test of a noisy count rejects its own truth: exact."""
    reach = 40 * int(law.scale + 1)
    noisy = np.arange(-reach, n + reach + 1)
    counts = np.arange(n + 1)
    chance = law.pmf(noisy[:, None] - counts) @ stats.binom.pmf(counts, n, p)
    found = {}
    for side in SIDES:
        evidence = (Whole(int(one), n, Tulap(law)) for one in noisy)
        rejects = [one.pvalue(p, side) <= alpha for one in evidence]
        found[side] = float(chance[rejects].sum())
    return found


@pytest.mark.parametrize("p", [0.0, 0.05, 0.5])
@pytest.mark.parametrize(
    "law", [laplace(0.3), laplace(3), Law.of(Gaussian(sensitivity=1, rho=0.5))]
)
def test_the_cautious_test_never_exceeds_its_level(law: Law, p: float) -> None:
    assert max(levels(law, 20, p, 0.05).values()) <= 0.05


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("p", [0.02, 0.5])
def test_an_interval_holds_what_its_tests_keep(epsilon: float, p: float) -> None:
    """The ends are where the one-sided p-values are α/2, and no closer."""
    law = laplace(epsilon)
    for noisy in (-3.2, 0.1, 7.7, 31.4, 60.2):
        evidence = Fixed(noisy, 50, Tulap(law))
        low, high = Population(evidence).ends(0.95)
        kept = min(evidence.less(p), evidence.greater(p)) > 0.025
        assert not kept or low <= p <= high
        assert low < high
        if low > 0 and noisy <= 50:
            assert evidence.greater(low) == pytest.approx(0.025, rel=1e-3)


def test_without_noise_it_is_clopper_and_pearsons() -> None:
    evidence = Whole(7, 20, Tulap(laplace(1e4)))
    low, high = Population(evidence).ends(0.95)
    wanted = stats.binomtest(7, 20).proportion_ci()
    assert (low, high) == pytest.approx((wanted.low, wanted.high), abs=1e-9)
    sided = stats.binomtest(7, 20, 0.5, "less").pvalue
    assert evidence.less(0.5) == pytest.approx(sided, rel=1e-9)


def test_ten_million_people() -> None:
    evidence = Fixed(5_003_000.2, 10**7, Tulap(laplace(1.0)))
    wanted = stats.norm.sf(3000.2 / np.sqrt(2.5e6 + 2))
    assert evidence.greater(0.5) == pytest.approx(wanted, rel=0.01)
    assert evidence.less(0.5) == pytest.approx(1 - wanted)


def test_one_sided_intervals_are_open() -> None:
    evidence = Fixed(12.3, 20, Tulap(laplace(1.0)))
    low, high = Population(evidence, "greater").ends(0.95)
    assert low > 0
    assert high == 1
    low, high = Population(evidence, "less").ends(0.95)
    assert low == 0
    assert high < 1


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(
    ("epsilon", "n", "p"),
    [(0.7, 5, 0.5), (3.0, 12, 0.1), (10.0, 3, 0.2), (10.0, 4, 0.5), (10.0, 15, 0.2)],
)
def test_with_a_private_size_the_level_holds(
    epsilon: float, n: int, p: float, side: str
) -> None:
    """Over all pairs of noisy counts that are likely enough."""
    law = laplace(epsilon)
    reach = int(9 * law.scale) + 1
    noise = np.arange(-reach, reach + 1)
    counts = np.arange(n + 1)
    sampled = stats.binom.pmf(counts, n, p)
    chances: dict[tuple[int, int], float] = {}
    weights = np.multiply.outer(law.pmf(noise), law.pmf(noise))
    for yes, chance in zip(counts.tolist(), sampled.tolist(), strict=True):
        for i, j in np.argwhere(weights * chance > 2e-5).tolist():
            key = (yes + int(noise[i]), n - yes + int(noise[j]))
            chances[key] = chances.get(key, 0.0) + float(weights[i, j]) * chance
    likely = sorted(chances, key=lambda one: -chances[one])[:100]
    seen = sum(chances[one] for one in likely)
    rejected = sum(
        chances[yes, no]
        for yes, no in likely
        if Open(Private(yes, no, law)).pvalue(p, side) <= 0.06
    )
    assert rejected <= 0.06 * max(seen, 0.5)


def test_a_private_size_costs_what_it_must() -> None:
    law = laplace(1.0)
    p_public = Fixed(70, 100, Tulap(law)).two_sided(0.5)
    p_private = Open(Private(70, 30, law)).two_sided(0.5)
    assert p_public < p_private < p_public + 20 * LEFT_OUT
    low, high = Population(Open(Private(70, 30, law))).ends(0.95)
    assert 0.55 < low < 0.7 < high < 0.82


def test_nobody_at_all() -> None:
    evidence = Open(Private(-4, -2, laplace(1.0)))
    assert Population(evidence).ends(0.95) == (0.0, 1.0)
    assert 0 < evidence.pvalue(0.5, "two-sided") <= 1
