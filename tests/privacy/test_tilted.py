"""Losses added up by transforms: the bound on their rounding holds, and nothing else is
lost.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpc, mpf

from dither.privacy.loss_grid import GridLosses, response_losses
from dither.privacy.optimal import repeated_delta, repeated_epsilon
from dither.privacy.tilted import TRANSFORM_ERROR, Window, left_out, tilted_sum


@pytest.mark.parametrize("levels", [10, 14, 18])
def test_transforms_are_as_accurate_as_assumed(levels: int) -> None:
    """Powers of a ratio have a transform in closed form: (1 − r^N)/(1 − r·e^(−2πik/N))."""
    with mp.workdps(50):
        size, ratio = 1 << levels, mpf(1) - mpf(2) ** -(levels - 3)
        values = np.array([float(ratio) ** n for n in range(size)])
        there = np.fft.rfft(values)
        tried = np.unique(np.geomspace(1, size // 2, 200).astype(int))
        square = mpf(0)
        for k in tried.tolist():
            turn = mp.expjpi(mpf(-2 * k) / size)
            exact = (1 - mpf(float(ratio)) ** size) / (1 - mpf(float(ratio)) * turn)
            square += abs(mpc(complex(there[k])) - exact) ** 2
        allowed = levels * TRANSFORM_ERROR / 4
        assert mp.sqrt(square) <= allowed * np.linalg.norm(values) * math.sqrt(size)
        back = np.fft.irfft(there, size)
        assert np.linalg.norm(back - values) <= 2 * allowed * np.linalg.norm(values)


def coin(epsilon: float, step: float) -> GridLosses:
    """Randomized response whose ε is a multiple of the step."""
    cells = round(epsilon / step)
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    masses = np.zeros(2 * cells + 1)
    masses[0], masses[-1] = 1.0 - truth, truth
    return GridLosses(-cells, masses, 1e-300, 0.0)


@pytest.mark.parametrize(
    ("epsilon", "times", "delta"),
    [(0.002, 50_000, 1.01e-9), (0.001, 100_000, 1e-3), (0.01, 3000, 1e-40)],
)
def test_rounding_of_very_many_steps_is_covered(
    epsilon: float, times: int, delta: float
) -> None:
    """The same loss added that many times by transforms, beside its exact composition."""
    exact = repeated_epsilon(epsilon, times, delta)
    step = epsilon / 2
    window = Window(step, math.floor(exact / step) - 4096, 1 << 14)
    tilt = exact / (times * epsilon * epsilon)
    parts = [(coin(epsilon, step), times)]
    total = tilted_sum(
        window,
        parts,
        tilt,
        math.log(delta),
        left_out(window, parts, tilt, math.log(delta)),
    )
    assert exact * (1 - 1e-9) <= total.epsilon(math.log(delta)) <= exact * (1 + 2e-4)
    assert (
        repeated_delta(epsilon, times, exact) * (1 - 1e-7)
        <= total.delta(exact)
        <= delta * 1.01
    )


@pytest.mark.parametrize("tilt", [1e-4, 3.0, 6.0])
def test_every_tilt_gives_a_valid_bound(tilt: float) -> None:
    step, scale = 0.01, math.log(1e-4)
    first, second = (
        response_losses(0.31, 5, step, 1e-20),
        response_losses(0.05, 9, step, 1e-20),
    )
    parts, window = [(first, 1), (second, 2)], Window(step, -300, 1024)
    total = tilted_sum(window, parts, tilt, scale, left_out(window, parts, tilt, scale))
    losses = np.convolve(np.convolve(second.masses, second.masses), first.masses)
    places = first.first + 2 * second.first + np.arange(losses.size)
    for epsilon in (0.1, 0.7, 1.5, 2.2):
        exact = float(
            np.sum(np.maximum(-np.expm1(epsilon - places * step), 0.0) * losses)
        )
        assert exact * (1 - 1e-9) <= total.delta(epsilon) <= exact * (1 + 1e-6) + 1e-10
    assert total.delta(total.epsilon(scale)) == pytest.approx(1e-4, rel=1e-4)


def test_a_tilt_that_is_too_steep_is_useless_and_valid() -> None:
    parts, window, scale = (
        [(response_losses(0.31, 5, 0.01, 1e-20), 1)],
        Window(0.01, -300, 1024),
        math.log(1e-4),
    )
    total = tilted_sum(
        window, parts, 400.0, scale, left_out(window, parts, 400.0, scale)
    )
    assert total.delta(0.1) > 1.0
    assert total.epsilon(scale) >= repeated_epsilon(0.31, 5, 1e-4)


def test_a_window_that_is_too_low_or_too_high_says_so() -> None:
    parts = [(response_losses(0.5, 10, 0.01, 1e-20), 1)]
    low = Window(0.01, -2000, 1024)
    assert left_out(low, parts, 2.0, 0.0) >= 1.0
    assert (
        tilted_sum(low, parts, 2.0, 0.0, left_out(low, parts, 2.0, 0.0)).epsilon(
            math.log(1e-6)
        )
        == math.inf
    )
    high = tilted_sum(Window(0.01, 600, 1024), parts, 2.0, 0.0, 0.0)
    assert high.epsilon(math.log(0.5)) == pytest.approx(6.0)
    assert high.delta(1.0) == math.inf
