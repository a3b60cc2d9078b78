"""What a question may cost, and how that is split over what it measures, by public
scales only (rules R2 and R4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dither.cost import Cost
from dither.errors import ArgumentError
from dither.ledger.terms import ATTO, Accounting, Terms
from dither.mechanisms import Additive, Gaussian, Laplace
from dither.privacy import GaussianDP, Guarantee, PureDP, gaussian_mu
from dither.privacy.numbers import at_most, float_down, fraction, positive, written

__all__ = ["Spend", "afford"]

KEYS_PART = Fraction(1, 2)
RADIUS_PART = Fraction(1, 12)
HIDDEN_PART = {
    "total": Fraction(1, 3),
    "units": Fraction(1, 3),
    "moments": Fraction(7, 12),
    "tree": Fraction(1, 4),
}
"""What measuring the part that clipping cuts off gets, by the kind of vector:
docs/proofs/intervals.md says why.
"""
SIGNED_PART = Fraction(5, 6)
"""The same for sums of values of both signs, whose intervals have what was cut off on
both sides.
"""
VALUES = 16
"""For how many different values one unit counts where nothing else is stated or
declared.
"""
DELTA_PART = 100
"""A question with private keys carries this part of the account's δ: fifty such
questions fit.
"""
TOO_SMALL = (
    "is too small: the noise would not fit 64-bit integers; ask for "
    "more, or for narrower bounds"
)


@dataclass(frozen=True)
class Spend:
    """The noise to use: Laplace with an ε in all, or Gaussian with a μ in all, and a δ
    where keys are private.
    """

    gaussian: bool
    total: float
    delta: float
    guarantee: Guarantee

    def part(self, weight: Fraction) -> float:
        """The ε or μ of a part of the cost, rounded down; parts that add up to 1 never
        cost more than the whole.
        """
        exact = (
            Fraction(self.total) * _root_down(weight)
            if self.gaussian
            else at_most(self.total) * weight
        )
        found = float_down(exact)
        if not found:
            raise ArgumentError("epsilon", TOO_SMALL)
        return found

    def additive(
        self,
        sensitivity: int,
        weight: Fraction,
        plugin: Callable[..., Additive] | None = None,
    ) -> Additive:
        """Noise for integers that one unit moves by so much, in L1 for Laplace and L2
        for Gaussian noise.
        """
        unit, size = self.guarantee.unit, float(sensitivity)
        if plugin is not None:
            return plugin(sensitivity=size, epsilon=self.part(weight), unit=unit)
        if self.gaussian:
            return Gaussian(sensitivity=size, mu=self.part(weight), unit=unit)
        return Laplace(sensitivity=size, epsilon=self.part(weight), unit=unit)


def _root_down(weight: Fraction) -> Fraction:
    scaled = weight * (1 << 128)
    return Fraction(math.isqrt(scaled.numerator // scaled.denominator), 1 << 64)


def afford(cost: Cost, terms: Terms, *, keys: bool) -> Sequence[Spend]:
    """The ways to spend what was stated: with Laplace noise, with Gaussian noise, or
    with either.
    """
    delta = terms.total.delta
    if keys and not delta:
        raise ArgumentError(
            "keys",
            "are private here, and naming them needs a δ; declare the keys, "
            "or open the account with a delta (or a population, from which it follows)",
        )
    ways: list[Spend] = []
    if not keys and cost.rho is None:
        ways.append(_laplace(_epsilon(cost, terms), terms))
    if delta:
        ways.append(_gaussian(cost, terms, keys=keys))
    if not ways:
        raise ArgumentError(
            "rho",
            "needs Gaussian noise, but the account is pure; state epsilon or share",
        )
    return ways


def _laplace(epsilon: float, terms: Terms) -> Spend:
    guarantee = PureDP(epsilon, unit=terms.unit)
    return Spend(False, guarantee.epsilon, 0.0, guarantee)


def _gaussian(cost: Cost, terms: Terms, *, keys: bool) -> Spend:
    carried = float_down(written(terms.total.delta) / DELTA_PART) if keys else 0.0
    if cost.share is not None:
        part = _part(cost.share)
        carried = float_down(part * Fraction(terms.delta_cap, ATTO)) if keys else 0.0
        mu = _largest(terms, part)
    elif cost.rho is not None:
        mu = float_down(
            _root_down(
                2 * Fraction(positive("rho", cost.rho, "pass a rho such as 0.1"))
            )
        )
    else:
        delta = float_down(written(terms.total.delta) - written(carried))
        mu = gaussian_mu(PureDP(_stated(cost)).epsilon, delta)
    return Spend(True, mu, carried, GaussianDP(mu, carried, unit=terms.unit))


def _stated(cost: Cost) -> float:
    return 0.0 if cost.epsilon is None else cost.epsilon


def _part(share: float) -> Fraction:
    part = fraction("share", share, "pass a part of the account such as 0.1")
    if not 0 < part <= 1:
        raise ArgumentError(
            "share", "must lie in (0, 1]; pass a part of the account such as 0.1"
        )
    return part


def _epsilon(cost: Cost, terms: Terms) -> float:
    """The ε of a pure answer for what was stated."""
    if cost.share is None:
        return PureDP(_stated(cost)).epsilon
    part = _part(cost.share)
    if terms.accounting is Accounting.PURE:
        return float_down(part * written(terms.total.epsilon))
    return _search(
        lambda epsilon: (
            terms.cost(PureDP(epsilon, unit=terms.unit)).loss <= part * terms.loss_cap
        )
    )


def _largest(terms: Terms, part: Fraction) -> float:
    return _search(
        lambda mu: (
            terms.cost(GaussianDP(mu, unit=terms.unit)).loss <= part * terms.loss_cap
        )
    )


def _search(fits: Callable[[float], bool]) -> float:
    """The largest number, within a millionth, that still fits."""
    low, high = 1e-9, 1e3
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _safe(fits, middle) else (low, middle)
    return low


def _safe(fits: Callable[[float], bool], value: float) -> bool:
    try:
        return fits(value)
    except ArgumentError:
        return False
