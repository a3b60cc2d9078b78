"""The caps of an account or an analyst's share, what is spent of them, and what one
charge adds: whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

__all__ = ["LARGEST", "Price", "State"]

LARGEST = (1 << 62) - 1
"""No column of a book ever holds more, so that the sum of two still has 64 bits."""


@dataclass(frozen=True)
class Price:
    """The cost of a guarantee for an account, in whole units: its ε if it is pure, its
    loss (Rényi at the account's order, or μ²), and its δ.
    """

    pure: int | None
    loss: int
    delta: int

    def __add__(self, other: Price) -> Price:
        pure = (
            None if self.pure is None or other.pure is None else self.pure + other.pure
        )
        return Price(pure, self.loss + other.loss, self.delta + other.delta)

    def largest_with(self, other: Price) -> Price:
        """The smallest price that covers both."""
        pure = (
            None
            if self.pure is None or other.pure is None
            else max(self.pure, other.pure)
        )
        return Price(pure, max(self.loss, other.loss), max(self.delta, other.delta))


@dataclass(frozen=True)
class State:
    """The caps of an account or a share, and what is spent of them."""

    pure_cap: int
    loss_cap: int
    delta_cap: int
    pure_spent: int = 0
    loss_spent: int = 0
    delta_spent: int = 0
    impure: int = 0

    COLUMNS: ClassVar[str] = (
        "pure_cap, loss_cap, delta_cap, pure_spent, loss_spent, delta_spent, impure"
    )

    @property
    def spent(self) -> tuple[int, int, int, int]:
        """The ε, loss and δ that are spent, and how many charges were not pure."""
        return self.pure_spent, self.loss_spent, self.delta_spent, self.impure

    @property
    def holds(self) -> bool:
        """Whether what is spent is within the caps, by either of the two sums."""
        return self.fits(Price(0, 0, 0))

    def fits(self, price: Price) -> bool:
        """Whether a charge is within the caps: the same condition as the statement that
        spends.
        """
        pure = (
            price.pure is not None
            and self.impure == 0
            and self.pure_spent + price.pure <= self.pure_cap
        )
        loss = self.loss_cap > 0 and self.loss_spent + price.loss <= self.loss_cap
        return pure or (loss and self.delta_spent + price.delta <= self.delta_cap)

    def share_caps(self, part: Fraction) -> list[int]:
        """The caps of an analyst's part."""
        return [
            int(cap * part) for cap in (self.pure_cap, self.loss_cap, self.delta_cap)
        ]

    def with_caps(self, caps: Iterable[int]) -> State:
        pure, loss, delta = caps
        return replace(self, pure_cap=pure, loss_cap=loss, delta_cap=delta)

    def plus(self, price: Price) -> State:
        """The state after a charge. Sums stop at the largest number, because recovered
        charges count even beyond the caps.
        """
        return replace(
            self,
            pure_spent=min(self.pure_spent + (price.pure or 0), LARGEST),
            loss_spent=min(self.loss_spent + price.loss, LARGEST),
            delta_spent=min(self.delta_spent + price.delta, LARGEST),
            impure=self.impure + (price.pure is None),
        )

    def emptied(self) -> State:
        """The state with nothing spent."""
        return State(self.pure_cap, self.loss_cap, self.delta_cap)

    def used_up(self) -> State:
        """The state with everything spent, whatever the charges were."""
        return replace(
            self,
            pure_spent=max(self.pure_cap, self.pure_spent),
            loss_spent=max(self.loss_cap, self.loss_spent),
            delta_spent=max(self.delta_cap, self.delta_spent),
            impure=self.impure + 1,
        )
