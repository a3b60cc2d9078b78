"""A list of guarantees sorted by what composes with what: Gaussians add up exactly, and
equal mechanisms are counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from dither.errors import ArgumentError
from dither.privacy.composite import PoissonSampled, flatten
from dither.privacy.concentrated import GaussianDP, RenyiDP, ZeroConcentratedDP
from dither.privacy.conversions import pure_rho
from dither.privacy.declared import Declared
from dither.privacy.fixed_size import FixedSizeSampled
from dither.privacy.gaussian import pure_mu
from dither.privacy.guarantees import ApproxDP, BoundedRange, Guarantee, PureDP
from dither.privacy.laplace import LaplaceDP
from dither.privacy.losses import (
    bounded_range_loss,
    fixed_size_loss,
    gaussian_loss,
    laplace_loss,
    pure_loss,
    sampled_gaussian_floor,
    sampled_gaussian_loss,
)
from dither.privacy.numbers import float_up, up, written
from dither.privacy.renyi import SAMPLED_ORDERS, WIDE_ORDERS


@dataclass
class Bundle:
    """Sums and counts of the parts. The δs that parts carry are kept apart, as exact
    fractions.
    """

    parts: int = 0
    gaussians: list[float] = field(default_factory=list)
    pure: Counter[float] = field(default_factory=Counter)
    ranges: Counter[float] = field(default_factory=Counter)
    laplaces: Counter[float] = field(default_factory=Counter)
    sampled: Counter[tuple[float, float]] = field(default_factory=Counter)
    fixed: Counter[tuple[float, float]] = field(default_factory=Counter)
    listed: list[RenyiDP] = field(default_factory=list)
    rho: Fraction = Fraction(0)
    carried: Fraction = Fraction(0)

    def add(self, part: Guarantee) -> None:
        if isinstance(part, Declared):
            # Charged with a δ of its own, but composed by all that is known of it
            for each in flatten([part.of]):
                self.add(each)
            return
        self.parts += 1
        match part:
            case GaussianDP():
                self.gaussians.append(part.mu)
            case LaplaceDP():
                self.laplaces[part.epsilon] += 1
            case PureDP() | ApproxDP():
                self.pure[part.epsilon] += 1
            case BoundedRange():
                self.ranges[part.epsilon] += 1
            case PoissonSampled():
                self._add_steps(self.sampled, part.of.mu, part.rate, part.steps)
            case FixedSizeSampled():
                self._add_steps(self.fixed, part.of.mu, part.rate, part.steps)
            case ZeroConcentratedDP():
                self.rho += Fraction(part.rho)
            case RenyiDP():
                self.listed.append(part)
            case _:
                raise ArgumentError(
                    "guarantees",
                    f"{type(part).__name__} cannot be composed; convert it with "
                    ".approx(delta), or .within(diameter) if it is metric",
                )
        if part.delta_part:
            self.carried += written(part.delta_part)

    def _add_steps(
        self,
        counted: Counter[tuple[float, float]],
        mu: float,
        rate: float,
        steps: int,
    ) -> None:
        if rate < 1.0:
            counted[mu, rate] += steps
        else:
            # Without sampling these are plain Gaussian steps, whose μ² add up.
            self.gaussians.append(up(mu * math.sqrt(steps)))

    @cached_property
    def mu(self) -> float:
        """Gaussians compose exactly: μ² adds up (Dong, Roth, Su 2022, corollary 2).
        Asked for once all are added.
        """
        return (
            up(math.hypot(*self.gaussians))
            if len(self.gaussians) > 1
            else sum(self.gaussians)
        )

    @property
    def bounded(self) -> Counter[float]:
        """All parts with an ε of their own; a bounded range is treated as pure."""
        return self.pure + self.ranges + self.laplaces

    @property
    def worst(self) -> Counter[float]:
        """Parts that are pure and no more is known of: each is treated as randomized
        response.
        """
        return self.pure + self.ranges

    @property
    def on_samples(self) -> bool:
        return bool(self.sampled or self.fixed)

    @property
    def only_gaussian(self) -> bool:
        return len(self.gaussians) == self.parts

    @property
    def only_bounded(self) -> bool:
        return not (self.gaussians or self.on_samples or self.listed or self.rho)

    @property
    def has_gaussian_form(self) -> bool:
        """Whether every part is μ-GDP for some μ."""
        return not (self.on_samples or self.listed or self.rho)

    @property
    def has_rho(self) -> bool:
        """Whether every part is ρ-zCDP for some ρ."""
        return not (self.on_samples or self.listed)

    @property
    def has_dominating_pairs(self) -> bool:
        return not (self.listed or self.rho)

    def basic_epsilon(self) -> Fraction:
        """The sum of the ε as they are written."""
        return sum(
            (count * written(epsilon) for epsilon, count in self.bounded.items()),
            Fraction(0),
        )

    def total_mu(self) -> float:
        squares = [
            count * pure_mu(epsilon) ** 2 for epsilon, count in self.bounded.items()
        ]
        return up(math.sqrt(math.fsum([self.mu**2, *squares])))

    def total_rho(self) -> float:
        exact = self.rho + Fraction(self.mu) ** 2 / 2
        exact += sum(
            (
                count * Fraction(pure_rho(epsilon))
                for epsilon, count in (self.pure + self.laplaces).items()
            ),
            Fraction(0),
        )
        exact += sum(
            (
                count * Fraction(epsilon) ** 2 / 8
                for epsilon, count in self.ranges.items()
            ),
            Fraction(0),
        )
        return float_up(exact)

    def loss(self, order: float) -> float:
        """The Rényi loss of all parts together: losses at one order add up."""
        return self._loss(order, sampled_gaussian_loss)

    def floor(self, order: float) -> float:
        """No more than `loss`, and cheap where steps are sampled."""
        return self._loss(order, sampled_gaussian_floor)

    def _loss(
        self, order: float, of_sampled: Callable[[float, float, float], float]
    ) -> float:
        terms = [
            gaussian_loss(self.mu, order) if self.gaussians else 0.0,
            float(self.rho) * order,
        ]
        terms += [
            count * pure_loss(epsilon, order) for epsilon, count in self.pure.items()
        ]
        terms += [
            count * bounded_range_loss(epsilon, order)
            for epsilon, count in self.ranges.items()
        ]
        terms += [
            count * laplace_loss(epsilon, order)
            for epsilon, count in self.laplaces.items()
        ]
        terms += [
            steps * of_sampled(mu, rate, order)
            for (mu, rate), steps in self.sampled.items()
        ]
        terms += [
            steps * fixed_size_loss(mu, rate, order)
            for (mu, rate), steps in self.fixed.items()
        ]
        terms += [part.renyi(order) for part in self.listed]
        return up(math.fsum(terms))

    def orders(self) -> tuple[float, ...]:
        orders = SAMPLED_ORDERS if self.on_samples else WIDE_ORDERS
        if not self.listed:
            return orders
        highest = min(part.orders[-1] for part in self.listed)
        listed = {
            order for part in self.listed for order in part.orders if order <= highest
        }
        return tuple(sorted(listed | {order for order in orders if order <= highest}))


def bundle_of(parts: Iterable[Guarantee]) -> Bundle:
    bundle = Bundle()
    for part in parts:
        bundle.add(part)
    return bundle
