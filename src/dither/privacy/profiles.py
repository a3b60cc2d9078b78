"""What each of several declared runs promises, with their whole privacy profiles: δ by ε
from one numerical composition each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dither.errors import ArgumentError, NoConversion
from dither.privacy.concentrated import GaussianDP
from dither.privacy.guarantees import Guarantee
from dither.privacy.loss_grid import Reals
from dither.privacy.numbers import up
from dither.privacy.truncated import truncation
from dither.privacy.units import Unit, common_unit

__all__ = ["AnyOf"]

RAREST = 1e-15
"""A profile is known down to about this δ."""
ROUNDING = 2.0**-30


@dataclass(frozen=True, init=False)
class AnyOf(Guarantee):
    """One of several mechanisms, drawn at random or chosen by public facts.

    Guarantee: what each of them promises; at each δ and each order the worst.
    Why: divergences of a mixture, drawn without looking at data, are at most the largest
    of its parts' (joint quasi-convexity).
    """

    parts: tuple[Guarantee, ...]

    def __init__(self, parts: Iterable[Guarantee], *, unit: Unit | None = None) -> None:
        listed = tuple(dict.fromkeys(parts))
        if not listed or any(part.delta_part for part in listed):
            raise ArgumentError(
                "parts",
                "must be guarantees without a δ of their own; pass for example "
                "[PureDP(0.5)]",
            )
        object.__setattr__(self, "parts", listed)
        found = common_unit((part.unit for part in listed), "parts")
        object.__setattr__(self, "unit", found if unit is None else unit)
        super().__post_init__()

    @property
    def measure(self) -> str:
        return f"the weakest of {len(self.parts)} guarantees"

    def _loss(self, order: float) -> float:
        return max(part.renyi(order) for part in self.parts)

    def _epsilon(self, delta: float) -> float:
        return max(_epsilon(part, delta) for part in self.parts)

    def _delta(self, epsilon: float) -> float:
        return max(_delta(part, epsilon) for part in self.parts)

    def _group(self, size: int) -> Guarantee:
        return AnyOf([part.for_group(size) for part in self.parts])


@dataclass(frozen=True)
class Profile:
    """One direction: points of a curve that lies above the hockey-stick divergences."""

    losses: Reals
    deltas: Reals

    def delta(self, epsilon: float) -> float:
        """Divergences are convex in e^ε and fall by at most its change, so chords between
        points are above them, and so is a line of slope -1 before the first.
        """
        first = float(self.losses[0])
        if epsilon < first:
            return float(self.deltas[0]) + math.expm1(first) - math.expm1(epsilon)
        place = int(np.searchsorted(self.losses, epsilon, side="right")) - 1
        if place + 1 >= self.losses.size:
            return float(self.deltas[-1])
        low, high = (math.exp(self.losses[place + i]) for i in (0, 1))
        part = min(max((math.exp(epsilon) - low) / (high - low), 0.0), 1.0)
        one, other = (float(self.deltas[place + i]) for i in (0, 1))
        return one + part * (other - one)

    def epsilon(self, delta: float) -> float:
        """The first point that is as rare; infinity if none is."""
        place = int(np.searchsorted(-self.deltas, -delta))
        return float(self.losses[place]) if place < self.losses.size else math.inf


@lru_cache(maxsize=512)
def _profiles(part: Guarantee) -> tuple[Profile, ...]:
    """Both directions; none if closed forms are better or the grid cannot say."""
    if isinstance(part, GaussianDP):
        return ()
    try:
        sides = truncation(part, 2, RAREST).sides
    except NoConversion:
        return ()
    return tuple(Profile(side.cuts, side.deltas) for side in sides)


def _delta(part: Guarantee, epsilon: float) -> float:
    known = _profiles(part)
    if not known:
        return part._delta(epsilon)
    found = max(one.delta(epsilon) for one in known)
    return min(up(found * (1.0 + ROUNDING)), 1.0)


def _epsilon(part: Guarantee, delta: float) -> float:
    found = max((one.epsilon(delta) for one in _profiles(part)), default=math.inf)
    return up(found) if math.isfinite(found) else part.epsilon_at(delta)
