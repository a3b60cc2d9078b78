"""What a question about frequencies will do, from public facts only: how the cost is
spent, and how large the noise will be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dither.cost import Cost
from dither.errors import ArgumentError
from dither.mechanisms import Additive, Gaussian
from dither.privacy import gaussian_epsilon
from dither.privacy.numbers import float_up, fraction
from dither.question import Question
from dither.science.genomes.clusters import Roster

__all__ = ["COMPLETE", "COUNTED", "Plan", "calls_of", "root_up"]

COUNTED, COMPLETE = "counted", "complete"
COARSE = 0.1
"""A frequency with a larger standard deviation than this says nothing."""
WEIGHTS = (7, 5)
"""How a sum and a count of calls weigh in the vector that is noised. Their ratio gives
the shortest intervals for frequencies anywhere between 0 and 1; the optimum is flat.
"""
MOST = 100_000_000
FINE = 64
"""With noise of so many steps, rounding it to integers hardly widens an interval."""


@dataclass(frozen=True)
class Plan:
    """The vector that is noised: (copies - 1) summed, and people called if that is
    charged, for each entry of the panel and each cluster.
    """

    question: Question
    panel: int
    roster: Roster
    calls: str | Fraction
    factor: int = 1

    @classmethod
    def of(
        cls, question: Question, panel: int, roster: Roster, calls: str | Fraction
    ) -> Plan:
        if panel * len(roster.names) > MOST:
            raise ArgumentError(
                "panel",
                f"panel and clusters give more than {MOST:,} frequencies; pass fewer "
                "variants or clusters",
            )
        plan = cls(question, panel, roster, calls)._for_error()
        if calls != COUNTED:
            return plan
        finer = max(0, math.ceil(math.log2(FINE / plan.mechanism.scale)))
        return replace(plan, factor=2 ** min(finer, 30))

    @property
    def counted(self) -> bool:
        return self.calls == COUNTED

    @property
    def weights(self) -> tuple[int, int]:
        """What sums and counts are multiplied with. A replaced person moves a sum by 2,
        or a sum and a count by 1 each, so counts of equal weight cost nothing then.
        """
        both = (1, 1) if self.question.replacing else WEIGHTS
        first, second = both if self.counted else (1, 0)
        return first * self.factor, second * self.factor

    @property
    def mechanism(self) -> Additive:
        """Noise for one person's whole vector: (copies - 1) is at most 1 away from 0 in
        each of the panel's entries, a call is 1, and both are in one cluster. If a
        person is replaced, (copies - 1) moves by 2 and the call stays, or both move by
        1.
        """
        first, second = self.weights
        l1, squared = first + second, first**2 + second**2
        if self.question.replacing:
            l1, squared = max(l1, 2 * first), max(squared, 4 * first**2)
        return self.question.vector(self.panel * l1, root_up(self.panel * squared))

    @property
    def variance(self) -> float:
        """The variance of the noise on one number, in its steps."""
        scale = self.mechanism.scale
        return scale**2 if self._gaussian else 2 * scale**2

    @property
    def _gaussian(self) -> bool:
        return isinstance(self.mechanism, Gaussian)

    @property
    def smallest(self) -> int:
        return int(self.roster.sizes.min())

    @property
    def deviation(self) -> float:
        """The standard deviation of a frequency in the smallest cluster, if all calls
        are there; the root of its mean square over all frequencies.
        """
        first, second = self.weights
        noise = self.variance / first**2
        if second:
            noise += self.variance / second**2 / 3
        return math.sqrt(noise) / (2 * self.smallest)

    def _for_error(self) -> Plan:
        """The plan with a wanted error turned into the cost that reaches it."""
        wanted = self.question.cost.wanted
        if wanted is None:
            return self
        pure = self.question.account is not None and not self.question.delta
        trial = Cost(epsilon=1.0) if pure else Cost(rho=1.0)
        plan = replace(self, question=replace(self.question, cost=trial))
        first, second = plan.weights
        # a frequency of 0 or 1 has the widest interval where calls are noised too
        steps = math.hypot(1 / first, 1 / second if second else 0)
        noise = plan.mechanism.error(wanted.confidence, size=1)
        more = noise * steps / (2 * plan.smallest) / wanted.width
        cost = Cost(epsilon=more) if pure else Cost(rho=more * more)
        return replace(self, question=replace(self.question, cost=cost))

    def check(self, coarse: bool) -> None:
        """Refuse a panel that is too large for the budget, and say what would do."""
        if coarse or self.deviation <= COARSE:
            return
        ratio = self.deviation / COARSE
        fits = int(self.panel / (ratio**2 if self._gaussian else ratio))
        carried = (
            f"enough for {fits:,} of the {self.panel:,} variants"
            if fits
            else "not enough for a single variant"
        )
        raise ArgumentError(
            "panel",
            f"is too large for the cost: in the smallest cluster ({self.smallest:,} "
            "people), the noise on a frequency would have a standard deviation of "
            f"{self.deviation:.2g}, above the limit of {COARSE}. The cost is {carried}; "
            f"pass fewer variants or {self._needed(ratio)}, or pass coarse=True to allow "
            "this noise",
        )

    def _needed(self, ratio: float) -> str:
        if self.question.rho is not None:
            return f"rho={_up(self.question.rho * ratio**2)}"
        mechanism = self.mechanism
        if isinstance(mechanism, Gaussian):
            mu = mechanism.guarantee.mu * ratio
            return f"epsilon={_up(gaussian_epsilon(mu, self.question.delta))}"
        return f"epsilon={_up((self.question.epsilon or 0.0) * ratio)}"


def root_up(square: int) -> float:
    """The square root of an integer, rounded up."""
    return float_up(Fraction(math.isqrt((square << 64) - 1) + 1, 1 << 32))


def calls_of(calls: Any) -> str | Fraction:
    """How missing calls are dealt with: counted, declared to be none, or the declared
    least share of people that are called.
    """
    if calls in (COUNTED, COMPLETE):
        return str(calls)
    way_out = (
        'pass "counted", "complete", or the smallest share of people with a call at a '
        "variant, such as 0.98"
    )
    if isinstance(calls, str):
        raise ArgumentError("calls", f"cannot be {calls!r:.40}; {way_out}")
    least = fraction("calls", calls, way_out)
    if not 0 < least <= 1:
        raise ArgumentError("calls", f"must lie in (0, 1]; {way_out}")
    return COMPLETE if least == 1 else least


def _up(value: float) -> str:
    """A number in two digits, not below it."""
    digits = 1 - math.floor(math.log10(value))
    return f"{math.ceil(value * 10**digits * (1 - 1e-12)) / 10**digits:g}"
