"""A question about one column, and the public facts that are checked before it is
charged (rule R1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dither.dataset import Column, Kind, kind_of
from dither.details import Details, mechanism_in_words
from dither.errors import ArgumentError
from dither.ledger import Account as LedgerAccount
from dither.privacy import ROW, Guarantee, Unit
from dither.privacy.numbers import fraction
from dither.query.arrays.columns import Numbers, numbers_of
from dither.query.plan.spend import check_minimum
from dither.question import Asking, Paid, Question
from dither.release import Ends, Release, Spread
from dither.wording import CLAMPED

__all__ = [
    "ArrayCost",
    "Ask",
    "ErrorCost",
    "PaidColumn",
    "check_bounds",
    "check_numeric",
    "declared_kind",
]

PLAIN = "pass a list or a one-dimensional array with one value for each unit"


class ArrayCost(Asking, total=False):
    """Keywords for the cost of an answer about an array, and for the account that pays."""

    unit: Unit | None


class ErrorCost(ArrayCost, total=False):
    """The same where the error does not depend on the data, so it can be asked for."""

    error: float | str | None


@dataclass(frozen=True)
class Ask(Question):
    """One question about one column."""

    data: Any = None

    @classmethod
    def about(cls, what: str, data: Any, stated: ArrayCost | ErrorCost) -> Ask:
        """A question from its keywords. A keyword that is unknown is a TypeError."""
        words: dict[str, Any] = {**stated}
        unit = words.pop("unit", None)
        if unit is not None and not isinstance(unit, Unit):
            kind = type(unit).__name__
            raise ArgumentError("unit", f'must be a Unit, not {kind}; pass Unit("id")')
        dataset = data.dataset if isinstance(data, Column) else None
        asked = Question.of(what, words, unit=unit or ROW, dataset=dataset)
        if isinstance(data, Column):
            asked = replace(asked, unit=_unit(data, unit))
            _check_single(data)
        else:
            _check_type(data)
        return cls(**vars(asked), data=data)

    @contextmanager
    def paying(self, guarantee: Guarantee | None = None) -> Iterator[PaidColumn]:
        """Charge first; only then can the column be read."""
        with super().paying(guarantee) as paid:
            yield PaidColumn(paid.source, self)

    def _check_minimum(self, guarantee: Guarantee) -> None:
        """The least that is accepted is said in the words in which the cost was stated."""
        if isinstance(self.data, Column) and isinstance(self.account, LedgerAccount):
            terms, minimum = self.account.terms, self.account.policy.minimum
            check_minimum(guarantee, self.cost, terms, minimum, keys=False)


@dataclass(frozen=True)
class PaidColumn(Paid):
    """A question that was paid for: only from here can its data be read."""

    ask: Ask

    def read(self) -> Any:
        """The column itself."""
        data = self.ask.data
        return data.fetch(self.source.receipt) if isinstance(data, Column) else data

    def numbers(self, first: int | None = None) -> Numbers:
        """The present numbers, and how many are missing, of all records or of the first
        `n`.
        """
        column = self.read()
        if not hasattr(column, "__getitem__") or isinstance(column, Mapping | Set):
            column = list(column)
        return numbers_of(
            column if first is None else column[:first], declared_kind(self.ask.data)
        )

    def release(
        self, value: Any, spread: Spread, *mechanisms: Any, **more: Any
    ) -> Release:
        """The answer, and the mechanisms that made it."""
        data = self.ask.data
        # the text alone: a release never holds what it was made of
        told = data.facts.provenance if isinstance(data, Column) else ""
        more["details"] = partial(_details, told, mechanisms, more.pop("bounds", None))
        return Release(self.ask.what, value, (self.source,), spread, **more)

    def clipped(
        self,
        value: Any,
        spread: Spread,
        bounds: tuple[float, float],
        *mechanisms: Any,
        limits: Ends | None = None,
    ) -> Release:
        """The answer about values that were clipped to bounds, which it says."""
        return self.release(
            value, spread, *mechanisms, notes=(CLAMPED,), bounds=bounds, limits=limits
        )


def _details(
    told: str, mechanisms: Sequence[Any], bounds: tuple[float, float] | None
) -> Details:
    """The details of an array for a report."""
    source = f"provenance: {told}" if told else "stated with the question"
    declared = () if bounds is None else (f"from {bounds[0]:g} to {bounds[1]:g}",)
    return Details(
        mechanism=tuple(map(mechanism_in_words, mechanisms)),
        declared=tuple(f"values: {one}; {source}" for one in declared),
    )


def _unit(column: Column, stated: Unit | None) -> Unit:
    """The dataset's unit. Neighbours may replace one instead, which is a promise about
    the same unit; a promise about another one would not be kept.
    """
    mine = column.dataset.unit
    if stated in (None, mine, mine.replacing()):
        return stated or mine
    raise ArgumentError(
        "unit", f"cannot differ from the dataset's unit ({mine}); leave it out"
    )


def _check_single(column: Column) -> None:
    dataset = column.dataset
    if not dataset.single:
        unit = dataset.unit.name
        raise ArgumentError(
            "x",
            f"the dataset may have several rows per {unit}; reduce them to one row per "
            f"{unit} first",
        )


def _check_type(data: Any) -> None:
    """Refusals that follow from types and dimensions alone."""
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
            "must be a column of numbers, but its type is another one; convert it to "
            "numbers first",
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
            "are missing; pass public limits of the values, such as (0, 110), and do "
            "not take them from the data",
        )
    try:
        low, high = (_plain(bound) for bound in bounds)
    except (TypeError, ValueError, OverflowError):
        low, high = 0, 0
    if not (low < high and math.isfinite(float(high) - float(low))):
        raise ArgumentError(
            "bounds",
            "must be two finite numbers, low before high; pass (0, 110) for example",
        )
    return low, high


def _plain(bound: Any) -> int | float:
    """A bound as a Python int or float; integers too wide for floats to count in are
    floats.
    """
    if isinstance(bound, str | bytes | bool | np.bool_):
        raise TypeError("a string or a boolean is not a bound")
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
