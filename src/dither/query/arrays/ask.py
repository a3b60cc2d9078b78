"""The steps every array function takes: settle the cost, charge it, and only then read
the data (rule R1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dither.cost import Cost, Stated
from dither.dataset import Account, Column, Kind, kind_of
from dither.errors import ArgumentError
from dither.ledger import Account as LedgerAccount
from dither.mechanisms import Additive, Gaussian, Laplace
from dither.noise.shapes import LARGEST_SCALE
from dither.privacy import ROW, Guarantee, Relation, Unit, epsilon_for_error
from dither.privacy.numbers import float_down, fraction, written
from dither.progress import working
from dither.query.arrays.columns import Numbers, numbers_of
from dither.query.plan.spend import check_minimum
from dither.release import Release, Source, Spread

__all__ = [
    "ArrayCost",
    "Ask",
    "ErrorCost",
    "Paid",
    "check_bounds",
    "check_numeric",
    "declared_kind",
]

PLAIN = "pass a list or a one-dimensional array with one value for each unit"


class ArrayCost(Stated, total=False):
    """What an answer about an array may cost, and who pays, as keywords."""

    budget: Account | None
    unit: Unit | None
    by: str | None


class ErrorCost(ArrayCost, total=False):
    """The same where the error does not depend on the data, so it can be asked for."""

    error: float | str | None


@dataclass(frozen=True)
class Ask:
    """One question about one column: what it may cost, for which unit, and who pays."""

    what: str
    data: Any
    cost: Cost
    unit: Unit
    account: Account | None
    by: str | None = None

    @classmethod
    def of(cls, what: str, data: Any, stated: ArrayCost | ErrorCost) -> Ask:
        """A question from its keywords. A keyword that is unknown is a TypeError."""
        words: dict[str, Any] = {**stated}
        budget, unit = words.pop("budget", None), words.pop("unit", None)
        by = words.pop("by", None)
        cost = Cost(**words)
        if budget is not None and not hasattr(budget, "charge"):
            kind = type(budget).__name__
            raise ArgumentError(
                "budget", f"must be a budget, not {kind}; pass Budget(epsilon=1.0)"
            )
        if unit is not None and not isinstance(unit, Unit):
            kind = type(unit).__name__
            raise ArgumentError("unit", f'must be a Unit, not {kind}; pass Unit("id")')
        if isinstance(data, Column):
            unit, budget = _unit(data, unit), _payer(data, budget)
        else:
            _check_type(data)
        return cls(what, data, cost, unit or ROW, budget, by)

    @property
    def replacing(self) -> bool:
        return self.unit.relation is Relation.REPLACE

    @property
    def epsilon(self) -> float | None:
        """The ε to spend, where the cost is stated so; None where it is stated as rho."""
        if self.cost.share is not None:
            if self.account is None:
                raise ArgumentError(
                    "share", "is a share of a budget; pass budget=, or state epsilon"
                )
            part = fraction(
                "share", self.cost.share, "pass a part of the budget such as 0.1"
            )
            if not 0 < part <= 1:
                raise ArgumentError(
                    "share", "must lie in (0, 1]; pass a part of the budget such as 0.1"
                )
            return float_down(part * written(self.account.epsilon))
        if self.cost.error is not None:
            raise ArgumentError(
                "error",
                f"of a {self.what} depends on the data; state epsilon, rho or "
                "share instead",
            )
        return self.cost.epsilon

    def additive(self, l1: float, l2: float | None = None) -> Additive:
        """The mechanism for integers of these sensitivities that costs what was stated."""
        mechanism: Additive
        if self.cost.rho is not None:
            mechanism = Gaussian(
                sensitivity=l1 if l2 is None else l2, rho=self.cost.rho, unit=self.unit
            )
        else:
            mechanism = Laplace(
                sensitivity=l1, epsilon=self.epsilon or 0.0, unit=self.unit
            )
        if mechanism.scale > LARGEST_SCALE:
            raise ArgumentError(
                "epsilon",
                "is too small: the noise would not fit 64-bit integers; ask for more",
            )
        return mechanism

    def for_error(self, sensitivity: float, step: float = 1.0) -> Ask:
        """The same question with a wanted error turned into the ε that reaches it, for
        integers in steps.
        """
        wanted = self.cost.wanted
        if wanted is None:
            return self
        epsilon = epsilon_for_error(
            wanted.width / step, wanted.confidence, sensitivity, integer=True
        )
        return replace(self, cost=Cost(epsilon=epsilon))

    @contextmanager
    def paying(self, guarantee: Guarantee) -> Iterator[Paid]:
        """Charge the account, if there is one, before anything inside reads data;
        settle afterwards (rule R5).

        If the charge is refused, nothing was spent and nothing read. A failure inside
        is counted, and the charge stays.
        """
        if self.account is None:
            with working(self.what):
                yield Paid(self, Source(guarantee))
            return
        self._check_minimum(guarantee)
        who = {} if self.by is None else {"by": self.by}
        with (
            self.account.spending(guarantee, purpose=self.what, **who) as receipt,
            working(self.what),
        ):
            yield Paid(self, Source(guarantee, receipt))

    def _check_minimum(self, guarantee: Guarantee) -> None:
        """A dataset has analysts, and nobody may ask it without end (rule R31)."""
        if isinstance(self.data, Column) and isinstance(self.account, LedgerAccount):
            terms, minimum = self.account.terms, self.account.policy.minimum
            check_minimum(guarantee, self.cost, terms, minimum, keys=False)


@dataclass(frozen=True)
class Paid:
    """A question that was paid for: only from here can its data be read."""

    ask: Ask
    source: Source

    def read(self) -> Any:
        """The column itself."""
        data = self.ask.data
        return data.fetch(self.source.receipt) if isinstance(data, Column) else data

    def numbers(self, first: int | None = None) -> Numbers:
        """The numbers that are there, and how many are not, of all records or of the
        first so many.
        """
        column = self.read()
        if not hasattr(column, "__getitem__") or isinstance(column, Mapping | Set):
            column = list(column)
        return numbers_of(
            column if first is None else column[:first], declared_kind(self.ask.data)
        )

    def release(self, value: Any, spread: Spread, **more: Any) -> Release:
        """The answer."""
        return Release(self.ask.what, value, (self.source,), spread, **more)

    def clipped(self, value: Any, spread: Spread) -> Release:
        """The answer about values that were clipped to bounds, which it says."""
        notes = ("values count within their declared bounds",)
        return self.release(value, spread, notes=notes)


def _unit(column: Column, stated: Unit | None) -> Unit:
    """The dataset's unit. Neighbours may replace one instead, which is a promise about
    the same unit; a promise about another one would not be kept.
    """
    mine = column.dataset.unit
    if stated in (None, mine, mine.replacing()):
        return stated or mine
    raise ArgumentError("unit", f"the dataset is about {mine}; leave unit out")


def _payer(column: Column, budget: Account | None) -> Account | None:
    """Who pays for a dataset's column: its own account, if it has one."""
    dataset = column.dataset
    if not dataset.single:
        unit = dataset.unit.name
        raise ArgumentError(
            "x",
            f"the dataset may hold many rows of one {unit}; make one row for each "
            f"{unit} first",
        )
    account = dataset.payer
    if account is not None and budget is not None and budget is not account:
        raise ArgumentError(
            "budget",
            "the dataset has its own account, which pays for it; leave budget out",
        )
    return account or budget


def _check_type(data: Any) -> None:
    """What can be refused by looking at types and dimensions alone."""
    refused = isinstance(data, str | bytes | bytearray | Mapping | Set)
    if refused or not hasattr(data, "__len__") or not hasattr(data, "__getitem__"):
        raise ArgumentError(
            "x", f"must be a column of values, not {type(data).__name__}; {PLAIN}"
        )
    if len(getattr(data, "shape", (0,))) != 1:
        raise ArgumentError("x", f"must be one column; {PLAIN}")


def declared_kind(data: Any) -> Kind:
    return data.facts.kind if isinstance(data, Column) else kind_of(data)


def check_numeric(data: Any) -> None:
    """Refuse a column that is declared to hold something else than numbers."""
    if declared_kind(data) is Kind.OTHER:
        raise ArgumentError(
            "x",
            "must be a column of numbers, but is declared as something else; "
            "convert it to numbers first",
        )


def check_bounds(data: Any, bounds: tuple[float, float] | None) -> tuple[float, float]:
    """Public, finite limits of the values, low before high; those declared for the
    column if none are given.
    """
    if bounds is None and isinstance(data, Column):
        bounds = data.facts.bounds
    if bounds is None:
        raise ArgumentError(
            "bounds",
            "are missing; pass public limits of the values, such as (0, "
            "110), not read off the data",
        )
    try:
        low, high = (_plain(bound) for bound in bounds)
    except (TypeError, ValueError, OverflowError):
        low, high = 0, 0
    if not (low < high and math.isfinite(float(high) - float(low))):
        raise ArgumentError(
            "bounds", "must be two finite numbers, low before high, such as (0, 110)"
        )
    return low, high


def _plain(bound: Any) -> int | float:
    """A bound as a Python int or float; integers too wide for floats to count in are
    floats.
    """
    if isinstance(bound, str | bytes | bool | np.bool_):
        raise TypeError("a text or a truth is no bound")
    if isinstance(bound, int | np.integer) and abs(int(bound)) <= 1 << 62:
        return int(bound)
    number = float(bound)
    if not math.isfinite(number):
        raise ValueError("not finite")
    return number


def check_confidence(confidence: float) -> float:
    exact = fraction("confidence", confidence, "pass a probability such as 0.95")
    if not 0 < exact <= 1 - Fraction(1, 10**9):
        raise ArgumentError(
            "confidence",
            "must lie strictly between 0 and 1; pass a probability such as 0.95",
        )
    return float(exact)
