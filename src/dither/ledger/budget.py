"""A budget in memory: for one process, gone when it ends.

Charges add up by basic composition, which holds when each next cost is chosen after seeing the last answer: the sums
of all ε and of all δ never exceed the totals (Rogers, Roth, Ullman & Vadhan 2016).
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from dither.errors import ArgumentError, BudgetExceeded, UnitMismatch
from dither.privacy import ROW, ApproxDP, BoundedRange, Guarantee, PureDP, Unit
from dither.privacy.numbers import written

__all__ = ["Budget", "Receipt"]


@dataclass(frozen=True)
class Receipt:
    """The line of one charge: its number in the account, what it promised and what it was for."""

    number: int
    guarantee: Guarantee
    purpose: str
    book: str

    def __str__(self) -> str:
        return f"receipt {self.number} ({self.book})"


class Budget:
    """What may be spent on one dataset in this process: totals of ε and δ that charges never exceed together.

    Charging is safe from several threads. A refused charge spends nothing.
    """

    book = "this process only"

    def __init__(self, epsilon: float, delta: float = 0.0, *, unit: Unit = ROW) -> None:
        self.total = ApproxDP(epsilon, delta, unit=unit)
        self.unit = unit
        self._spent = Fraction(0), Fraction(0)
        self._history: list[Receipt] = []
        self._lock = threading.Lock()
        self._pid = os.getpid()

    @property
    def epsilon(self) -> float:
        return self.total.epsilon

    @property
    def spent(self) -> tuple[float, float]:
        """The sums of ε and of δ charged so far."""
        epsilon, delta = self._spent
        return float(epsilon), float(delta)

    @property
    def remaining(self) -> tuple[float, float]:
        """What is left of ε and of δ."""
        epsilon, delta = self._spent
        return float(written(self.total.epsilon) - epsilon), float(written(self.total.delta) - delta)

    def history(self) -> tuple[Receipt, ...]:
        return tuple(self._history)

    def charge(self, guarantee: Guarantee, *, purpose: str = "") -> Receipt:
        """Spend a guarantee, or raise `BudgetExceeded` and spend nothing."""
        if guarantee.unit != self.unit:
            raise UnitMismatch(
                "budget", f"is for {self.unit}, but the charge is for {guarantee.unit}; use its own budget"
            )
        epsilon, delta = _cost(guarantee)
        if os.getpid() != self._pid:
            raise BudgetExceeded("this budget belongs to the process that made it; a forked one cannot spend it again")
        with self._lock:
            spent = self._spent[0] + epsilon, self._spent[1] + delta
            if spent[0] > written(self.total.epsilon) or spent[1] > written(self.total.delta):
                self._refuse(guarantee)
            receipt = Receipt(len(self._history) + 1, guarantee, purpose, self.book)
            self._spent = spent
            self._history.append(receipt)
        return receipt

    def _refuse(self, guarantee: Guarantee) -> NoReturn:
        epsilon, delta = self.remaining
        raise BudgetExceeded(
            f"{guarantee} does not fit: ε = {epsilon:.6g} and δ = {delta:.6g} are left; ask for at most that. "
            "Nothing was spent."
        )

    def __str__(self) -> str:
        share = self._spent[0] / written(self.total.epsilon)
        bar = "█" * int(20 * share)
        epsilon, _ = self.remaining
        return (
            f"budget {self.total} ({self.book})\n"
            f"{bar:·<20} {float(share):.0%} spent in {len(self._history)} charges, ε = {epsilon:.6g} left"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError("a budget cannot be copied or pickled: the copy could be spent again")


def _cost(guarantee: Guarantee) -> tuple[Fraction, Fraction]:
    if isinstance(guarantee, PureDP | BoundedRange):
        return written(guarantee.epsilon), Fraction(0)
    if isinstance(guarantee, ApproxDP):
        return written(guarantee.epsilon), written(guarantee.delta)
    raise ArgumentError(
        "budget", f"adds up ε and δ, which {guarantee} does not state; state epsilon, or convert it with .approx(delta)"
    )
