"""Accuracy of scores that separate members from outsiders, next to the bound of a
guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dither.axes import Axes, Scale
from dither.explain.laws import gaussian_power, power
from dither.picture import Picture, Shape, Text
from dither.privacy import GaussianDP, Guarantee

__all__ = ["Allowed", "Roc"]

Reals = NDArray[np.float64]

LOSSES = [0.0, *(2.0**exponent for exponent in range(-8, 9))]
"""Where a guarantee's δ is looked up, if it is not Gaussian: any ε gives a bound."""
POINTS, STEPS = 201, 4000
SHOWN = 400


@dataclass(frozen=True)
class Roc:
    """The scores of people in the study and of others, higher where the attacker
    believes in membership, and the guarantee of what was attacked, if it has one.
    """

    members: Reals
    outsiders: Reals
    guarantee: Guarantee | None = None

    @cached_property
    def _placed(self) -> tuple[Reals, Reals]:
        """For each member the share of outsiders below, and for each outsider the share
        of members; a tie is a half.
        """
        return (
            _below(self.outsiders, self.members),
            1 - _below(self.members, self.outsiders),
        )

    @property
    def area(self) -> float:
        """The area under the curve: how often a member scores above an outsider. A
        coin has 0.5.
        """
        return float(self._placed[0].mean())

    @property
    def standard_error(self) -> float:
        """Of the area, over people (DeLong, DeLong & Clarke-Pearson 1988)."""
        parts = (one.var(ddof=1) / one.size for one in self._placed if one.size > 1)
        return math.sqrt(sum(parts))

    @property
    def bound(self) -> float | None:
        """The largest area that the guarantee allows, if a coin decided for each person
        whether they are in the study; Φ(μ/√2) for a Gaussian one.
        """
        return None if self.guarantee is None else Allowed(self.guarantee).area

    def rate(self, false_positives: float) -> float:
        """The share of members found where at most so many outsiders are accused."""
        allowed = math.floor(false_positives * self.outsiders.size)
        order = np.sort(self.outsiders)[::-1]
        line = order[allowed] if allowed < order.size else -math.inf
        return float((self.members > line).mean())

    def curve(self) -> tuple[Reals, Reals]:
        """False and true positive rates, from the highest score to the lowest."""
        lines = np.unique(np.concatenate([self.members, self.outsiders]))[::-1]
        rates = [
            1 - np.searchsorted(np.sort(one), lines) / one.size for one in self._both
        ]
        ends = [np.concatenate([[0.0], rate, [1.0]]) for rate in rates]
        return ends[1], ends[0]

    @property
    def _both(self) -> tuple[Reals, Reals]:
        return self.members, self.outsiders

    def plot(self, title: str = "Who is in the study?") -> Picture:
        """The curve, what the guarantee allows at most, and a coin."""
        axes = Axes(64, 40, 320, 320, Scale(0, 1), Scale(0, 1))
        shapes = [*self._drawn(axes), Text(64, 20, title, bold=True)]
        return Picture.of(408, 420, shapes, title)

    def _drawn(self, axes: Axes) -> Iterator[Shape]:
        yield from axes.frame("outsiders accused", "members found")
        false, true = self.curve()
        places = np.unique(np.linspace(0, false.size - 1, SHOWN).astype(int))
        yield axes.line(false[places], true[places], 0)
        names = [f"attack: area {self.area:.3f}"]
        if self.guarantee is not None:
            allowed, xs = Allowed(self.guarantee), np.linspace(0, 1, POINTS)
            yield axes.line(xs, [allowed.power(float(x)) for x in xs], 1)
            names.append(f"allowed: area {allowed.area:.3f}")
        yield axes.line((0, 1), (0, 1), 2 if len(names) == 2 else 1)
        yield from axes.legend([*names, "a coin: area 0.5"], left=130, top=258)


def _below(others: Reals, ones: Reals) -> Reals:
    ordered = np.sort(others)
    low = np.searchsorted(ordered, ones, side="left")
    high = np.searchsorted(ordered, ones, side="right")
    return (low + high) / (2 * max(ordered.size, 1))


@dataclass(frozen=True)
class Allowed:
    """The most that a guarantee allows any test to find."""

    guarantee: Guarantee

    @cached_property
    def _mu(self) -> float | None:
        gaussian = isinstance(self.guarantee, GaussianDP)
        if not gaussian or self.guarantee.delta_part:
            return None
        return cast("GaussianDP", self.guarantee).mu

    @cached_property
    def _promises(self) -> list[tuple[float, float]]:
        """(ε, δ) that hold: each of them bounds every test."""
        own = getattr(self.guarantee, "epsilon", None)
        losses = LOSSES if own is None else [*LOSSES, own]
        return [(loss, self.guarantee.delta_at(loss)) for loss in losses]

    def power(self, false_positives: float) -> float:
        """The largest share of members found at this rate of false positives."""
        if self._mu is not None:
            return gaussian_power(false_positives, self._mu)
        return min(power(false_positives, *one) for one in self._promises)

    @property
    def area(self) -> float:
        """The largest area under any test's curve."""
        if self._mu is not None:
            return NormalDist().cdf(self._mu / math.sqrt(2))
        # The most power grows with the rate, so each step lies below its right end.
        xs = np.linspace(0, 1, STEPS + 1)[1:]
        return min(1.0, float(np.mean([self.power(float(x)) for x in xs])))
