"""A budget in memory: the same account and the same rules, for one process, gone when
it ends.
"""

from __future__ import annotations

from typing import NoReturn

from dither.by_name import constructed
from dither.ledger.account import Account
from dither.ledger.ledger import Ledger
from dither.privacy import ROW, Unit

__all__ = ["Budget"]


@constructed("Budget(epsilon=3.0)")
class Budget(Account):
    """What may be spent on one dataset in this process. `Ledger.open` gives budgets
    that outlive it.

    Charging is safe from several threads. A refused charge spends nothing.
    """

    def __init__(
        self,
        epsilon: float,
        delta: float = 0.0,
        *,
        unit: Unit = ROW,
        accounting: str | None = None,
    ) -> None:
        ledger = Ledger.open(":memory:")
        account = ledger.account(
            "budget", epsilon=epsilon, delta=delta, unit=unit, accounting=accounting
        )
        super().__init__(
            ledger, account.name, account.terms, account.policy, account._rules
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a budget cannot be copied or pickled: the copy could be spent again"
        )
