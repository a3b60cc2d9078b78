from __future__ import annotations

import pytest
from mpmath import mp, mpf

from dither.errors import ArgumentError, NoConversion
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    Composed,
    GaussianDP,
    Guarantee,
    PoissonSampled,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from dither.privacy.conversions import CONVERSIONS, pure_rho

from .support import hockey_stick, randomized_response, renyi_divergence

KINDS: list[type[Guarantee]] = [
    PureDP,
    ApproxDP,
    ZeroConcentratedDP,
    GaussianDP,
    RenyiDP,
    BoundedRange,
]
SAMPLES: list[Guarantee] = [
    PureDP(0.8),
    ApproxDP(0.8, 1e-7),
    ZeroConcentratedDP(0.2, 1e-7),
    GaussianDP(0.6, 1e-7),
    RenyiDP({2: 0.1, 8: 0.5}),
    BoundedRange(0.8),
    PoissonSampled(0.1, GaussianDP(1.0), 3),
    Composed([PureDP(0.3), BoundedRange(0.4)]),
    Composed([ApproxDP(0.3, 1e-7), GaussianDP(0.4)]),
]


def reachable(guarantee: Guarantee, kind: type[Guarantee]) -> bool:
    if isinstance(guarantee, Composed) and kind not in (RenyiDP, BoundedRange):
        return all(reachable(part, kind) for part in guarantee.parts)
    return isinstance(guarantee, kind) or (type(guarantee), kind) in CONVERSIONS


@pytest.mark.parametrize("guarantee", SAMPLES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_conversion_weakens_or_is_refused(
    guarantee: Guarantee, kind: type[Guarantee]
) -> None:
    """Whatever follows from a guarantee must promise no more than it did, at every δ,
    order and ε.
    """
    if not reachable(guarantee, kind):
        with pytest.raises(
            NoConversion, match=r"does not follow from \w+; convert it .*delta"
        ):
            guarantee.to(kind)
        return
    weaker = guarantee.to(kind)
    assert isinstance(weaker, kind)
    assert weaker.unit == guarantee.unit
    assert weaker.delta_part >= guarantee.delta_part
    for delta in (1e-5, 1e-3, 1e-2):
        assert weaker.epsilon_at(delta) >= guarantee.epsilon_at(delta) * (1 - 2e-3)
    for order in (1.5, 2.0, 6.0):
        assert weaker.renyi(order) >= guarantee.renyi(order) * (1 - 1e-9)


def test_the_numbers() -> None:
    assert PureDP(1.0).to(ApproxDP) == ApproxDP(1.0, 0.0)
    assert PureDP(1.0).to(BoundedRange) == BoundedRange(2.0)
    assert BoundedRange(1.0).to(ZeroConcentratedDP) == ZeroConcentratedDP(0.125)
    assert BoundedRange(1.0).to(PureDP) == PureDP(1.0)
    assert GaussianDP(0.5).to(ZeroConcentratedDP) == ZeroConcentratedDP(0.125)
    assert PureDP(1.0).to(GaussianDP).mu == pytest.approx(1.232035385, rel=1e-8)
    assert PureDP(1.0).to(ZeroConcentratedDP).rho == pytest.approx(0.46211716, rel=1e-7)
    assert Composed([GaussianDP(3.0), GaussianDP(4.0)]).to(
        GaussianDP
    ).mu == pytest.approx(5.0)
    assert Composed([PureDP(0.1), PureDP(0.2)]).to(PureDP).epsilon >= 0.3


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.5, 2.0, 20.0])
def test_pure_rho_covers_every_order_and_is_attained_near_one(epsilon: float) -> None:
    pair = randomized_response(epsilon)
    for order in (1.001, 1.5, 3.0, 30.0, 1000.0):
        assert renyi_divergence(pair, order) <= pure_rho(epsilon) * order
    assert renyi_divergence(pair, 1 + 1e-6) >= pure_rho(epsilon) * (1 - 1e-4)


def test_there_is_no_way_back() -> None:
    for guarantee, kind in (
        (GaussianDP(1.0), PureDP),
        (ZeroConcentratedDP(1.0), GaussianDP),
        (RenyiDP({2: 1.0}), ZeroConcentratedDP),
        (ApproxDP(1.0, 1e-6), PureDP),
        (PoissonSampled(0.1, GaussianDP(1.0)), GaussianDP),
    ):
        assert (type(guarantee), kind) not in CONVERSIONS
        with pytest.raises(NoConversion, match=r"does not follow from"):
            guarantee.to(kind)


def test_epsilon_and_delta_are_read_off_at_a_delta() -> None:
    assert GaussianDP(1.0).to(ApproxDP, 1e-6) == GaussianDP(1.0).approx(1e-6)
    with pytest.raises(NoConversion, match=r"\.approx\(delta\)"):
        GaussianDP(1.0).to(ApproxDP)


def test_a_kind_must_be_a_guarantee() -> None:
    with pytest.raises(ArgumentError, match=r"^kind .*pass PureDP"):
        PureDP(1.0).to(float)  # type: ignore[type-var]


def test_bounded_ranges_do_not_add_up() -> None:
    """The second mechanism is chosen by the first one's answer: two ranges of 1 make
    one of 3.
    """

    def two_points(top: float) -> list[tuple[mpf, mpf]]:
        """Log-ratios `top` and `top` − 1."""
        high, low = mp.e ** mpf(top), mp.e ** mpf(top - 1)
        there = (1 - low) / (high - low)
        return [(there * high, there), ((1 - there) * low, 1 - there)]

    first, after = two_points(0.5), (two_points(0.999), two_points(0.001))
    pairs = [
        (p * a, q * b)
        for (p, q), then in zip(first, after, strict=True)
        for a, b in then
    ]
    ratios = [mp.log(p / q) for p, q in pairs]
    assert max(ratios) - min(ratios) > 2.99
    both = Composed([BoundedRange(1.0), BoundedRange(1.0)])
    with pytest.raises(
        NoConversion,
        match=r"BoundedRange does not follow from Composed; convert it to .*PureDP",
    ):
        both.to(BoundedRange)
    assert both.to(PureDP).to(BoundedRange) == BoundedRange(4.0)
    for kind in (PureDP, ZeroConcentratedDP, GaussianDP):
        for epsilon in (0.1, 0.7, 1.4):
            assert hockey_stick(pairs, epsilon) <= both.to(kind).delta_at(epsilon)
