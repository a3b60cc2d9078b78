"""The cost of a run: what is charged to whom, whether that is granted, and how a preview
shows it. Nothing is read or spent.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from dither.learn.units import terms_of
from dither.ledger import Account
from dither.ledger.terms import Terms
from dither.privacy import Guarantee
from dither.question import Question
from dither.wording import UNCHARGED, foreseen, foretold, in_html, promised

__all__ = ["Forecast", "Priced", "between", "noise_of_means", "price_of"]


@dataclass(frozen=True, kw_only=True)
class Priced(ABC):
    """The charge of a run, fixed before anything is read."""

    question: Question
    delta: float
    charged: Guarantee

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """The ε of the whole run by itself."""

    @property
    def terms(self) -> Terms | None:
        return terms_of(self.question.account)

    @property
    def affordable(self) -> bool:
        """Whether the account would grant the charge now."""
        account = self.question.account
        if not isinstance(account, Account):
            return True
        return account.affords(self.charged, by=self.question.by)


@dataclass(frozen=True, kw_only=True)
class Forecast(ABC):
    """The guarantee and the cost of a run. One that is not `affordable` would be refused
    now.
    """

    epsilon: float
    delta: float
    share: float | None
    guarantee: Guarantee
    affordable: bool = True
    cost: str = UNCHARGED
    remaining: str = ""
    refused: str = ""

    @abstractmethod
    def _work(self) -> list[str]:
        """The lines above the guarantee: the work of the run."""

    def _ways(self) -> list[str]:
        """The lines below the cost: the way in which it is done."""
        return []

    def __str__(self) -> str:
        cost = foretold(
            self.cost, self.remaining, affordable=self.affordable, refused=self.refused
        )
        promise = promised(self.guarantee, self.delta, self.epsilon)
        return "\n".join([*self._work(), f"guarantee: {promise}", *cost, *self._ways()])

    def _repr_html_(self) -> str:
        return in_html(str(self).splitlines())


def price_of(plan: Priced) -> dict[str, Any]:
    """The fields of a preview that follow from the charge of a plan."""
    affordable, asked = plan.affordable, plan.question
    cost = foreseen(asked.account, plan.charged, asked.by, charged=affordable)
    return {
        "epsilon": plan.epsilon,
        "delta": plan.delta,
        "guarantee": plan.charged,
        "affordable": affordable,
        **vars(cost),
    }


def between(low: float, high: float) -> str:
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def noise_of_means(what: str, ends: tuple[float, float], numbers: int) -> str:
    """The noise of the mean of a step, in each of its numbers and in norm."""
    norms = [one * math.sqrt(numbers) for one in ends]
    return (
        f"noise of a {what}: {between(*ends)} in each of {numbers:,} numbers, "
        f"{between(*norms)} in norm"
    )
