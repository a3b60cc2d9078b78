"""Promises stated as whole curves: zero-concentrated, Gaussian and Rényi differential
privacy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from dither.by_name import constructed
from dither.errors import ArgumentError, NoConversion
from dither.privacy.gaussian import gaussian_delta, gaussian_epsilon
from dither.privacy.guarantees import Guarantee
from dither.privacy.losses import gaussian_loss
from dither.privacy.numbers import (
    Number,
    float_down,
    float_up,
    not_negative,
    positive,
    renyi_order,
    small_probability,
    up,
)
from dither.privacy.renyi import best_delta, best_epsilon, interpolated
from dither.privacy.units import ROW, Unit

Losses = Mapping[float, float] | Iterable[tuple[float, float]]


@dataclass(frozen=True)
class _Carrying(Guarantee):
    """A guarantee that may carry a δ of its own."""

    @property
    def delta_part(self) -> float:
        return float(getattr(self, "delta", 0.0))

    def _checked_delta(self) -> None:
        object.__setattr__(
            self, "delta", small_probability("delta", self.delta_part, zero=True)
        )

    def _no_delta_in_groups(self) -> None:
        if self.delta_part:
            raise self._refuse_group(
                f"{self._kind()} with a δ of its own does not extend to groups"
            )

    def _also_delta(self) -> str:
        return f", δ = {self.delta_part:.6g}" if self.delta_part else ""


@constructed("ZeroConcentratedDP(rho=0.5)")
@dataclass(frozen=True)
class ZeroConcentratedDP(_Carrying):
    """ρ-zCDP: the Rényi loss is at most ρ·α at every order α (Bun & Steinke 2016)."""

    rho: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(
            self, "rho", positive("rho", self.rho, "pass a finite ρ such as 0.1")
        )
        self._checked_delta()

    def _loss(self, order: float) -> float:
        return up(self.rho * order)

    def _group(self, size: int) -> ZeroConcentratedDP:
        self._no_delta_in_groups()
        return replace(self, rho=float_up(size * size * Fraction(self.rho)))

    @property
    def measure(self) -> str:
        return f"ρ = {self.rho:.6g} (zCDP){self._also_delta()}"


@constructed("GaussianDP(mu=1.0)")
@dataclass(frozen=True)
class GaussianDP(_Carrying):
    """μ-GDP: neighbours are at most as easy to tell apart as N(0, 1) and N(μ, 1) (Dong,
    Roth, Su 2022).
    """

    mu: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(
            self,
            "mu",
            positive(
                "mu", self.mu, "pass sensitivity / standard deviation, such as 0.5"
            ),
        )
        self._checked_delta()

    def _loss(self, order: float) -> float:
        return gaussian_loss(self.mu, order)

    def _epsilon(self, delta: float) -> float:
        return (
            gaussian_epsilon(self.mu, delta) if delta > 0.0 else super()._epsilon(delta)
        )

    def _delta(self, epsilon: float) -> float:
        return gaussian_delta(self.mu, epsilon)

    def _group(self, size: int) -> GaussianDP:
        self._no_delta_in_groups()
        return replace(self, mu=float_up(size * Fraction(self.mu)))

    @property
    def measure(self) -> str:
        return f"μ = {self.mu:.6g} (Gaussian){self._also_delta()}"


@dataclass(frozen=True, init=False)
class RenyiDP(_Carrying):
    """Rényi losses at listed orders (Mironov 2017), given as a mapping or pairs order →
    loss.
    """

    losses: tuple[tuple[float, float], ...]
    delta: float = 0.0

    def __init__(
        self, losses: Losses, delta: Number = 0.0, *, unit: Unit = ROW
    ) -> None:
        object.__setattr__(self, "losses", _listed(losses))
        object.__setattr__(self, "delta", delta)
        object.__setattr__(self, "unit", unit)
        super().__post_init__()
        self._checked_delta()

    @property
    def orders(self) -> tuple[float, ...]:
        """The orders that are listed."""
        return tuple(order for order, _ in self.losses)

    def _loss(self, order: float) -> float:
        return interpolated(self.losses, order)

    def _epsilon(self, delta: float) -> float:
        if delta <= 0.0:
            return super()._epsilon(delta)
        return best_epsilon(self._loss, delta, self.orders, refine=len(self.orders) > 1)

    def _delta(self, epsilon: float) -> float:
        return best_delta(self._loss, epsilon, self.orders, refine=len(self.orders) > 1)

    def _group(self, size: int) -> RenyiDP:
        self._no_delta_in_groups()
        doublings = (size - 1).bit_length()
        losses = self.losses
        for _ in range(doublings):
            losses = _for_two(losses)
        if not losses:
            raise NoConversion(
                "size",
                f"the loss of a group of {size} follows only from orders above "
                f"{2**doublings}; list losses at higher orders",
            )
        return replace(self, losses=losses)

    @property
    def measure(self) -> str:
        shown = ", ".join(
            f"{loss:.4g} at order {order:g}" for order, loss in self.losses[:3]
        )
        more = f" and {len(self.losses) - 3} more" if len(self.losses) > 3 else ""
        return f"Rényi loss {shown}{more}{self._also_delta()}"


def _listed(losses: Losses) -> tuple[tuple[float, float], ...]:
    pairs = losses.items() if isinstance(losses, Mapping) else losses
    try:
        listed = sorted(
            (
                renyi_order(order, float_down),
                not_negative("losses", loss, "pass losses of at least 0"),
            )
            for order, loss in pairs
        )
    except TypeError:
        raise ArgumentError(
            "losses", "must map orders to losses; pass a dict such as {2: 0.1, 8: 0.5}"
        ) from None
    if not listed or any(one[0] == other[0] for one, other in pairwise(listed)):
        raise ArgumentError(
            "losses",
            "must list at least one order, and each order once; pass for example "
            "{2: 0.1, 8: 0.5}",
        )
    return tuple(listed)


def _for_two(
    losses: tuple[tuple[float, float], ...],
) -> tuple[tuple[float, float], ...]:
    """Losses for pairs of units, at half the orders.

    Why: the weak triangle inequality (Mironov 2017, proposition 11) with both Hölder
    exponents 2: D_α(P‖R) ≤ (α−½)/(α−1)·D_2α(P‖Q) + D_(2α−1)(Q‖R), and the last is at
    most D_2α(Q‖R).
    """
    halved = [(order / 2.0, loss) for order, loss in losses if order > 2.0]
    return tuple(
        (half, up(loss * ((half - 0.5) / (half - 1.0) + 1.0)))
        for half, loss in halved
        if math.isfinite(half)
    )
