"""What is left of a budget, in words people can use: how large an ε, how many counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dither.errors import ArgumentError
from dither.ledger.state import State
from dither.ledger.terms import ATTO, NANO, Accounting, Cost, Terms
from dither.privacy import GaussianDP, Guarantee, PureDP, epsilon_for_error, mu_for_error

__all__ = ["Remaining"]


@dataclass(frozen=True)
class Remaining:
    """What can still be asked of an account."""

    terms: Terms
    state: State

    @property
    def share(self) -> float:
        """The part of the budget that is left: 1 at the beginning, 0 at the end."""
        state = self.state
        pure = 0.0 if state.impure else 1 - state.pure_spent / state.pure_cap if state.pure_cap else 0.0
        loss = 1 - state.loss_spent / state.loss_cap if state.loss_cap else 0.0
        return max(0.0, pure, loss)

    @property
    def epsilon(self) -> float:
        """The largest ε that a pure answer may still have."""
        return self._largest(PureDP)

    @property
    def mu(self) -> float:
        """The largest μ that a Gaussian answer may still have; 0 where only pure answers count."""
        if self.terms.accounting is Accounting.PURE:
            return 0.0
        return self._largest(GaussianDP)

    def _largest(self, kind: Callable[..., Guarantee]) -> float:
        """The largest number, in whole units of 1e-9, with which a kind of guarantee still fits."""
        low, high = 0, max(self.state.pure_cap, 1) * 16
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._fits(kind, middle) else (low, middle - 1)
        return low / NANO

    def _fits(self, kind: Callable[..., Guarantee], units: int) -> bool:
        try:
            return self.state.fits(self.terms.cost(kind(units / NANO, unit=self.terms.unit)))
        except ArgumentError:
            return False

    def counts(self, error: float = 10.0, confidence: float = 0.95) -> int:
        """How many counts within ± error, at that confidence, can still be asked, by the cheaper kind of noise."""
        pure = self.terms.cost(PureDP(epsilon_for_error(error, confidence, 1, integer=True), unit=self.terms.unit))
        found = self._times(pure)
        if self.terms.accounting is not Accounting.PURE:
            found = max(
                found,
                self._times(self.terms.cost(GaussianDP(mu_for_error(error, confidence, 1), unit=self.terms.unit))),
            )
        return found

    def _times(self, cost: Cost) -> int:
        state, times = self.state, 0
        if cost.pure is not None and state.impure == 0:
            times = (state.pure_cap - state.pure_spent) // cost.pure
        if state.loss_cap and state.delta_spent + cost.delta <= state.delta_cap:
            times = max(times, (state.loss_cap - state.loss_spent) // max(cost.loss, 1))
        return max(0, times)

    @property
    def delta(self) -> float:
        """The δ that answers which carry one may still use."""
        return max(0, self.state.delta_cap - self.state.delta_spent) / ATTO

    def in_words(self) -> str:
        left = math.floor(self.share * 1000) / 10
        words = f"{left:g} % is left, enough for one pure answer of ε = {self.epsilon:.6g} at most"
        carried = f" (δ = {self.delta:g} for answers that carry one)" if self.state.delta_cap else ""
        return f"{words}{carried}."

    def __str__(self) -> str:
        return f"{self.in_words()} Or for {self.counts():,} counts within ±10."
