"""What an organisation rules about an account, beside its total."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Self

from dither.errors import ArgumentError, BudgetExceeded
from dither.ledger.terms import Cost, Terms
from dither.privacy import PureDP

__all__ = ["Policy"]


@dataclass(frozen=True)
class Policy:
    """A ceiling for one release (in ε), the days after which a budget may be renewed, the failures that freeze it.

    `minimum` is the part of the account that one question costs at least, so that nobody can ask without end (rule
    R31). Books from before this rule do not state it, and have the usual one.
    """

    ceiling: float | None = None
    renew_days: float | None = None
    failures: int = 3
    minimum: float = 1e-6

    def __post_init__(self) -> None:
        for name in ("ceiling", "renew_days"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise ArgumentError(name, "must be positive and finite; leave it out for no such rule")
        if self.failures < 1:
            raise ArgumentError("failures", "must be at least 1; pass how many failures freeze an account")
        if not 0 <= self.minimum <= 1:
            raise ArgumentError("minimum", "must lie from 0 to 1; pass a part of the account such as 1e-6")

    @classmethod
    def of(cls, data: dict[str, Any]) -> Self:
        return cls(**data)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def check(self, cost: Cost, terms: Terms) -> None:
        """Refuse a release that costs more than the ceiling."""
        if self.ceiling is None:
            return
        most = terms.cost(PureDP(self.ceiling, unit=terms.unit))
        pure = cost.pure is not None and cost.pure <= (most.pure or 0)
        loss = terms.loss_cap > 0 and cost.loss <= most.loss
        if not (pure or loss):
            raise BudgetExceeded(
                f"one release may cost at most ε = {self.ceiling:g} here; ask for less. Nothing was spent."
            )
