"""The remaining budget of an account, in words people can use: what fits in each kind,
how many counts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
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
from dither.text import percent

__all__ = ["Remaining", "Taken"]

SHOWN = Context(prec=4, rounding=ROUND_FLOOR)
"""Numbers that fit are printed with four digits, rounded down, so that what is printed
fits as well.
"""
NARROWER = 1 - Fraction(1, 1 << 38)
"""What ρ is lowered by: its loss is computed in floats, which may round it up a little
more than that of its μ.
"""

SEVERAL = re.compile(r"(?!1 )[0-9][0-9,]* ")
"""The beginning of a measure in the plural, such as "50 steps of …"."""


@dataclass(frozen=True)
class Remaining:
    """The remaining budget of an account, or of an analyst who has a share of it.

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
        """The remaining budget of an account and, at the same time, of the shares of an
        analyst.
        """
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

        It is counted as `share=` counts it in a question. If there is a δ, that is the
        part of the loss cap, because only there pure and Gaussian answers draw on the
        same sum. A pure answer may still fit by the sum of ε when this is 0 (see
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
        """Number of counts within ± error, at that confidence, that still fit, by the
        cheaper kind of noise.
        """
        unit = self.terms.unit
        kinds: list[Guarantee] = [
            PureDP(epsilon_for_error(error, confidence, 1, integer=True), unit=unit)
        ]
        if self.terms.accounting is not Accounting.PURE:
            kinds.append(GaussianDP(mu_for_error(error, confidence, 1), unit=unit))
        return max(map(self.times, kinds))

    def times(self, guarantee: Guarantee) -> int:
        """Number of answers with this guarantee that fit, by the better of the two
        sums.
        """
        return self._times(self.terms.cost(guarantee))

    def _times(self, price: Price) -> int:
        return (
            min(_times(state, price) for state in self._states)
            if self._allows(price)
            else 0
        )

    def after(self, price: Price) -> Self:
        """The remaining budget after a charge of this price, whether or not it fits."""
        state, *shares = (state.plus(price) for state in self._states)
        return replace(self, state=state, shares=tuple(shares))

    def taken(self, price: Price) -> Taken | None:
        """The part that a charge of this price took, if this is the remaining budget
        right after it. None if another process amended the account: `terms` are then no
        longer those of the book.
        """
        caps = (self.state.pure_cap, self.state.loss_cap, self.state.delta_cap)
        if caps != (self.terms.pure_cap, self.terms.loss_cap, self.terms.delta_cap):
            return None
        spent, cap = price.loss, self.state.loss_cap
        # an answer that only the sum of ε has room for is measured by it
        alone = bool(cap) and price.pure is not None and not self._holds_by_loss
        if price.pure is not None and (alone or not cap):
            spent, cap = price.pure, self.state.pure_cap
        if not cap:
            return None
        delta = price.delta / self.state.delta_cap if self.state.delta_cap else 0.0
        return Taken(spent / cap, delta, self, alone)

    @property
    def _holds_by_loss(self) -> bool:
        """Whether the sum of losses and that of δ are within their caps."""
        return all(
            state.loss_spent <= state.loss_cap and state.delta_spent <= state.delta_cap
            for state in self._states
        )

    def taking(self, guarantee: Guarantee) -> Taken | None:
        """The part that a guarantee would take now, and what would remain."""
        price = self.terms.cost(guarantee)
        return self.after(price).taken(price)

    def has_room_for(self, guarantee: Guarantee) -> bool:
        """Whether the account and the shares hold the cost, whatever the policy says."""
        price = self.terms.cost(guarantee)
        return all(state.fits(price) for state in (self.state, *self.shares))

    def in_words(self) -> str:
        """The share that remains, and the largest answer of each kind that still fits;
        the kind that takes the larger ε comes first.
        """
        offers = [
            f"one {kind.name} answer at {kind.sign} = {_shown(kind.most)}"
            f"{kind.alone(' (', ')')}"
            for kind in self._kinds
        ]
        if not offers:
            return f"{self.share_in_words}, nothing fits"
        examples = ", or ".join(offers)
        return f"{self.share_in_words}, for example {examples}{self._carried}"

    def refusal(self, guarantee: Guarantee, into: str = "") -> str:
        """Why a charge is refused, and the largest charge of each kind that would be
        granted, the cheaper one first.

        `into` says what it does not fit into, such as "the share of ana", where that is
        not the account.
        """
        fits = "do not fit" if SEVERAL.match(guarantee.measure) else "does not fit"
        words = (
            f"{guarantee.measure} {fits}{f' into {into}' if into else ''}: "
            f"{self.share_in_words} remains"
        )
        if not self._kinds:
            return f"{words}, and nothing fits. Nothing was spent."
        if _sampled(guarantee):
            most = f"share={self._thousandths / 1000:g}"
            return (
                f"{words}. Ask for at most {most}, or for a smaller epsilon= or more "
                "noise=. Nothing was spent."
            )
        most = ", or ".join(
            f"{kind.keyword}={_shown(kind.most)} ({kind.name}{kind.alone(', ')})"
            for kind in self._kinds
        )
        delta = (
            f"; an answer with a δ can carry at most δ = {_shown(self.delta)}, at a "
            "smaller ε"
            if guarantee.delta_part
            else ""
        )
        return f"{words}. Ask for at most {most}{delta}. Nothing was spent."

    @property
    def metered(self) -> float:
        """The part that a meter shows: `share`, or `pure_share` if only the sum of ε has
        room for another answer.
        """
        return self.pure_share if self._only_by_epsilon else self.share

    @property
    def share_in_words(self) -> str:
        """The part that remains. An analyst with a share is told what it is a part of,
        because `share=` means a part of the account.
        """
        whole = " of the account" if self.shares else ""
        if self._only_by_epsilon:
            whole = " of the ε of the account"
        part = self.metered
        if 0 < part < 0.001:
            return f"{_shown(100 * part)} %{whole}"
        return f"{math.floor(1000 * written(part)) / 10:g} %{whole}"

    @property
    def _only_by_epsilon(self) -> bool:
        """Whether only the sum of ε has room for another answer."""
        return bool(
            self.state.loss_cap and self._pure_share and self.epsilon and not self.mu
        )

    @property
    def _thousandths(self) -> int:
        return math.floor(1000 * self._share)

    @cached_property
    def _kinds(self) -> list[_Kind]:
        """The kinds in which anything fits, the one that takes the larger ε first."""
        found = []
        if self.epsilon:
            found.append(_Kind("Laplace", "ε", "epsilon", self.epsilon, self.epsilon))
        if self.mu:
            alone = self.gaussian_epsilon
            found.append(_Kind("Gaussian", "ρ", "rho", self.rho, alone))
        return sorted(found, key=lambda kind: -kind.epsilon)

    @property
    def _carried(self) -> str:
        """The δ for answers that carry one, if some of it is spent."""
        if not self.mu or not any(state.delta_spent for state in self._states):
            return ""
        return f"; at most δ = {_shown(self.delta)} for answers that carry one"

    def __str__(self) -> str:
        counts = (
            f"; or {self.counts():,} counts of units within ±10" if self._kinds else ""
        )
        return f"remaining: {self.in_words()}{counts}"


@dataclass(frozen=True)
class _Kind:
    """A kind of answer that fits: the largest number to ask for, and its ε."""

    name: str
    sign: str
    keyword: str
    most: float
    epsilon: float

    def alone(self, before: str, after: str = "") -> str:
        """The ε of a Gaussian answer by itself, at the account's δ."""
        own = self.keyword == "rho" and self.epsilon
        return f"{before}ε = {_shown(self.epsilon)} by itself{after}" if own else ""


@dataclass(frozen=True)
class Taken:
    """The part of an account that one charge takes, and what remains right after it.

    `share` is counted like `remaining.share`, or as a part of the sum of ε if only that
    sum has room for the charge (`of_epsilon`). `delta` is the part of the δ that answers
    can carry.
    """

    share: float
    delta: float
    remaining: Remaining
    of_epsilon: bool = False

    def in_words(self) -> str:
        """Both parts, rounded up."""
        what = "of the ε of the account" if self.of_epsilon else "of the account"
        more = f" and {percent(self.delta)} of its δ" if self.delta else ""
        return f"{percent(self.share)} {what}{more}"


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
    """Number of times that one price fits, by the better of the two sums."""
    times = 0
    if price.pure is not None and state.impure == 0:
        times = (state.pure_cap - state.pure_spent) // price.pure
    if state.loss_cap and state.delta_spent + price.delta <= state.delta_cap:
        times = max(times, (state.loss_cap - state.loss_spent) // max(price.loss, 1))
    return max(0, times)


def _shown(value: float) -> str:
    """A number as people write it, rounded down."""
    return f"{float(SHOWN.create_decimal(repr(value))):.10g}"
