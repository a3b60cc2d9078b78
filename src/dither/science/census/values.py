"""Values to be counted: a column in memory, or a column of a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.dataset import Dataset, Kind
from dither.errors import ArgumentError
from dither.privacy.numbers import whole
from dither.science.census.bins import Bins
from dither.science.owners import StoredIds, chosen, codes_of
from dither.science.trials.columns import given, numbers
from dither.wording import CLAMPED

__all__ = ["Values"]

Integers = NDArray[np.int64]

MANY = 10**6
ROWS = "pass how many values per unit are used at most, such as 1"


@dataclass(frozen=True)
class Values:
    """Where the values come from."""

    values: Any
    column: str | None = None
    table: str | None = None

    @classmethod
    def of(cls, values: Any, column: str | None, table: str | None) -> Values:
        if not isinstance(values, Dataset):
            if column is not None or table is not None:
                raise ArgumentError(
                    "column",
                    "column and table can be passed only with a dataset; pass the values "
                    "alone",
                )
            return cls(given("values", values))
        found = cls(values, column, table)
        found._check_column()
        return found

    @property
    def dataset(self) -> Dataset | None:
        return self.values if isinstance(self.values, Dataset) else None

    def _check_column(self) -> None:
        """That there is such a column, declared to hold numbers."""
        known = [one.name for one in self.values.catalogue.private]
        if self.table not in known and (self.table is not None or len(known) > 1):
            raise ArgumentError(
                "table", f"must be one of {', '.join(map(repr, known))}"
            )
        facts = self.values.facts
        found = facts.get(f"{self.table}.{self.column}") or facts.get(self.column)
        if found is None or self.table not in (None, found.table):
            listed = ", ".join(map(repr, facts))
            raise ArgumentError(
                "column", f"must name a column of the dataset; use one of {listed:.400}"
            )
        if found.kind in (Kind.OTHER, Kind.TRUTHS):
            raise ArgumentError(
                "column",
                f"the column {self.column!r} does not hold numbers; name a column that "
                "does",
            )

    @property
    def _owned(self) -> bool:
        return self.dataset is not None and not self.dataset.single

    def most(self, rows: int | None) -> int:
        """How many values of a unit count: stated, or declared for the dataset."""
        if not self._owned:
            if rows is not None and whole("rows", rows, ROWS) != 1:
                raise ArgumentError(
                    "rows", "must be 1, because each value is one unit; leave rows out"
                )
            return 1
        assert self.dataset is not None
        caps = self.dataset.caps
        only = next(iter(caps.values())) if len(caps) == 1 else None
        stated = caps.get(self.table or "", only) if rows is None else rows
        if stated is None:
            raise ArgumentError(
                "rows",
                f"must be declared, because a unit may have several values; {ROWS}",
            )
        most = whole("rows", stated, ROWS)
        if most > MANY:
            raise ArgumentError("rows", f"must be at most {MANY:,}; {ROWS}")
        return most

    def notes(self, most: int, unit: str) -> tuple[str, ...]:
        said = [] if self._owned else [f"each value is one {unit}"]
        if self._owned:
            name = self.values.unit.name
            values = "1 value" if most == 1 else f"{most} values"
            used = f"at most {values} of each {name} {'is' if most == 1 else 'are'} counted"
            said.append(f"{used}; intervals hold if no {name} has more")
        if self.dataset is not None:
            said.append(CLAMPED)
        return tuple(said)

    def counts(self, bins: Bins, most: int, receipt: Any) -> Integers:
        """Exact counts of the bins; after the charge."""
        places = self._places(bins, most, receipt)
        return np.bincount(places[places >= 0], minlength=bins.number)

    def _places(self, bins: Bins, most: int, receipt: Any) -> Integers:
        if self.dataset is None:
            return bins.places(numbers(self.values.column))
        assert self.column is not None
        found = self.dataset.fetch([self.column], table=self.table, receipt=receipt)
        places = bins.places(numbers(found.columns[self.column]))
        if found.owners is None:
            return places
        # Of each unit, values in no bin are dropped before its rows are chosen.
        inside = np.flatnonzero(places >= 0)
        owners = codes_of(StoredIds(np.asarray(found.owners, object)[inside].tolist()))
        places = places[inside]
        return places[chosen(owners, places, np.zeros_like(places), most)]
