"""What a question may cost, and how that is split over what it measures, by public
scales only (rules R2 and R4).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dither.errors import ArgumentError
from dither.ledger.terms import ATTO, Accounting, Terms
from dither.mechanisms import Additive, Gaussian, Laplace
from dither.privacy import GaussianDP, Guarantee, PureDP, gaussian_mu
from dither.privacy.numbers import at_most, float_down, fraction, positive, written

__all__ = ["Asked", "Spend", "Wanted", "afford", "wanted_error"]

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
class Wanted:
    """A wanted error: ± width at a confidence."""

    width: float
    confidence: float = 0.95


@dataclass(frozen=True)
class Asked:
    """What the analyst stated: one way to say the cost, and how it is to be spent."""

    epsilon: float | None = None
    rho: float | None = None
    share: float | None = None
    error: Any = None
    expect: int | None = None
    shares: tuple[tuple[str, float], ...] = ()
    radius: tuple[tuple[str, float], ...] = ()
    groups: int = 16
    values: int | None = None
    mechanism: str | None = None
    fixed: bool = False
    """Whether every radius must be public: all that units have, where that is declared.
    """

    def __post_init__(self) -> None:
        stated = [
            name
            for name in ("epsilon", "rho", "share", "error")
            if getattr(self, name) is not None
        ]
        if len(stated) != 1:
            raise ArgumentError(
                "epsilon",
                (
                    "state what this may cost in one way: epsilon, rho, share of the "
                    "account, or error"
                ),
            )

    def at(self, epsilon: float) -> Asked:
        return replace(
            self, epsilon=epsilon, rho=None, share=None, error=None, fixed=True
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


def afford(asked: Asked, terms: Terms, *, keys: bool) -> Sequence[Spend]:
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
    if not keys and asked.rho is None:
        ways.append(_laplace(_epsilon(asked, terms), terms))
    if delta:
        ways.append(_gaussian(asked, terms, keys=keys))
    if not ways:
        raise ArgumentError(
            "rho",
            "needs Gaussian noise, but the account is pure; state epsilon or share",
        )
    return ways


def _laplace(epsilon: float, terms: Terms) -> Spend:
    guarantee = PureDP(epsilon, unit=terms.unit)
    return Spend(False, guarantee.epsilon, 0.0, guarantee)


def _gaussian(asked: Asked, terms: Terms, *, keys: bool) -> Spend:
    carried = float_down(written(terms.total.delta) / DELTA_PART) if keys else 0.0
    if asked.share is not None:
        part = _part(asked.share)
        carried = float_down(part * Fraction(terms.delta_cap, ATTO)) if keys else 0.0
        mu = _largest(terms, part)
    elif asked.rho is not None:
        mu = float_down(
            _root_down(
                2 * Fraction(positive("rho", asked.rho, "pass a rho such as 0.1"))
            )
        )
    else:
        delta = float_down(written(terms.total.delta) - written(carried))
        mu = gaussian_mu(PureDP(_stated(asked)).epsilon, delta)
    return Spend(True, mu, carried, GaussianDP(mu, carried, unit=terms.unit))


def _stated(asked: Asked) -> float:
    return 0.0 if asked.epsilon is None else asked.epsilon


def _part(share: float) -> Fraction:
    part = fraction("share", share, "pass a part of the account such as 0.1")
    if not 0 < part <= 1:
        raise ArgumentError(
            "share", "must lie in (0, 1]; pass a part of the account such as 0.1"
        )
    return part


def _epsilon(asked: Asked, terms: Terms) -> float:
    """The ε of a pure answer for what was stated."""
    if asked.share is None:
        return PureDP(_stated(asked)).epsilon
    part = _part(asked.share)
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


LONGEST = 100
ERROR = re.compile(r"\s*(?:±|\+/-|\+-)?\s*([0-9.eE+-]+)\s*(?:at\s+([0-9.]+)\s*%)?\s*")


def wanted_error(error: Any) -> Wanted:
    """A wanted error from a number or a text such as "±50 at 95%"."""
    way_out = 'pass the ± you can live with, such as 50 or "±50 at 95%"'
    if isinstance(error, str):
        found = ERROR.fullmatch(error) if len(error) <= LONGEST else None
        if found is None:
            raise ArgumentError("error", f"is not understood; {way_out}")
        width, level = (
            _number(found[1], way_out),
            _number(found[2] or "95", way_out) / 100,
        )
    else:
        width, level = error, 0.95
    if isinstance(error, bool):
        raise ArgumentError("error", f"must be a number; {way_out}")
    if not 0 < level < 1:
        raise ArgumentError(
            "error", f"has a confidence outside of 0 to 100 %; {way_out}"
        )
    return Wanted(positive("error", width, way_out), level)


def _number(text: str, way_out: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ArgumentError("error", f"is not understood; {way_out}") from None
