"""A catalogue for several tables at once, from what is declared by table when they are
opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dither.errors import ArgumentError
from dither.privacy import ROW, Unit
from dither.query.catalogue.declare import COLUMNS, Stated, column_of, delta_of, unit_of
from dither.query.catalogue.limits import Limits
from dither.query.catalogue.model import Catalogue, Link, Table
from dither.query.catalogue.names import find, likely_ids, nearest
from dither.query.catalogue.types import Type

__all__ = ["declare_several"]

Schemas = Mapping[str, Mapping[str, Type | None] | None]
EXAMPLES = {**COLUMNS, "rows": "50", "links": '("visit_id", "visits.visit_id")'}


def declare_several(
    name: str,
    schemas: Schemas,
    *,
    unit: Any = None,
    public: Any = (),
    links: Any = None,
    bounds: Any = None,
    keys: Any = None,
    types: Any = None,
    rows: Any = None,
    totals: Any = None,
    population: int | None = None,
    budget: float | None = None,
    delta: float | None = None,
    limits: Mapping[str, Any] | None = None,
    version: str = "1",
) -> Catalogue:
    """The catalogue of some tables with their schemas.

    `unit` is one column that every private table has, or the column of each by its
    name: the first of these names the unit. What else is declared stands under the name
    of its table, such as bounds={"visits": {"age": (0, 110)}}.
    """
    stated = {
        "bounds": bounds,
        "keys": keys,
        "types": types,
        "rows": rows,
        "totals": totals,
        "links": links,
    }
    by_table = {
        argument: _by_table(argument, given, schemas)
        for argument, given in stated.items()
    }
    several = _Several(schemas, _public(public, schemas), by_table)
    whom, owners = several.owners(unit)
    return Catalogue(
        name,
        tuple(several.table(one, owners.get(one)) for one in schemas),
        unit=whom,
        population=population,
        epsilon=budget,
        delta=delta_of(population, delta),
        limits=Limits.of(limits),
        version=version,
    )


@dataclass(frozen=True)
class _Several:
    """Tables, which of them are public, and what was declared about each."""

    schemas: Schemas
    public: frozenset[str]
    stated: Mapping[str, Mapping[str, Any]]

    def owners(self, unit: Any) -> tuple[Unit, dict[str, str]]:
        """The unit, and the column with its id in every private table that has one."""
        if isinstance(unit, Mapping):
            return self._by_name(unit, self._owned)
        whom = unit_of(unit, self._columns())
        if whom.name == ROW.name:
            return whom, {}
        return whom, {name: self._owner(name, whom.name) for name in self._owned}

    @property
    def _owned(self) -> list[str]:
        """The tables whose rows must say themselves whose they are."""
        return [
            name
            for name in self.schemas
            if name not in self.public and name not in self.stated["links"]
        ]

    def _columns(self) -> list[str]:
        """All columns, those of several tables first: an id is what tables have in
        common.
        """
        every = [name for schema in self.schemas.values() for name in schema or ()]
        return sorted(dict.fromkeys(every), key=lambda name: -every.count(name))

    def _by_name(
        self, unit: Mapping[Any, Any], owned: list[str]
    ) -> tuple[Unit, dict[str, str]]:
        written = _by_table("unit", unit, self.schemas)
        for name, column in written.items():
            if not isinstance(column, str) or name not in owned:
                why = (
                    f"the table {name!r} is public or linked, so unit= cannot name "
                    "a column of it"
                    if name not in owned
                    else f"the unit of {name!r} must be the name of a column, not "
                    f"{column!r:.40}"
                )
                raise ArgumentError(
                    "unit",
                    f"{why}; name the columns with a person's id in private tables",
                )
        missing = [name for name in owned if name not in written]
        if missing or not written:
            raise ArgumentError(
                "unit",
                f"is missing for {', '.join(missing) or 'all tables'}; "
                f"{self._ways(owned)}",
            )
        return Unit(next(iter(written.values()))), {
            name: self._owner(name, written[name]) for name in written
        }

    def _owner(self, table: str, column: str) -> str:
        schema = self.schemas[table]
        found = column if schema is None else find(column, schema)
        if found is None:
            raise ArgumentError(
                "unit",
                f"the table {table!r} has no column {column!r}; "
                f"{self._ways(self._owned, column)}",
            )
        return found

    def _ways(self, owned: list[str], column: str = "") -> str:
        """How to name the column with a person's id in each table: as it is known, or
        as names look like ids.
        """
        guessed = ", ".join(
            f'"{table}": "{self._likely(table, column)}"' for table in owned
        )
        return (
            "name the column with a person's id in each table, such as "
            f"unit={{{guessed}}}, or declare a table without one in "
            "links= (how its rows find their owner) or in public="
        )

    def _likely(self, table: str, column: str) -> str:
        known = list(self.schemas[table] or ())
        return find(column, known) or next(
            iter([*likely_ids(known), *known]), "patient_id"
        )

    def table(self, name: str, owner: str | None) -> Table:
        schema = self.schemas[name]
        of = {argument: given.get(name) for argument, given in self.stated.items()}
        with _in(name):
            stated = Stated.of(of["bounds"], of["keys"], of["types"], of["totals"])
            link = None if of["links"] is None else self._link(name, of["links"])
            return stated.table(
                name,
                schema,
                owner,
                public=name in self.public,
                link=link,
                rows=of["rows"],
            )

    def _link(self, table: str, written: Any) -> Link:
        ends = (
            written
            if isinstance(written, tuple | list) and len(written) == 2
            else ("", "")
        )
        to, _, key = str(ends[1]).rpartition(".")
        other = find(to, self.schemas)
        if other is None or not isinstance(ends[0], str):
            raise ArgumentError(
                "links",
                "must hold a column and the column that it points to; write "
                f"{EXAMPLES['links']}",
            )
        schema = self.schemas[table]
        return Link(
            ends[0] if schema is None else column_of("links", ends[0], schema),
            other,
            key,
        )


@contextmanager
def _in(table: str) -> Iterator[None]:
    """Say in an error which table it is about."""
    try:
        yield
    except ArgumentError as error:
        if error.argument == table:
            raise
        raise ArgumentError(error.argument, f"in {table}, {error}") from None


def _public(written: Any, schemas: Schemas) -> frozenset[str]:
    names = [written] if isinstance(written, str) else list(written)
    return frozenset(_table_named("public", name, schemas) for name in names)


def _by_table(argument: str, stated: Any, schemas: Schemas) -> dict[str, Any]:
    """The values that were stated under the names of tables, in the spelling of the
    tables.
    """
    if stated is None:
        return {}
    if not isinstance(stated, Mapping):
        raise ArgumentError(
            argument,
            "must be a dictionary by table; write "
            f"{_example(argument, next(iter(schemas)))}",
        )
    return {
        _table_named(argument, name, schemas, given): given
        for name, given in stated.items()
    }


def _table_named(argument: str, name: Any, schemas: Schemas, given: Any = None) -> str:
    found = find(name, schemas) if isinstance(name, str) else None
    if found is not None:
        return found
    having = [
        table
        for table, schema in schemas.items()
        if isinstance(name, str) and find(name, schema or ())
    ]
    if having and argument in COLUMNS:
        nested = f'{argument}={{"{having[0]}": {{"{name}": {given!r:.60}}}}}'
        raise ArgumentError(
            argument,
            f"{name!r} is a column and not a table; declare it by table, such as "
            f"{nested}",
        )
    raise ArgumentError(
        argument,
        f"the table '{name!s:.40}' in {argument}= does not exist; "
        f"{nearest(str(name), schemas)}",
    )


def _example(argument: str, table: str) -> str:
    return (
        f'{argument}={{"{table}": '
        f"{EXAMPLES.get(argument, chr(34) + 'patient_id' + chr(34))}}}"
    )
