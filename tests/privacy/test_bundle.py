from __future__ import annotations

import pytest

from dither.errors import ArgumentError
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
from dither.privacy.bundle import bundle_of

ALL: list[Guarantee] = [
    GaussianDP(0.3),
    GaussianDP(0.4, 1e-7),
    PureDP(0.1),
    ApproxDP(0.1, 1e-7),
    BoundedRange(0.2),
    PoissonSampled(0.1, GaussianDP(1.0), 5),
    PoissonSampled(1.0, GaussianDP(0.1), 4),
    ZeroConcentratedDP(0.01),
    RenyiDP({1.5: 0.1, 30: 0.4}),
]


def test_parts_are_sorted_and_counted() -> None:
    bundle = bundle_of(ALL)
    assert bundle.mu == pytest.approx((0.3**2 + 0.4**2 + 0.2**2) ** 0.5)
    assert bundle.pure == {0.1: 2}
    assert bundle.bounded == {0.1: 2, 0.2: 1}
    assert bundle.sampled == {(1.0, 0.1): 5}
    assert float(bundle.carried) == pytest.approx(2e-7)
    assert [
        bundle.has_rho,
        bundle.has_gaussian_form,
        bundle.has_dominating_pairs,
        bundle.only_bounded,
    ] == [False] * 4


@pytest.mark.parametrize("order", [1.4, 2.0, 8.0, 30.0])
def test_losses_add_up(order: float) -> None:
    assert bundle_of(ALL).loss(order) == pytest.approx(
        Composed(ALL).renyi(order), rel=1e-9
    )


def test_orders_stop_where_listed_losses_do() -> None:
    orders = bundle_of(ALL).orders()
    assert max(orders) == 30.0
    assert 1.5 in orders


def test_foreign_guarantees_are_refused() -> None:
    class Odd(Guarantee):
        pass

    with pytest.raises(ArgumentError, match=r"\.approx\(delta\)"):
        bundle_of([Odd()])  # type: ignore[abstract]
