"""What is left of a budget, in words people can use: what fits in each kind, how many
counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from fractions import Fraction
from functools import cached_property
from typing import Self

from dither.errors import ArgumentError, BudgetExceeded
from dither.ledger.policy import Policy
from dither.ledger.state import State
from dither.ledger.terms import ATTO, NANO, Accounting, Price, Terms
from dither.privacy import (
    ApproxDP,
    Composed,
    Declared,
    GaussianDP,
    Guarantee,
    PoissonSampled,
    PureDP,
    epsilon_for_error,
    gaussian_mu,
    mu_for_error,
)
from dither.privacy.numbers import float_down, written

__all__ = ["Remaining"]

SHOWN = Context(prec=4, rounding=ROUND_FLOOR)
"""Numbers that fit are printed with four digits, rounded down, so that what is printed
fits as well.
"""
NARROWER = 1 - Fraction(1, 1 << 38)
"""What ρ is lowered by: its loss is computed in floats, which may round it up a little
more than that of its μ.
"""


@dataclass(frozen=True)
class Remaining:
    """What can still be asked of an account, or by an analyst who has a share of it.

    An answer fits if the account has room for it, and each of the `shares` too, and the
    policy allows it. There are two kinds: pure answers, stated by their ε, and Gaussian
    ones, stated by μ, by ρ = μ²/2, or by the ε that they have on their own at the
    account's δ. Each number here is the largest that fits, rounded down.
    """

    terms: Terms
    state: State
    shares: tuple[State, ...] = ()
    policy: Policy | None = None

    @classmethod
    def of(
        cls, terms: Terms, state: State, *shares: State, policy: Policy | None = None
    ) -> Self:
        """What an account and, at the same time, the shares of an analyst leave."""
        return cls(terms, state, shares, policy)

    @property
    def _states(self) -> tuple[State, ...]:
        return (self.state, *self.shares)

    def fits(self, guarantee: Guarantee) -> bool:
        """Whether an answer with this guarantee fits."""
        try:
            return self._takes(self.terms.cost(guarantee))
        except ArgumentError:
            return False

    def _takes(self, price: Price) -> bool:
        return self._allows(price) and all(state.fits(price) for state in self._states)

    def _allows(self, price: Price) -> bool:
        if self.policy is None:
            return True
        try:
            self.policy.check(price, self.terms)
        except BudgetExceeded:
            return False
        return True

    @property
    def share(self) -> float:
        """The part of the account that an answer of either kind may take: 1 at the
        beginning, 0 at the end.

        It is counted as `share=` counts it in a question. Where there is a δ, that is
        the part of the loss cap, because only there pure and Gaussian answers draw on
        the same sum. A pure answer may still fit by the sum of ε when this is 0 (see
        `epsilon`), and an answer that carries a δ needs that as well (see `delta`);
        nothing that this share promises is refused.
        """
        return _written_down(self._share)

    @property
    def _share(self) -> Fraction:
        return self._loss_share if self.state.loss_cap else self._pure_share

    @property
    def pure_share(self) -> float:
        """The part of the sum of ε that is left; 0 once anything but pure answers was
        charged.
        """
        return _written_down(self._pure_share)

    @property
    def _pure_share(self) -> Fraction:
        closed = any(state.impure for state in self._states)
        return _part(
            min(state.pure_cap - state.pure_spent for state in self._states),
            self.state.pure_cap,
            closed,
        )

    @property
    def loss_share(self) -> float:
        """The part of the sum of losses that is left; 0 where only pure answers count."""
        return _written_down(self._loss_share)

    @property
    def _loss_share(self) -> Fraction:
        closed = any(state.delta_spent > state.delta_cap for state in self._states)
        return _part(
            min(state.loss_cap - state.loss_spent for state in self._states),
            self.state.loss_cap,
            closed,
        )

    @cached_property
    def epsilon(self) -> float:
        """The largest ε that a pure answer may have."""
        return (
            self._largest(
                lambda units: PureDP(units / NANO, unit=self.terms.unit),
                self.state.pure_cap,
            )
            / NANO
        )

    @cached_property
    def mu(self) -> float:
        """The largest μ that a Gaussian answer may have; 0 where only pure answers
        count.
        """
        return (
            self._largest(
                lambda units: GaussianDP(units / NANO, unit=self.terms.unit),
                self.state.pure_cap,
            )
            / NANO
        )

    @property
    def rho(self) -> float:
        """The largest ρ that a Gaussian answer may have: what `rho=` means in a
        question.
        """
        return float_down(Fraction(self.mu) ** 2 / 2 * NARROWER)

    @cached_property
    def gaussian_epsilon(self) -> float:
        """The largest ε that a Gaussian answer may have on its own: what `epsilon=`
        means in a question.

        It is 0 where even less than the account's δ tells that answer apart at ε = 0,
        so that no ε states it.
        """
        if not self.mu:
            return 0.0
        delta, unit = self.terms.total.delta, self.terms.unit
        units = math.floor(GaussianDP(self.mu, unit=unit).epsilon_at(delta) * NANO)
        # The ε of the largest μ is rounded up, so a little less may be needed.
        less = 1
        while units and not self.fits(
            GaussianDP(gaussian_mu(units / NANO, delta), unit=unit)
        ):
            units, less = max(0, units - less), 2 * less
        return units / NANO

    @cached_property
    def delta(self) -> float:
        """The largest δ that an answer may carry; 0 where even the smallest loss would
        not fit.
        """
        return (
            self._largest(
                lambda units: ApproxDP(1e-9, units / ATTO, unit=self.terms.unit),
                self.state.delta_cap,
            )
            / ATTO
        )

    def _largest(self, kind: Callable[[int], Guarantee], about: int) -> int:
        """The largest whole number with which a kind of guarantee fits; `about` that is
        a first guess.
        """
        low, high = 0, max(about, 1)
        while self.fits(kind(high)):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.fits(kind(middle)) else (low, middle)
        return low

    def counts(self, error: float = 10.0, confidence: float = 0.95) -> int:
        """How many counts within ± error, at that confidence, can still be asked, by
        the cheaper kind of noise.
        """
        unit = self.terms.unit
        kinds: list[Guarantee] = [
            PureDP(epsilon_for_error(error, confidence, 1, integer=True), unit=unit)
        ]
        if self.terms.accounting is not Accounting.PURE:
            kinds.append(GaussianDP(mu_for_error(error, confidence, 1), unit=unit))
        return max(map(self.times, kinds))

    def times(self, guarantee: Guarantee) -> int:
        """How many answers with this guarantee fit, by the better of the two sums."""
        return self._times(self.terms.cost(guarantee))

    def _times(self, price: Price) -> int:
        return (
            min(_times(state, price) for state in self._states)
            if self._allows(price)
            else 0
        )

    def in_words(self) -> str:
        """What is left and what fits in each kind; the kind that takes the larger ε
        comes first.
        """
        if not self._kinds:
            return f"{self._headline}: nothing fits."
        if self.state.loss_cap and not self.mu:
            return (
                f"{self._headline} for answers of every kind; {self._offers[0]} "
                "still fits."
            )
        return (
            f"{self._headline}: "
            f"{', or '.join([f'{self._offers[0]} fits', *self._offers[1:]])}{self._carried}."
        )

    def refusal(self, guarantee: Guarantee, into: str = "") -> str:
        """Why a charge is refused, and the most that would be granted in each kind, the
        cheaper one first.

        `into` says what it does not fit into, such as "the share of ana", where that is
        not the account.
        """
        words = (
            f"{guarantee} does not fit{f' into {into}' if into else ''}: "
            f"{self._headline}"
        )
        if not self._kinds:
            return f"{words}, and nothing fits. Nothing was spent."
        if _sampled(guarantee):
            most = f"share={math.floor(1000 * self._share) / 1000:g}"
            return (
                f"{words}; ask for at most {most}, or for a smaller epsilon= or more "
                "noise=. Nothing was spent."
            )
        most = ", or ".join(self._offers)
        return (
            f"{words}; ask for at most {most}{self._cheaper}{self._carried}. "
            "Nothing was spent."
        )

    @property
    def _headline(self) -> str:
        """The part that is left; beside a share it says of what, because `share=` means
        a part of the account.
        """
        whole = " of the account" if self.shares else ""
        return f"{math.floor(1000 * self._share) / 10:g} %{whole} is left"

    @cached_property
    def _kinds(self) -> list[tuple[str, str]]:
        """The kinds in which anything fits and how much, the one that takes the larger
        ε first.
        """
        found = (
            [(self.epsilon, "pure", f"epsilon = {_shown(self.epsilon)}")]
            if self.epsilon
            else []
        )
        if self.mu:
            alone = (
                f" (epsilon = {_shown(self.gaussian_epsilon)} on its own)"
                if self.gaussian_epsilon
                else ""
            )
            found.append(
                (self.gaussian_epsilon, "Gaussian", f"rho = {_shown(self.rho)}{alone}")
            )
        return [
            (name, numbers)
            for _, name, numbers in sorted(found, key=lambda kind: -kind[0])
        ]

    @property
    def _offers(self) -> list[str]:
        return [
            f"a {name} {'one' if later else 'answer'} of {most}"
            for later, (name, most) in enumerate(self._kinds)
        ]

    @property
    def _cheaper(self) -> str:
        return (
            f"; the {self._kinds[0][0]} kind is cheaper for one answer"
            if len(self._kinds) > 1
            else ""
        )

    @property
    def _carried(self) -> str:
        return (
            f"; δ = {_shown(self.delta)} is left for answers that carry one"
            if self.mu
            else ""
        )

    def __str__(self) -> str:
        return f"{self.in_words()} Or {self.counts():,} counts within ±10."


def _sampled(guarantee: Guarantee) -> bool:
    """Whether this is a run of steps on samples, which nobody states by a ρ."""
    if isinstance(guarantee, Declared):
        return _sampled(guarantee.of)
    if isinstance(guarantee, Composed):
        return any(map(_sampled, guarantee.parts))
    return isinstance(guarantee, PoissonSampled)


def _part(left: int, cap: int, closed: bool) -> Fraction:
    return Fraction(left, cap) if left > 0 and cap and not closed else Fraction(0)


def _written_down(exact: Fraction) -> float:
    """The largest float that, as written, is at most the fraction: 23/100 is 0.23."""
    near = float(exact)
    return near if written(near) <= exact else math.nextafter(near, 0.0)


def _times(state: State, price: Price) -> int:
    """How often one price fits, by the better of the two sums."""
    times = 0
    if price.pure is not None and state.impure == 0:
        times = (state.pure_cap - state.pure_spent) // price.pure
    if state.loss_cap and state.delta_spent + price.delta <= state.delta_cap:
        times = max(times, (state.loss_cap - state.loss_spent) // max(price.loss, 1))
    return max(0, times)


def _shown(value: float) -> str:
    """A number as people write it, rounded down."""
    return f"{float(SHOWN.create_decimal(repr(value))):.10g}"
