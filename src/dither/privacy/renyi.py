"""From Rényi losses to (ε, δ), with the tight conversion and the best order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from dither.errors import NoConversion
from dither.privacy.numbers import LIBM, TINY, up

Curve = Callable[[float], float]

_TENTHS = [1.0 + step / 10.0 for step in range(1, 100)]
_WHOLE = [float(order) for order in range(11, 65)]

WIDE_ORDERS = tuple(
    sorted(
        {
            *(1.0 + 10.0 ** (power / 12.0) for power in range(-48, 121)),
            *_TENTHS,
            *_WHOLE,
        }
    )
)
"""For curves in closed form: cheap at any order, so the grid reaches from 1.0001 to
1e10.
"""

SAMPLED_ORDERS = (
    1.02,
    1.05,
    *_TENTHS,
    *_WHOLE,
    72.0,
    80.0,
    96.0,
    112.0,
    *(128.0 * 2 ** (p / 2.0) // 1 for p in range(9)),
)
"""For sampled mechanisms, whose loss is a sum over the order: a superset of what other
accountants search.
"""


def epsilon_from_loss(order: float, loss: float, delta: float) -> float:
    """ε for a wanted δ from one Rényi loss, rounded up.

    Guarantee: a mechanism with this loss at this order is (ε, δ)-DP.
    Why: Canonne,
    Kamath, Steinke 2020, proposition 12: ε = τ + ln((α−1)/α) − (ln δ + ln α)/(α−1). If
    the loss is so small that δ² ≥ 1 − e^(−τ), the total variation distance is at most δ
    (Bretagnolle & Huber) and ε = 0.
    """
    if loss < 1.0 and -math.expm1(-loss) * (1.0 + 4.0 * LIBM) <= delta * delta:
        return 0.0
    parts = (
        loss,
        math.log1p(-1.0 / order),
        -math.log(delta) / (order - 1.0),
        -math.log(order) / (order - 1.0),
    )
    return max(sum(parts) + 16.0 * LIBM * sum(map(abs, parts)), 0.0)


def delta_from_loss(order: float, loss: float, epsilon: float) -> float:
    """δ for a wanted ε from one Rényi loss, rounded up: the same conversion, solved for
    δ.
    """
    steps = order - 1.0
    parts = (
        steps * loss,
        -steps * epsilon,
        steps * math.log1p(-1.0 / order),
        -math.log(order),
    )
    exponent = sum(parts) + 16.0 * LIBM * sum(map(abs, parts))
    return min(up(math.exp(exponent)) + TINY, 1.0) if exponent < 0.0 else 1.0


def best_epsilon(
    curve: Curve,
    delta: float,
    orders: Sequence[float] = WIDE_ORDERS,
    refine: bool = True,
    floor: Curve | None = None,
) -> float:
    """The smallest ε over the orders, each of which gives a valid one. `floor` is never
    above the curve: orders at which even that is too much are left out.
    """

    def bound(loss: Curve) -> Curve:
        return lambda order: epsilon_from_loss(order, loss(order), delta)

    return _smallest(bound(curve), orders, refine, floor and bound(floor))


def best_delta(
    curve: Curve,
    epsilon: float,
    orders: Sequence[float] = WIDE_ORDERS,
    refine: bool = True,
    floor: Curve | None = None,
) -> float:
    """The smallest δ over the orders, each of which gives a valid one."""

    def bound(loss: Curve) -> Curve:
        return lambda order: delta_from_loss(order, loss(order), epsilon)

    return _smallest(bound(curve), orders, refine, floor and bound(floor))


def _smallest(
    bound: Curve, orders: Sequence[float], refine: bool, floor: Curve | None
) -> float:
    value, best = smallest(bound, orders, floor)
    if not refine:
        return value
    low, high = orders[max(best - 1, 0)], orders[min(best + 1, len(orders) - 1)]
    return min(value, _golden(bound, low - 1.0, high - 1.0))


def smallest(
    bound: Curve, orders: Sequence[float], floor: Curve | None = None
) -> tuple[float, int]:
    """The smallest value, and the first place that has it. With a floor, the most
    promising orders are tried first, until no other can be better.
    """
    floors = [-math.inf if floor is None else floor(order) for order in orders]
    best = math.inf, 0
    for place in sorted(range(len(orders)), key=floors.__getitem__):
        if floors[place] > best[0]:
            break
        best = min(best, (bound(orders[place]), place))
    return best


def _golden(bound: Curve, low: float, high: float) -> float:
    """The best of 24 golden-section probes of order − 1 between two values, on a
    logarithmic scale.
    """
    left, right, ratio = math.log(low), math.log(high), (math.sqrt(5.0) - 1.0) / 2.0
    best = math.inf
    for _ in range(12):
        width = ratio * (right - left)
        near, far = (
            bound(1.0 + math.exp(right - width)),
            bound(1.0 + math.exp(left + width)),
        )
        best = min(best, near, far)
        left, right = (left, left + width) if near < far else (right - width, right)
    return best


def interpolated(losses: Sequence[tuple[float, float]], order: float) -> float:
    """The loss at an order between listed ones.

    Why: the loss grows with the order, so a higher listed one covers a lower; and
    (α−1)·loss is convex in α (van Erven & Harremoës 2014), so the chord between two
    listed orders lies above it.
    """
    above = next((pair for pair in losses if pair[0] >= order), None)
    if above is None:
        raise NoConversion(
            "order",
            f"must be at most {losses[-1][0]:g}, the highest listed order, not "
            f"{order:g}; list losses at higher orders",
        )
    below = max((pair for pair in losses if pair[0] < order), default=None)
    if above[0] == order or below is None:
        return above[1]
    weight = (order - below[0]) / (above[0] - below[0])
    chord = (1.0 - weight) * (below[0] - 1.0) * below[1] + weight * (
        above[0] - 1.0
    ) * above[1]
    return min(above[1], up(up(chord) / (order - 1.0)))
