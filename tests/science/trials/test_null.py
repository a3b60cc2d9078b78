"""The laws of noise, against sums over all that is likely."""

import numpy as np
import pytest
from scipy import special, stats

from dither.mechanisms import Gaussian, Laplace
from dither.science.trials.null import Law, public_draws
from tests.chance import chance

LAPLACE = [
    Law.of(Laplace(sensitivity=s, epsilon=1.0)) for s in (0.5, 1, 7, 63, 65, 400)
]
GAUSSIAN = [Law.of(Gaussian(sensitivity=s, rho=0.5)) for s in (0.5, 1, 7, 63, 65, 400)]
LAWS = LAPLACE + GAUSSIAN


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_chances_add_up(law):
    steps = np.arange(-45 * int(law.scale + 1), 45 * int(law.scale + 1) + 1)
    chances = law.pmf(steps)
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    assert chances @ steps**2.0 == pytest.approx(law.variance, rel=1e-9)
    tails = np.cumsum(chances[::-1])[::-1]
    np.testing.assert_allclose(law.survival(steps), tails, atol=1e-12)
    np.testing.assert_array_equal(law.survival(steps - 0.5), law.survival(steps))


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("ratio", [0.05, 1.0, 8.0])
def test_noise_and_a_normal_number(law, ratio):
    sd = ratio * law.scale
    t = np.array([-8.0, -1, 0, 0.3, 1, 3, 8]) * max(sd, law.scale)
    steps = np.arange(-45 * int(law.scale + 1), 45 * int(law.scale + 1) + 1)
    exact = law.pmf(steps) @ special.ndtr((steps[:, None] - t) / sd)
    np.testing.assert_allclose(law.beyond(t, sd), exact, rtol=2e-2, atol=1e-14)
    middle = (exact > 1e-4) & (exact < 1 - 1e-4)
    np.testing.assert_allclose(law.beyond(t, sd)[middle], exact[middle], rtol=2e-3)


def test_without_spread_only_noise_is_left():
    law = LAPLACE[2]
    assert law.beyond(3.0, 0.0) == law.survival(3.0)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_noise_and_a_law_of_whole_numbers(law):
    chances = stats.binom.pmf(np.arange(11), 10, 0.3)
    steps = np.arange(-45 * int(law.scale + 1), 45 * int(law.scale + 1) + 1)
    total = np.convolve(law.pmf(steps), chances)
    places = np.arange(steps[0], steps[0] + total.size)
    exact = total[places >= 4].sum()
    assert law.with_pmf(np.arange(11), chances, 4) == pytest.approx(exact, abs=1e-12)


@chance(1e-8)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_draws_are_of_the_law(law):
    # squares of this noise are skewed: 7 standard errors leave room for that
    drawn = law.draw(20_000).astype(float) ** 2
    assert abs(drawn.mean() - law.variance) < 7 * drawn.std() / np.sqrt(20_000)


@chance(1e-15)
def test_public_draws_differ():
    assert public_draws().random() != public_draws().random()
