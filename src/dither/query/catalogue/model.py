"""The curator's declarations: tables, types, unit, bounds, public values, budget.
Nothing is read off the data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from dither.errors import ArgumentError
from dither.ledger import Policy
from dither.privacy import ROW, Unit
from dither.privacy.numbers import fraction, usual_delta
from dither.query.catalogue.limits import Limits
from dither.query.catalogue.names import checked_name, clash, find, nearest, same
from dither.query.catalogue.types import ANY, Keys, Range, Type
from dither.query.catalogue.values import checked_range, keys_of

__all__ = ["Catalogue", "Field", "Link", "Table", "usual_delta"]

LARGEST = 10**15
ROW_ID = "rowid"
"""The name under which engines show a row's own id."""


@dataclass(frozen=True)
class Field:
    """A column as declared: its type, its bounds, its public values, and who declared
    them from what.

    `total` is what the magnitudes of one unit's values add up to at most.
    """

    name: str
    type: Type
    range: Range = ANY
    keys: tuple[Any, ...] | None = None
    provenance: str = ""
    total: float | None = None

    def __post_init__(self) -> None:
        checked_name("column", self.name)
        if (
            self.total is not None
            and not fraction(self.name, self.total, "declare a total such as 5000") > 0
        ):
            raise ArgumentError(
                self.name,
                f"the total of {self.name!r} must be positive; leave it out if there "
                "is no bound",
            )
        try:
            _set(self, "type", Type(self.type))
        except ValueError:
            known = ", ".join(Type)
            raise ArgumentError(
                self.name,
                f"the column {self.name!r} has the unknown type {self.type!r:.40}; "
                f"declare one of {known}",
            ) from None
        checked_range(self.name, self.range, self.type)
        if self.keys is not None:
            _set(
                self, "keys", Keys(keys_of(self.name, self.keys, self.type, self.range))
            )


@dataclass(frozen=True)
class Link:
    """How rows without the unit's id find their owner: `column` here equals `key` in
    `table`, where it is unique.
    """

    column: str
    table: str
    key: str


@dataclass(frozen=True)
class Table:
    """A table as declared. `owner` names the column with the unit's id; a table with
    neither owner nor link has rows as units, or is public. `rows` is a cap: no unit has
    more rows, as is publicly known. `source` says where its rows are, and `stored` what
    the table is called there, if that is a database. `linked` are the columns by which
    rows of other tables find their owner here, as the catalogue says."""

    name: str
    fields: tuple[Field, ...]
    public: bool = False
    owner: str | None = None
    link: Link | None = None
    rows: int | None = None
    source: str = field(default="", repr=False)  # an address may hold a password
    stored: str = ""
    linked: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    def __post_init__(self) -> None:
        checked_name("table", self.name)
        _set(self, "fields", tuple(self.fields))
        double = clash(one.name for one in self.fields)
        if double is not None:
            raise ArgumentError(
                self.name,
                f"the table {self.name!r} has two columns named {double!r} (case does "
                "not matter); declare one",
            )
        if self.rows is not None and (
            isinstance(self.rows, bool)
            or not isinstance(self.rows, int)
            or self.rows < 1
        ):
            raise ArgumentError(
                self.name,
                f"rows of {self.name!r} must be a whole number of at least 1; leave "
                "it out if there is no cap",
            )
        self._check_owner()

    def _check_owner(self) -> None:
        """Rule R10: ids are compared as they are written, so they are never floats."""
        if self.public and (self.owner or self.link or self.rows):
            raise ArgumentError(
                self.name,
                f"the table {self.name!r} is public, so it cannot have an owner, a "
                "link or rows; leave them out",
            )
        if self.owner is not None and self.link is not None:
            raise ArgumentError(
                self.name,
                f"the table {self.name!r} has both an owner and a link; leave the link "
                "out",
            )
        if self.owner is not None:
            _set(self, "owner", self.id_field(self.owner).name)
        if self.link is not None:
            column = self.id_field(self.link.column).name
            _set(self, "link", Link(column, self.link.table, self.link.key))

    def field(self, name: str) -> Field:
        """A column by its name; case does not matter."""
        found = find(name, (one.name for one in self.fields))
        if found is None:
            near = nearest(name, (one.name for one in self.fields))
            raise ArgumentError(
                self.name, f"the table {self.name!r} has no column {name!r}; {near}"
            )
        return next(one for one in self.fields if one.name == found)

    def id_field(self, name: str) -> Field:
        """A column by its name, if ids can be compared in it."""
        found = self.field(name)
        if found.type in (Type.REAL, Type.BOOLEAN):
            raise ArgumentError(
                self.name,
                f"the column {found.name!r} of {self.name!r} is {found.type}, which "
                "ids cannot be; declare it as integer or text",
            )
        return found


@dataclass(frozen=True)
class Catalogue:
    """All that is public about a dataset. `version` is a tag that the curator changes
    on public events (rule R19).

    `engine` is the engine that reads the tables; if it is empty, their sources say so.
    """

    name: str
    tables: tuple[Table, ...]
    unit: Unit = ROW
    population: int | None = None
    epsilon: float | None = None
    delta: float = 0.0
    analysts: Mapping[str, float] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    limits: Limits = field(default_factory=Limits)
    version: str = "1"
    book: str | None = None
    engine: str = ""

    def __post_init__(self) -> None:
        checked_name("name", self.name)
        _set(self, "tables", tuple(self.tables))
        _set(self, "analysts", dict(self.analysts))
        self._check_numbers()
        double = clash(table.name for table in self.tables)
        if double is not None:
            raise ArgumentError(
                "tables",
                f"the table {double!r} is declared twice (case does not matter); "
                "declare it once",
            )
        if not self.private:
            raise ArgumentError(
                "tables",
                "are all public, so there is nothing to protect; declare a private one",
            )
        _set(self, "tables", tuple(self._linked(table) for table in self.tables))
        _set(
            self,
            "tables",
            tuple(replace(table, linked=self._keys_of(table)) for table in self.tables),
        )
        if self.rows_are_units:
            self._check_rows()
        else:
            self._check_owners()

    @property
    def private(self) -> tuple[Table, ...]:
        """The tables that are not public."""
        return tuple(table for table in self.tables if not table.public)

    @property
    def rows_are_units(self) -> bool:
        """Whether each row is an individual of its own."""
        return self.unit.name == ROW.name

    def table(self, name: str) -> Table:
        """A table by its name; case does not matter."""
        for table in self.tables:
            if same(table.name, name):
                return table
        near = nearest(name, (table.name for table in self.tables))
        raise ArgumentError("table", f"the table {name!r} does not exist; {near}")

    def _check_numbers(self) -> None:
        if self.population is not None and not (
            type(self.population) is int and 1 <= self.population <= LARGEST
        ):
            raise ArgumentError(
                "population",
                "must be a whole number of at least 1; leave it out if it is not known",
            )
        if (
            self.epsilon is not None
            and not 0 < fraction("epsilon", self.epsilon) <= LARGEST
        ):
            raise ArgumentError(
                "epsilon",
                f"must be positive, not {self.epsilon!s:.40}; declare the total "
                "budget, such as 3.0",
            )
        if not 0 <= fraction("delta", self.delta) < 1:
            raise ArgumentError(
                "delta",
                f"must be at least 0 and below 1, not {self.delta!s:.40}; declare a "
                "small one, such as 1e-6",
            )
        for analyst, share in self.analysts.items():
            checked_name("analysts", analyst)
            if not 0 < fraction("analysts", share) <= 1:
                raise ArgumentError(
                    "analysts",
                    f"the share of {analyst!r} must be above 0 and at most 1, not "
                    f"{share}; declare a part of the budget, such as 0.25",
                )
        _set(self, "epsilon", None if self.epsilon is None else float(self.epsilon))
        _set(self, "delta", float(self.delta))
        if not isinstance(self.version, str) or not self.version:
            raise ArgumentError(
                "version", 'must be a string; write it in quotes, such as "2026-01"'
            )

    def _linked(self, table: Table) -> Table:
        """The table with its link in the spelling of the linked table; rule R9."""
        if table.link is None:
            return table
        other = self.table(table.link.table)
        if other.owner is None:
            raise ArgumentError(
                table.name,
                f"the table {table.name!r} is linked to {other.name!r}, which has no "
                "owner itself; link it to a table with an owner",
            )
        key, here = other.id_field(table.link.key), table.field(table.link.column)
        if key.type is not here.type:
            mismatch = (
                f"the linked columns differ in type: {table.name}.{here.name} is "
                f"{here.type} and {other.name}.{key.name} is {key.type}"
            )
            raise ArgumentError(table.name, f"{mismatch}; declare both with one type")
        return replace(table, link=Link(here.name, other.name, key.name))

    def _keys_of(self, table: Table) -> frozenset[str]:
        links = [other.link for other in self.tables if other.link is not None]
        return frozenset(link.key for link in links if link.table == table.name)

    def _check_rows(self) -> None:
        """Rows of two tables are units of two kinds, and one account protects one kind
        (rule R7).
        """
        first, *others = self.private
        if others:
            raise ArgumentError(
                "unit",
                f"the rows of {first.name!r} and {others[0].name!r} are different units; "
                "open each table on its own",
            )
        if first.owner or first.link or first.rows:
            raise ArgumentError(
                first.name,
                f"each row of {first.name!r} is a unit, so it cannot have an owner, a "
                "link or rows; leave them out, or name the column with the unit's id",
            )
        if find(ROW_ID, (one.name for one in first.fields)):
            raise ArgumentError(
                first.name,
                f"the column {ROW_ID!r} of {first.name!r} hides the rows' own ids; "
                "leave it out",
            )

    def _check_owners(self) -> None:
        """Rule R10: one form of ids in all tables."""
        for table in self.private:
            if table.owner is None and table.link is None:
                raise ArgumentError(
                    table.name,
                    f"the table {table.name!r} does not have the column "
                    f"{self.unit.name!r} that unit names, nor an owner or a link; check "
                    "the name, or declare the owner or the link of the table (it can be "
                    "public only if it is about nobody)",
                )
        owned = [
            (table, table.field(table.owner))
            for table in self.private
            if table.owner is not None
        ]
        for table, owner in owned[1:]:
            if owner.type is not owned[0][1].type:
                types = (
                    f"the owners in {owned[0][0].name!r} and {table.name!r} have the "
                    f"types {owned[0][1].type} and {owner.type}"
                )
                raise ArgumentError("unit", f"{types}; declare both with one type")

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all that an answer depends on: part of the replay key (rule
        R19).

        Where data and book lie, who may ask and who declared what are left out: they
        change no answer.
        """
        facts = {
            "name": self.name,
            "unit": [self.unit.name, self.unit.relation, *self.unit.given],
            "population": self.population,
            "budget": [self.epsilon, self.delta],
            "version": self.version,
            "tables": [_facts(table) for table in self.tables],
        }
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def _facts(table: Table) -> list[Any]:
    link = (
        []
        if table.link is None
        else [table.link.column, table.link.table, table.link.key]
    )
    fields = [
        [
            one.name,
            one.type,
            one.range.low,
            one.range.high,
            one.keys,
            *([one.total] if one.total is not None else []),
        ]
        for one in table.fields
    ]
    return [table.name, table.public, table.owner, link, table.rows, fields]


def _set(value: Any, name: str, to: Any) -> None:
    """Put a value of a frozen dataclass in its one form, while it is made."""
    object.__setattr__(value, name, to)
