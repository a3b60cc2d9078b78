"""Cut-off losses beside closed forms and integrals with many digits."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from mpmath import mp, mpf

from dither.errors import NoConversion
from dither.privacy import (
    ApproxDP,
    Composed,
    Declared,
    FixedSizeSampled,
    GaussianDP,
    Guarantee,
    PoissonSampled,
    PureDP,
    RenyiDP,
    Unit,
    compose,
)
from dither.privacy.truncated import truncated, truncation

from .support import normal_tail, true_gaussian_delta

CLOSE = 1 + 1e-3


def gaussian_cut(mu: float, order: int, delta: float) -> mpf:
    """Closed form: N(0, 1) against N(μ, 1), the ratio cut off at e^L."""
    m, a = mpf(mu), mpf(order)
    cut = mp.findroot(
        lambda e: mp.log(true_gaussian_delta(mu, e)) - mp.log(delta), m * m / 2 + 5 * m
    )
    y = (cut + m * m / 2) / m
    below = mp.e ** (a * (a - 1) * m * m / 2) * (1 - normal_tail(y - a * m))
    moment = below + mp.e ** (a * cut) * normal_tail(y)
    return (mp.log(moment) - a * mp.log(1 - mpf(delta))) / (a - 1)


@pytest.mark.parametrize("mu", [0.05, 0.5, 1.5])
@pytest.mark.parametrize(("order", "delta"), [(2, 1e-6), (8, 5e-6), (40, 1e-9)])
def test_a_gaussian_comes_out_as_in_closed_form(
    mu: float, order: int, delta: float
) -> None:
    loss, cut = truncation(GaussianDP(mu), order, delta).at(delta)
    true = gaussian_cut(mu, order, delta)
    assert true <= loss <= true * CLOSE
    assert true_gaussian_delta(mu, cut) <= delta


def sampled_cut(mu: float, rate: float, order: int, delta: float) -> mpf:
    """One sampled step, integrated over its outputs, the larger of both directions."""
    m, q, a, d = mpf(mu), mpf(rate), mpf(order), mpf(delta)

    def ratio(y: mpf) -> mpf:
        return 1 - q + q * mp.e ** (m * y - m * m / 2)

    def output(r: mpf) -> mpf:
        return (mp.log((r - 1 + q) / q) + m * m / 2) / m

    def mass(y: mpf) -> mpf:
        return (1 - q) * normal_tail(y) + q * normal_tail(y - m)

    def integral(power: mpf, low: mpf, high: mpf) -> mpf:
        edges = [low, *(x for x in (-4, 0, 2, 4) if low < x < high), high]
        return mp.quad(lambda x: mp.npdf(x) * ratio(x) ** power, edges)

    def added(cut: mpf) -> mpf:
        r = mp.e**-cut
        return output(r) if r > 1 - q else mpf(-40)

    def removing(cut: mpf) -> mpf:
        y = output(mp.e**cut)
        return mass(y) - mp.e**cut * normal_tail(y)

    def adding(cut: mpf) -> mpf:
        y = added(cut)
        return normal_tail(-y) - mp.e**cut * (1 - mass(y))

    cut = _crossing(removing, d)
    y = output(mp.e**cut)
    there = integral(a, mpf(-14), y) + mp.e ** (a * cut) * normal_tail(y)
    cut = _crossing(adding, d)
    y = added(cut)
    back = integral(1 - a, max(y, mpf(-14)), mpf(14))
    back += mp.e ** (a * cut) * (1 - mass(y))
    return (mp.log(max(there, back)) - a * mp.log(1 - d)) / (a - 1)


def _crossing(stick: Callable[[mpf], mpf], d: mpf) -> mpf:
    low, high = mpf(0), mpf(20)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if stick(middle) <= d else (middle, high)
    return high


@pytest.mark.parametrize("rate", [0.5, 0.02])
def test_one_sampled_step_comes_out_as_integrated(rate: float) -> None:
    with mp.workdps(20):
        true = sampled_cut(1.0, rate, 8, 1e-4)
    found = truncated(PoissonSampled(rate, GaussianDP(1.0)), 8, 1e-4)
    assert true * (1 - mpf(10) ** -9) <= found.loss <= true * CLOSE


@pytest.mark.parametrize("coarse", [False, True])
def test_a_cut_is_cheaper_than_both_other_ways(coarse: bool) -> None:
    run = PoissonSampled(0.0043, GaussianDP(1 / 0.75), 1000)
    cuts = truncation(run, 8, 1e-9, coarse=coarse)
    losses = [cuts.at(delta)[0] for delta in (1e-5, 1e-6, 1e-7, 1e-8)]
    assert losses == sorted(losses)
    for delta, loss in zip((1e-5, 1e-6), losses, strict=False):
        assert loss < run.renyi(8)
        assert loss < run.approx(delta).renyi(8)


def test_more_of_a_run_costs_more() -> None:
    """Rule R33: the whole is never below a part."""
    part = PoissonSampled(0.01, GaussianDP(1.0), 100)
    more = Composed([part, PoissonSampled(0.01, GaussianDP(0.5), 50)])
    assert truncated(part, 8, 1e-6).loss < truncated(more, 8, 1e-6).loss
    twice = Composed([part, part])
    assert truncated(twice, 8, 1e-6).loss == pytest.approx(
        truncated(PoissonSampled(0.01, GaussianDP(1.0), 200), 8, 1e-6).loss
    )


def test_converting_back_gives_no_less_than_the_run_has() -> None:
    """(τ at α, δ′) is a true promise, so what follows from it is above the best bound."""
    run = PoissonSampled(0.01, GaussianDP(1.0), 500)
    charged = truncated(run, 8, 1e-6)
    weaker = RenyiDP({8: charged.loss}, 1e-6)
    assert weaker.epsilon_at(1e-4) >= compose([run], 1e-4).epsilon


@pytest.mark.parametrize(
    "run",
    [
        FixedSizeSampled(0.01, GaussianDP(1.0, unit=Unit("row", "replace")), 100),
        Composed([GaussianDP(0.3), PureDP(0.2)]),
    ],
)
def test_other_runs_can_be_cut_too(run: Guarantee) -> None:
    loss, cut = truncation(run, 6, 1e-6).at(1e-6)
    assert 0 < loss < run.renyi(6) * CLOSE
    assert run.delta_at(cut) <= 1e-6 * CLOSE


def test_the_cheapest_cut_balances_losses_and_delta() -> None:
    run = PoissonSampled(0.0043, GaussianDP(1 / 0.75), 1000)
    found = truncation(run, 8, 1e-9).cheapest(1.687, 5e-6)
    assert found is not None
    assert found.loss / 1.687 == pytest.approx(found.delta / 5e-6, rel=0.1)


def test_a_delta_that_saves_nothing_is_not_spent() -> None:
    run = GaussianDP(0.01)
    assert truncation(run, 8, 1e-9).cheapest(1.687, 5e-6) is None
    with pytest.raises(NoConversion, match="without a δ of its own"):
        truncated(run, 8, 1e-6)


def test_what_cannot_be_added_up_is_refused() -> None:
    with pytest.raises(NoConversion, match="noise"):
        truncated(GaussianDP(200.0), 8, 1e-6)


def test_a_declared_run_reveals_what_the_run_does() -> None:
    run = PoissonSampled(0.01, GaussianDP(1.0), 500)
    charged = truncated(run, 8, 1e-6)
    assert charged.epsilon_at(1e-5) == run.epsilon_at(1e-5)
    assert charged.delta_at(1.0) == run.delta_at(1.0)
    assert charged.renyi(8) == charged.loss
    assert charged.renyi(9) == run.renyi(9)
    assert charged.delta_part == 1e-6
    assert compose([charged], 1e-5).epsilon == compose([run], 1e-5).epsilon
    assert charged.to(RenyiDP) == run.to(RenyiDP)
    assert charged.approx(1e-5) == run.approx(1e-5)
    assert math.isclose(charged.epsilon, run.epsilon_at(1e-6), rel_tol=1e-3)
    assert str(charged) == str(run)
    with pytest.raises(NoConversion):
        charged.for_replacement()


@pytest.mark.parametrize(
    ("of", "order", "loss", "delta"),
    [
        (ApproxDP(1.0, 1e-6), 8, 1.0, 1e-6),
        (PureDP(1.0), 8, 1.0, 1e-6),
        (GaussianDP(1.0, 1e-6), 8, 1.0, 1e-6),
        (GaussianDP(1.0), 1, 1.0, 1e-6),
        (GaussianDP(1.0), 8, 0.0, 1e-6),
        (GaussianDP(1.0), 8, 1.0, 1.0),
    ],
)
def test_a_declared_run_is_checked(
    of: Guarantee, order: int, loss: float, delta: float
) -> None:
    with pytest.raises(ValueError, match="must"):
        Declared(of, order, loss, delta, 1.0)
