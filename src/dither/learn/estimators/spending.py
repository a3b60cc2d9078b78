"""What a fit may spend, and the noise that this buys.

Gaussian noise where the cost has a δ or is stated as ρ: parts of a fit compose exactly,
as squares of μ add up. Laplace noise where it is pure ε: parts add up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dither.errors import ArgumentError
from dither.learn.units import About, terms_of, unit_of
from dither.mechanisms import Additive, Gaussian, Laplace
from dither.mechanisms.sums import noise_variance
from dither.noise.shapes import LARGEST_SCALE
from dither.privacy import GaussianDP, PureDP, Unit, gaussian_mu
from dither.privacy.numbers import at_most, float_down, small_probability, written
from dither.question import Question

__all__ = ["Spending", "question_of", "quieter", "root_down"]

BITS = 64


def question_of(what: str, source: About, cost: dict[str, Any]) -> Question:
    """A question about units that come or go; an account about units that are replaced
    is charged what that is worth there (rule R7).
    """
    unit = unit_of(source, cost.get("budget"))
    question = Question.of(what, cost, unit=unit, dataset=source.dataset)
    return replace(question, unit=Unit(question.unit.name))


@dataclass(frozen=True)
class Spending:
    """What may be spent: `mu` on Gaussian noise, or `epsilon` on Laplace noise. One of
    the two is None if it is not available; if both are available, either can be spent.
    """

    unit: Unit
    mu: float | None = None
    epsilon: float | None = None
    equal: float | None = field(default=None, kw_only=True)
    """The μ that would cost the account as much as `epsilon`, where that differs."""

    @classmethod
    def of(cls, question: Question, delta: float | None) -> Spending:
        """What a question's cost buys. δ is the account's; without an account it is the
        stated one, and 0 if none is stated.
        """
        unit = question.unit
        if terms_of(question.account) is not None and delta is not None:
            raise ArgumentError(
                "delta", "is set by the account that pays; leave it out"
            )
        if question.rho is not None:
            return cls(unit, mu=Gaussian(sensitivity=1, rho=question.rho).mu)
        epsilon = PureDP(question.epsilon or 0.0).epsilon
        if question.delta:
            mu = question.mu
            return cls(unit, mu, epsilon, equal=equal_mu(question, mu, epsilon))
        stated = 0.0 if delta is None else small_probability("delta", delta, zero=True)
        return cls(unit, gaussian_mu(epsilon, stated) if stated else None, epsilon)

    @property
    def gaussian(self) -> bool:
        """Whether noise is Gaussian."""
        return self.mu is not None

    @property
    def guarantee(self) -> GaussianDP | PureDP:
        """What is promised where all of it is spent."""
        if self.mu is not None:
            return GaussianDP(self.mu, unit=self.unit)
        return PureDP(self.epsilon or 0.0, unit=self.unit)

    def parts(self, *shares: float) -> tuple[Spending, ...]:
        """Parts which together cost no more than all: of μ² or of ε."""
        exact = [written(share) for share in shares]
        if sum(exact) > 1:
            raise ValueError("the parts are more than the whole")
        return tuple(self._part(share) for share in exact)

    def each(self, count: int) -> Spending:
        """One of `count` equal parts of the cost."""
        return self._part(Fraction(1, count))

    def _part(self, share: Fraction) -> Spending:
        return Spending(
            self.unit,
            None
            if self.mu is None
            else float_down(at_most(self.mu) * root_down(share)),
            None if self.epsilon is None else float_down(at_most(self.epsilon) * share),
        )

    @property
    def ways(self) -> tuple[Spending, ...]:
        """The same on Gaussian noise alone and on pure noise alone, as far as each can be
        had. Fits that release one vector choose whichever is less for it.
        """
        alone = replace(self, equal=None)
        each = (replace(alone, epsilon=None), replace(alone, mu=None))
        return tuple(one for one in each if one.mu is not None or one.epsilon)

    def choose(self, blur: Callable[[Spending], float]) -> Spending:
        """The way whose noise, as `blur` measures it, is less for what it costs the
        account. If the cost is stated as ε, pure noise may cost an account with a δ
        several times as much as Gaussian noise: it is compared with Gaussian noise that
        costs as much, so that the account is not spent on too little (rule R16).
        """
        if self.mu is None or self.epsilon is None:
            return self
        gaussian, pure = self.ways
        equal = replace(gaussian, mu=self.equal or self.mu)
        return pure if blur(pure) < blur(equal) else gaussian

    def noise(self, l1: float, l2: float) -> Additive:
        """The mechanism for whole numbers with these sensitivities, in L1 and in L2."""
        found: Additive
        if self.mu is not None:
            found = Gaussian(sensitivity=l2, mu=self.mu, unit=self.unit)
        else:
            found = Laplace(sensitivity=l1, epsilon=self.epsilon or 0.0, unit=self.unit)
        if found.scale > LARGEST_SCALE:
            raise ArgumentError(
                "epsilon",
                "is too small, because the noise would not fit 64-bit integers; pass a "
                "larger epsilon",
            )
        return found


def quieter(spending: Spending, l1: float, l2: float) -> Spending:
    """The smaller kind of noise for a vector with these sensitivities, if both are
    available.
    """
    return spending.choose(lambda way: noise_variance(way.noise(l1, l2)))


def equal_mu(question: Question, mu: float, epsilon: float) -> float | None:
    """The μ that costs the account as much as pure ε does; None if there is nothing to
    compare. Losses of Gaussian noise grow with μ².
    """
    terms = terms_of(question.account)
    if terms is None or question.cost.share is not None:
        return None
    each = GaussianDP(mu, unit=question.unit), PureDP(epsilon, unit=question.unit)
    gaussian, pure = (terms.cost(question.owed(one)).loss for one in each)
    return mu * math.sqrt(pure / gaussian) if gaussian else None


def root_down(value: Fraction) -> Fraction:
    """A number just below the square root."""
    scaled = math.floor(value * (1 << (2 * BITS)))
    return Fraction(math.isqrt(scaled), 1 << BITS)
