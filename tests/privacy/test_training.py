"""Declared runs: their rates and levels, and their noise for a wanted ε."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dither.errors import ArgumentError
from dither.privacy import (
    Composed,
    GaussianDP,
    PoissonSampled,
    Run,
    Unit,
    compose,
    levels,
    noise_for,
    rate_of,
)
from dither.privacy.bundle import Bundle
from dither.privacy.training import LEAST_NOISE, MOST_NOISE, smallest

RATE = rate_of(256, 60_000)


def theirs(run: Run, delta: float) -> tuple[float, float]:
    """dp-accounting's ε of a schedule: an optimistic and a pessimistic one."""
    from dp_accounting.pld import privacy_loss_distribution as losses

    found = []
    for worse in (False, True):
        parts = [
            losses.from_gaussian_mechanism(
                noise,
                sampling_prob=float(run.probability),
                pessimistic_estimate=worse,
                use_connect_dots=worse,
            ).self_compose(steps)
            for noise, steps in run.stages
        ]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.compose(part)
        found.append(whole.get_epsilon_for_delta(delta))
    return found[0], found[1]


@pytest.mark.parametrize(
    "stages",
    [
        ((1.5, 300), (1.0, 300), (0.8, 100)),
        pytest.param(((0.7, 50), (4.0, 2000)), marks=pytest.mark.full),
        pytest.param(((1.0, 1000),), marks=pytest.mark.full),
    ],
)
def test_schedules_come_out_as_in_dp_accounting(
    stages: tuple[tuple[float, int], ...],
) -> None:
    run = Run(RATE, stages)
    low, high = theirs(run, 1e-5)
    found = run.guarantee.epsilon_at(1e-5)
    assert low <= found
    assert found >= high * (1 - 1e-4)
    assert found <= high * (1 + 1e-3)


def test_the_rate_is_that_of_whole_numbers() -> None:
    assert RATE == 256 * 2**32 // 60_000
    assert rate_of(60_000, 60_000) == 1 << 32
    assert rate_of(1, 1 << 40) == 1
    assert Run(RATE, ((1.0, 10),)).probability == Fraction(RATE, 1 << 32)
    for batch in (0, 101, -1, "8"):
        with pytest.raises(ArgumentError):
            rate_of(batch, 100)  # type: ignore[arg-type]


def test_a_run_promises_its_stages() -> None:
    one = Run(RATE, ((2.0, 100),)).guarantee
    assert one == PoissonSampled(RATE / 2**32, GaussianDP(0.5), 100)
    two = Run(RATE, ((2.0, 100), (1.0, 50))).guarantee
    assert isinstance(two, Composed)
    assert len(two.parts) == 2
    assert Run(RATE, ((2.0, 100), (1.0, 50))).steps == 150


def test_replacing_a_unit_is_not_amplified() -> None:
    run = Run(RATE, ((2.0, 100),), Unit("row", "replace"))
    assert isinstance(run.guarantee, GaussianDP)
    assert 10.0 <= run.guarantee.mu <= 10.0 * (1 + 1e-12)


def test_levels_never_lower_the_noise() -> None:
    factors = [1.0 + 0.001 * step for step in range(1000)]
    found = levels(factors, 8)
    assert len(found) <= 8
    assert sum(steps for _, steps in found) == 1000
    spread = [level for level, steps in found for _ in range(steps)]
    assert all(level >= factor for level, factor in zip(spread, factors, strict=True))
    assert spread[-1] == factors[-1]
    assert levels([1.0, 2.0, 1.0]) == ((1.0, 2), (2.0, 1))
    with pytest.raises(ArgumentError, match="empty"):
        levels([])


@pytest.mark.full
def test_the_noise_for_many_steps() -> None:
    run = Run(round(0.0043 * 2**32), ((1.0, 3516),))
    found = noise_for(run, 3, 5e-6)
    assert found.stages[0][0] == pytest.approx(0.744, abs=2e-3)
    assert found.guarantee.epsilon_at(5e-6) <= 3
    assert found.times(0.998).guarantee.epsilon_at(5e-6) > 3


def test_the_noise_for_an_epsilon() -> None:
    run = Run(1 << 26, ((1.0, 10), (2.0, 5)))
    found = noise_for(run, 1, 1e-5)
    assert found.stages[1][0] == 2 * found.stages[0][0]
    assert found.guarantee.epsilon_at(1e-5) <= 1
    assert found.times(0.998).guarantee.epsilon_at(1e-5) > 1


@pytest.mark.parametrize(
    ("rate", "noise", "steps"),
    [(1 << 31, 20.0, 100), (1 << 24, 0.8, 50), (1 << 30, 0.3, 3), (1 << 28, 300.0, 9)],
)
def test_leaving_out_orders_changes_no_figure(
    rate: int, noise: float, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Floors tell which orders cannot be the best; without them, all are tried."""

    def figures() -> list[float]:
        run = Run(rate, ((noise, steps), (2 * noise, 1)), beside=GaussianDP(0.1))
        found = run.guarantee
        one = compose([found], 1e-6)
        return [*one.candidates.values(), found.epsilon_at(1e-3), found.delta_at(0.5)]

    quick = figures()
    monkeypatch.setattr(Bundle, "floor", lambda *_: 0.0)
    assert figures() == quick


def test_what_cannot_be_reached_is_said() -> None:
    run = Run(1 << 32, ((1.0, 1_000_000),))
    with pytest.raises(ArgumentError, match="must be at least") as refused:
        noise_for(run, 0.5, 1e-6)
    least = run.times(MOST_NOISE).guarantee.epsilon_at(1e-6)
    assert f"{least:.3g}" in str(refused.value)
    with pytest.raises(ArgumentError, match="above 0"):
        noise_for(run, 0.5, 0)


@pytest.mark.parametrize("guess", [0.06, 1.0, 900.0])
def test_the_smallest_noise_is_found_from_any_guess(guess: float) -> None:
    def part(noise: float, coarse: bool) -> float:
        return (1.004 if coarse else 1.0) / noise

    found = smallest(part, 0.5, guess)
    assert found is not None
    assert 2.0 <= found <= 2.0 * 1.005
    assert smallest(part, 1e-4, guess) is None
    assert smallest(part, 100.0, guess) == LEAST_NOISE


@pytest.mark.parametrize(
    ("rate", "stages"),
    [(0, ((1.0, 1),)), ((1 << 32) + 1, ((1.0, 1),)), (1, ()), (1, ((0.0, 1),))],
)
def test_what_is_no_run_is_refused(
    rate: int, stages: tuple[tuple[float, int], ...]
) -> None:
    with pytest.raises(ArgumentError):
        Run(rate, stages)
