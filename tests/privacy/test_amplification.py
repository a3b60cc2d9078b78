from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.errors import ArgumentError, NoConversion, UnitMismatch
from dither.privacy import (
    ROW,
    ApproxDP,
    BoundedRange,
    GaussianDP,
    PoissonSampled,
    PureDP,
    Unit,
    ZeroConcentratedDP,
    poisson,
    shuffled,
)

from .support import (
    EXACT,
    discrete_laplace,
    hockey_stick,
    poisson_sampled,
    randomized_response,
)


@settings(max_examples=80, deadline=None)
@given(st.floats(0.01, 5.0), st.floats(0.001, 1.0))
def test_sampling_holds_and_is_attained(epsilon: float, rate: float) -> None:
    amplified = poisson(PureDP(epsilon), rate)
    assert isinstance(amplified, PureDP)
    pair = poisson_sampled(randomized_response(epsilon), rate)
    assert hockey_stick(pair, amplified.epsilon) <= EXACT
    assert hockey_stick(pair, amplified.epsilon * (1 - 1e-9)) > 0
    assert (
        hockey_stick(
            poisson_sampled(discrete_laplace(epsilon, 20), rate), amplified.epsilon
        )
        <= EXACT
    )


def test_sampling_of_other_guarantees() -> None:
    half = poisson(ApproxDP(1.0, 1e-6), 0.5)
    assert isinstance(half, ApproxDP)
    assert (half.epsilon, half.delta) == (
        pytest.approx(math.log((1 + math.e) / 2)),
        5e-7,
    )
    assert poisson(GaussianDP(1.0), 0.5) == PoissonSampled(0.5, GaussianDP(1.0))
    assert poisson(BoundedRange(1.0), 0.5) == poisson(PureDP(1.0), 0.5)
    assert poisson(PureDP(1.0), 1) == PureDP(1.0)
    assert poisson(PureDP(1e4), 0.5) == PureDP(1e4)


def test_sampling_refusals() -> None:
    with pytest.raises(NoConversion, match=r"\.approx\(delta\)"):
        poisson(ZeroConcentratedDP(0.1), 0.5)
    with pytest.raises(UnitMismatch, match=r"only guarantees under add/remove"):
        poisson(PureDP(1.0, unit=ROW.replacing()), 0.5)
    for bad in (0, 1.5, float("nan")):
        with pytest.raises(ArgumentError, match=r"^rate "):
            poisson(PureDP(1.0), bad)


def clones_delta(local: float, n: int, epsilon: float) -> float:
    """δ(ε) of the pair that hiding among the clones reduces to, summed over the number
    of clones.

    C ~ Bin(n−1, e^(−ε₀)) others answer as a clone, A ~ Bin(C, ½) of them like the
    first; the user adds one to A with probability e^ε₀/(e^ε₀+1), else to C − A.
    """
    from scipy import stats

    p, truth, factor = math.exp(-local), 1 / (1 + math.exp(-local)), math.exp(epsilon)
    counts = stats.binom(n - 1, p)
    total = 0.0
    for c in range(int(counts.ppf(1e-13)), int(counts.ppf(1 - 1e-13)) + 1):
        a = stats.binom(c, 0.5).pmf(range(-1, c + 2))
        one, other = (
            truth * a[:-1] + (1 - truth) * a[1:],
            (1 - truth) * a[:-1] + truth * a[1:],
        )
        total += counts.pmf(c) * sum(
            max(x - factor * y, 0.0) for x, y in zip(one, other, strict=True)
        )
    return total


@pytest.mark.parametrize(
    ("local", "n", "delta"), [(0.5, 1000, 1e-3), (1.0, 1500, 1e-4), (2.0, 2500, 1e-3)]
)
def test_shuffling_covers_the_clones(local: float, n: int, delta: float) -> None:
    amplified = shuffled(local, n, delta)
    assert amplified.epsilon < local
    assert clones_delta(local, n, amplified.epsilon) <= delta
    assert clones_delta(local, n, amplified.epsilon / 12) > delta


def test_shuffling_grows_with_the_crowd_and_never_hurts() -> None:
    epsilons = [shuffled(1.0, n, 1e-6).epsilon for n in (10, 1000, 10**5, 10**7)]
    assert epsilons == sorted(epsilons, reverse=True)
    assert shuffled(3.0, 100, 1e-6) == ApproxDP(3.0, 1e-6, unit=ROW.replacing())
    assert shuffled(800.0, 10**6, 1e-6).epsilon == 800.0


@pytest.mark.parametrize(
    ("argument", "arguments"),
    [
        ("epsilon_local", (0, 10, 1e-6)),
        ("n", (1.0, 0, 1e-6)),
        ("n", (1.0, 2.5, 1e-6)),
        ("delta", (1.0, 10, 0)),
    ],
)
def test_bad_shuffles_are_named(argument: str, arguments: Any) -> None:
    with pytest.raises(ArgumentError) as caught:
        shuffled(*arguments)
    assert caught.value.argument == argument


def test_shuffling_is_under_replacement() -> None:
    assert shuffled(1.0, 1000, 1e-3).unit == ROW.replacing()
    with pytest.raises(UnitMismatch, match=r"replacing"):
        shuffled(1.0, 1000, 1e-3, unit=Unit("device"))
