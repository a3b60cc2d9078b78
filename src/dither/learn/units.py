"""The unit that a model protects, the number of units, and the rows per unit: stated,
or declared for the dataset.
"""

from __future__ import annotations

from typing import Any, Protocol

from dither.dataset import Account, Dataset
from dither.errors import ArgumentError, UnitMismatch
from dither.ledger import Account as LedgerAccount
from dither.ledger.terms import Terms
from dither.privacy import ROW, Unit
from dither.privacy.numbers import whole

__all__ = ["About", "population_of", "rows_of", "terms_of", "unit_of", "units_of"]

MANY_UNITS = 10**12
MANY_ROWS = 10**6
OWNER = Unit("owner")
UNITS = "pass the publicly known number of units, such as 60_000"


class About(Protocol):
    """Facts about rows before they are read."""

    @property
    def owned(self) -> bool: ...

    @property
    def owner(self) -> str | None: ...

    @property
    def dataset(self) -> Dataset | None: ...

    @property
    def table(self) -> str | None: ...


def terms_of(account: Account | None) -> Terms | None:
    """The total guarantee of an account."""
    return account.terms if isinstance(account, LedgerAccount) else None


def unit_of(source: About, budget: Any) -> Unit:
    """The unit that training protects: the account's unit, if that is meant."""
    terms = terms_of(budget)
    held = None if terms is None else terms.unit
    if not source.owned:
        if held is not None and held.name != ROW.name:
            raise UnitMismatch(
                "owner",
                "must be given for each row, because the unit of the account is "
                f"{held.name!r}, not a row; pass owner= with the {held.name} of each "
                "row",
            )
        return ROW if held is None else held
    if source.owner is None:  # ids of whatever the account is about
        return held if held is not None and held.name != ROW.name else OWNER
    return (
        held if held is not None and held.name == source.owner else Unit(source.owner)
    )


def units_of(source: About, units: int | None) -> int:
    """Number of units by public knowledge."""
    found = population_of(source, units)
    if found is None:
        raise ArgumentError("units", f"is missing; {UNITS}")
    return found


def population_of(source: About, units: int | None) -> int | None:
    """The same; None if nobody has said it."""
    declared = source.dataset.catalogue.population if source.dataset else None
    stated = declared if units is None else units
    if stated is None:
        return None
    if declared is not None and stated != declared:
        raise ArgumentError(
            "units", f"must be the declared population of {declared:,}; leave it out"
        )
    found = whole("units", stated, UNITS)
    if found > MANY_UNITS:
        raise ArgumentError("units", f"must be at most {MANY_UNITS:,}; {UNITS}")
    return found


def rows_of(source: About, rows: int | None, usual: int | None = None) -> int:
    """Number of rows per unit that are used: stated, or declared for the dataset."""
    if not source.owned:
        if rows not in (None, 1):
            raise ArgumentError(
                "rows",
                "cannot be above 1 if each row is a unit of its own; pass owner=, or "
                "leave rows out",
            )
        return 1
    caps = {} if source.dataset is None else source.dataset.caps
    only = next(iter(caps.values())) if len(caps) == 1 else None
    declared = only if source.table is None else caps.get(source.table, only)
    way_out = "pass the largest number of rows to use per unit, such as 1"
    stated = declared if rows is None else rows
    stated = usual if stated is None else stated
    if stated is None:
        raise ArgumentError("rows", f"is missing; {way_out}")
    most = whole("rows", stated, way_out)
    if most > MANY_ROWS:
        raise ArgumentError("rows", f"must be at most {MANY_ROWS:,}; {way_out}")
    return most
