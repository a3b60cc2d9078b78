"""Single mechanisms on the grid: never below the truth, and hardly above it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from mpmath import mp, mpf

from dither.privacy.loss_grid import GridLosses, gaussian_losses, response_losses
from dither.privacy.numbers import LIBM

from .support import normal_tail, written


def delta_of(losses: GridLosses, step: float, epsilon: float) -> float:
    """δ(ε) of what is on the grid."""
    above = losses.places * step + losses.shift - epsilon
    return losses.endless + math.fsum(
        (np.maximum(-np.expm1(-above), 0.0) * losses.masses).tolist()
    )


def true_delta(mu: float, rate: float, epsilon: float, adding: bool) -> mpf:
    """δ(ε) of one sampled Gaussian step, in the direction asked for."""
    m, q, e = mpf(mu), mpf(rate), mpf(epsilon)
    ratio = mp.e ** (-e if adding else e) - 1 + q
    if ratio <= 0:
        return mpf(0) if adding else 1 - mp.e**e
    y = (mp.log(ratio / q) + m * m / 2) / m
    if adding:
        return normal_tail(-y) - mp.e**e * (
            (1 - q) * normal_tail(-y) + q * normal_tail(m - y)
        )
    return (1 - q) * normal_tail(y) + q * normal_tail(y - m) - mp.e**e * normal_tail(y)


@pytest.mark.parametrize("adding", [False, True])
@pytest.mark.parametrize(
    ("mu", "rate", "step"),
    [
        (1.0, 1.0, 0.01),
        (1.0, 0.01, 1e-3),
        (0.1, 0.5, 1e-4),
        (4.0, 0.1, 0.01),
        (1.0, 0.999999, 0.01),
        (1.0, 1e-4, 1e-5),
    ],
)
def test_a_gaussian_step_is_covered_closely(
    mu: float, rate: float, step: float, adding: bool
) -> None:
    """At multiples of the step the grid has the truth itself, up to rounding."""
    found = gaussian_losses(mu, rate, step, 1e-30, adding)
    for place in (-40, -3, 0, 1, 7, 60):
        truth = true_delta(mu, rate, place * step, adding)
        ours = delta_of(found, step, place * step)
        assert truth <= ours * (1 + 1e-14) + 1e-30
        assert ours <= truth * (1 + mpf(1e-6)) + mpf(1e-12)


def test_between_the_multiples_a_chord_lies_above() -> None:
    found = gaussian_losses(1.0, 0.1, 0.05, 1e-30, False)
    for epsilon in (0.01, 0.024, 0.27, 1.13):
        truth = true_delta(1.0, 0.1, epsilon, False)
        assert truth < delta_of(found, 0.05, epsilon) <= truth * 1.03


@pytest.mark.parametrize(
    ("epsilon", "times"), [(0.3, 1), (0.01, 50), (2.0, 7), (0.5, 400)]
)
def test_responses_enter_together(epsilon: float, times: int) -> None:
    step = epsilon / 37.7
    found = response_losses(epsilon, times, step, 1e-30)
    e = written(epsilon)
    truth_told = 1 / (1 + mp.e**-e)
    for share in (0.0, 0.05, 0.3, 0.9):
        wanted = share * epsilon * times
        exact = mp.fsum(
            mp.binomial(times, i)
            * truth_told ** (times - i)
            * (1 - truth_told) ** i
            * (1 - mp.e ** (wanted - loss))
            for i in range(times + 1)
            if (loss := (times - 2 * i) * e) > wanted
        )
        ours = delta_of(found, step, wanted)
        assert exact <= ours * (1 + 1e-14) + 1e-30
        assert ours <= exact * mpf("1.1") + mpf(1e-12)


def test_very_many_responses_are_cut_to_what_matters() -> None:
    found = response_losses(1e-3, 1_000_000, 1e-3, 1e-20)
    assert found.masses.size < 50_000
    assert 1.0 <= found.masses.sum() <= 1.0 + 1e-8
    assert found.endless == 1e-20


@pytest.mark.parametrize(
    ("ours", "exact", "low", "high"),
    [
        (np.exp, mp.exp, -700.0, 700.0),
        (np.expm1, mp.expm1, -40.0, 40.0),
        (np.log, mp.log, 1e-300, 1e300),
    ],
    ids=["exp", "expm1", "log"],
)
def test_the_functions_of_arrays_are_as_accurate_as_assumed(
    ours: np.ufunc, exact: Callable[[mpf], mpf], low: float, high: float
) -> None:
    points = np.concatenate(
        [np.linspace(low, high, 701), np.geomspace(1e-12, min(high, 40.0), 700)]
    )
    for x, found in zip(points.tolist(), ours(points).tolist(), strict=True):
        truth = exact(mpf(x))
        assert abs(mpf(found) - truth) <= abs(truth) * LIBM / 16, x


def test_eight_points_integrate_a_piece_exactly() -> None:
    """Pieces are so short that (|y| + μ + 4)·width ≤ 1; the largest one is tried where
    densities fall fastest.
    """
    from dither.privacy.loss_grid import PLACES, SHARES

    for start in (0.0, 5.0, 12.0, 38.0):
        width = mpf(1) / (mpf(start) + 5)
        found = (
            mp.fsum(
                mpf(s) * mp.npdf(start + width * mpf(p))
                for p, s in zip(PLACES, SHARES, strict=True)
            )
            * width
        )
        truth = normal_tail(mpf(start)) - normal_tail(start + width)
        assert abs(found - truth) <= truth * 4 * LIBM


def test_tails_go_to_infinite_loss() -> None:
    found = gaussian_losses(1.0, 0.5, 0.01, 1e-6, False)
    assert found.endless == 1e-6
    assert math.isclose(found.masses.sum(), 1.0, rel_tol=3e-6)
