"""The caps of an account or an analyst's share, and what is spent of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dither.ledger.terms import Cost

__all__ = ["State"]


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

    COLUMNS: ClassVar[str] = "pure_cap, loss_cap, delta_cap, pure_spent, loss_spent, delta_spent, impure"

    def fits(self, cost: Cost) -> bool:
        """The same condition as the statement that spends."""
        pure = cost.pure is not None and self.impure == 0 and self.pure_spent + cost.pure <= self.pure_cap
        loss = self.loss_cap > 0 and self.loss_spent + cost.loss <= self.loss_cap
        return pure or (loss and self.delta_spent + cost.delta <= self.delta_cap)

    def share_caps(self, part: Fraction) -> list[int]:
        """The caps of an analyst's part."""
        return [int(cap * part) for cap in (self.pure_cap, self.loss_cap, self.delta_cap)]

    def plus(self, cost: Cost) -> State:
        return State(
            self.pure_cap,
            self.loss_cap,
            self.delta_cap,
            self.pure_spent + (cost.pure or 0),
            self.loss_spent + cost.loss,
            self.delta_spent + cost.delta,
            self.impure + (cost.pure is None),
        )
