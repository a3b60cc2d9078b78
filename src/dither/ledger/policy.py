"""The rules that an organisation sets for an account, beside its total."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Self

from dither.errors import ArgumentError, BudgetExceeded
from dither.ledger.facts import FAILURES, FAILURES_IN_ALL
from dither.ledger.state import Price
from dither.ledger.terms import ATTO, Terms
from dither.privacy import PureDP
from dither.privacy.numbers import written

__all__ = ["Policy"]


@dataclass(frozen=True)
class Policy:
    """What holds for every charge of an account.

    `ceiling` is the most that one release may cost (in ε), `renew_days` how long a
    period lasts. So many `failures` stop one asker, and `failures_in_all` the account;
    a charge that is not settled `deadline` seconds after it was made is a failure.
    `minimum` is the part of the account that one question costs at least, so that
    nobody can ask without end (rule R31). Books from before these rules do not state
    them, and have the usual ones.
    """

    ceiling: float | None = None
    renew_days: float | None = None
    failures: int = FAILURES
    failures_in_all: int = FAILURES_IN_ALL
    deadline: float = 3600.0
    minimum: float = 1e-6

    def __post_init__(self) -> None:
        for name in ("ceiling", "renew_days"):
            if getattr(self, name) is not None:
                _check_positive(
                    name, getattr(self, name), "leave it out to have no such limit"
                )
        _check_positive(
            "deadline",
            self.deadline,
            "pass the number of seconds that an answer may take",
        )
        for name in ("failures", "failures_in_all"):
            count = getattr(self, name)
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise ArgumentError(
                    name,
                    "must be a whole number of at least 1; pass the number of failures "
                    "that is too many",
                )
        if isinstance(self.minimum, bool) or not 0 <= self.minimum <= 1:
            raise ArgumentError(
                "minimum",
                "must lie from 0 to 1; pass a share of the account such as 1e-6",
            )

    @classmethod
    def of(cls, data: dict[str, Any]) -> Self:
        return cls(**data)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def check(self, price: Price, terms: Terms) -> None:
        """Refuse a release that costs more than the ceiling. Of δ it may use the same
        part as of ε.
        """
        if self.ceiling is None:
            return
        most = terms.cost(PureDP(self.ceiling, unit=terms.unit))
        pure = price.pure is not None and price.pure <= (most.pure or 0)
        loss = terms.loss_cap > 0 and price.loss <= most.loss
        part = min(Fraction(1), written(self.ceiling) / written(terms.total.epsilon))
        if not (pure or (loss and price.delta <= terms.delta_cap * part)):
            delta = (
                f" and δ = {float(terms.delta_cap * part / ATTO):.3g}"
                if price.delta
                else ""
            )
            raise BudgetExceeded(
                f"one release of this account may cost at most ε = {self.ceiling:g}{delta}; "
                "ask for less. Nothing was spent."
            )


def _check_positive(name: str, value: float, way_out: str) -> None:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 < value < 1e9
    ):
        raise ArgumentError(name, f"must be positive and below 1e9; {way_out}")
