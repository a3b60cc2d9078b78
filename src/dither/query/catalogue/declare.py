"""A catalogue for one table, from what is declared when it is opened and from its
schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dither.errors import ArgumentError
from dither.privacy import ROW, Unit
from dither.query.catalogue.limits import Limits
from dither.query.catalogue.model import ROW_ID, Catalogue, Field, Table, usual_delta
from dither.query.catalogue.names import find, likely_ids, nearest, same
from dither.query.catalogue.types import ANY, Type
from dither.query.catalogue.values import bounds_of, type_of_bounds, type_of_keys

__all__ = [
    "COLUMNS",
    "Stated",
    "column_of",
    "declare",
    "delta_of",
    "missing_unit",
    "unit_of",
]

PROVENANCE = "declared when it was opened"


def declare(
    name: str,
    schema: Mapping[str, Type | None] | None,
    *,
    unit: str | Unit | None = None,
    bounds: Mapping[str, tuple[Any, Any]] | None = None,
    keys: Mapping[str, Iterable[Any]] | None = None,
    types: Mapping[str, str | Type] | None = None,
    population: int | None = None,
    budget: float | None = None,
    delta: float | None = None,
    rows: int | None = None,
    totals: Mapping[str, float] | None = None,
    limits: Mapping[str, Any] | None = None,
    version: str = "1",
    source: str = "",
    stored: str = "",
    book: str | None = None,
) -> Catalogue:
    """The catalogue of one private table.

    `schema` gives its columns: a type where the source has types, None if it holds
    strings (CSV). A schema that is None has no names either (JSON); then the columns
    are those that are declared. A column of strings is read as `types` declare, else as
    its bounds or keys imply (bounds alone never imply whole numbers), else as text:
    nothing is inferred from the data (rule R6).
    """
    stated = Stated.of(bounds, keys, types, totals)
    whom = unit_of(unit, () if schema is None else schema)
    names = stated.names(schema, whom.name)
    owner = None if whom.name == ROW.name else column_of("unit", whom.name, names)
    table = stated.table(name, schema, owner, rows=rows, source=source, stored=stored)
    return Catalogue(
        name,
        (table,),
        unit=whom,
        population=population,
        epsilon=budget,
        delta=delta_of(population, delta),
        limits=Limits.of(limits),
        version=version,
        book=book,
    )


def delta_of(population: int | None, delta: float | None) -> float:
    """The δ that is stated, or the usual one for a population; else none."""
    if delta is not None:
        return delta
    return (
        usual_delta(population)
        if isinstance(population, int) and population >= 1
        else 0.0
    )


COLUMNS = {
    "bounds": '{"age": (0, 110)}',
    "keys": '{"ward": ["A", "B"]}',
    "types": '{"age": "integer"}',
    "totals": '{"cost": 5000}',
}


def _by_column(argument: str, stated: Any) -> dict[str, Any]:
    if stated is None:
        return {}
    if not isinstance(stated, Mapping) or not all(
        isinstance(name, str) for name in stated
    ):
        raise ArgumentError(
            argument,
            f"must be a dictionary by column, such as {COLUMNS[argument]}",
        )
    return dict(stated)


def unit_of(unit: str | Unit | None, columns: Iterable[str]) -> Unit:
    if isinstance(unit, Unit):
        return unit
    if unit is None:
        raise ArgumentError("unit", missing_unit(columns))
    if isinstance(unit, str):
        return Unit(unit)
    raise ArgumentError(
        "unit",
        f'cannot be {unit!r:.40}; pass the name of the column with a person\'s id, or "row"',
    )


def missing_unit(columns: Iterable[str]) -> str:
    """The curator has to declare whom to protect: a table that holds several rows of a
    person looks like any other.
    """
    known = list(columns)
    likely = likely_ids(known)
    example = likely[0] if likely else "patient_id"
    seen = f" By name, these columns may be ids: {', '.join(likely)}." if likely else ""
    return (
        "is missing; pass the column with a person's id, such as "
        f'unit="{example}", or unit="row" if each row is a different '
        f"person.{seen}"
    )


def column_of(argument: str, name: str, names: Iterable[str]) -> str:
    """A column in the spelling of the schema."""
    known = list(names)
    found = find(name, known)
    if found is None:
        way = (
            ' (or pass "row" if each row is a different person)'
            if argument == "unit"
            else ""
        )
        raise ArgumentError(
            argument,
            f"the column {name!r} in {argument}= does not exist; "
            f"{nearest(name, known)}{way}",
        )
    return found


def _listed(name: str, keys: Any) -> list[Any]:
    if isinstance(keys, str | bytes) or not isinstance(keys, Iterable):
        raise ArgumentError(
            "keys",
            f"the keys of {name!r} must be a list, not {keys!r:.40}; pass values "
            'such as ["A", "B"]',
        )
    return list(keys)


@dataclass(frozen=True)
class Stated:
    """The declarations about columns, under the names that were written."""

    bounds: Mapping[str, Any]
    keys: Mapping[str, list[Any]]
    types: Mapping[str, str | Type]
    totals: Mapping[str, float]

    @classmethod
    def of(cls, bounds: Any, keys: Any, types: Any, totals: Any) -> Stated:
        listed = {
            name: _listed(name, one) for name, one in _by_column("keys", keys).items()
        }
        return cls(
            _by_column("bounds", bounds),
            listed,
            _by_column("types", types),
            _by_column("totals", totals),
        )

    def table(
        self,
        name: str,
        schema: Mapping[str, Type | None] | None,
        owner: str | None,
        **more: Any,
    ) -> Table:
        """A table with all columns of its schema. Rows that are units have ids of their
        own, which no column hides.
        """
        names = self.names(schema, owner)
        hidden = owner is None and not more.get("public")
        fields = (
            self.field(one, (schema or {}).get(one))
            for one in names
            if not (hidden and same(one, ROW_ID))
        )
        return Table(name, tuple(fields), owner=owner, **more)

    def names(
        self, schema: Mapping[str, Type | None] | None, unit: str | None = None
    ) -> list[str]:
        """The columns of the schema; without one, the columns that were declared."""
        if schema is not None:
            for argument in ("bounds", "keys", "types", "totals"):
                for name in getattr(self, argument):
                    column_of(argument, name, schema)
            return list(schema)
        owner = () if unit is None or unit == ROW.name else (unit,)
        found: dict[str, str] = {}
        for name in (*owner, *self.types, *self.keys, *self.bounds, *self.totals):
            found.setdefault(name.casefold(), name)
        if not found:
            raise ArgumentError(
                "types",
                "the file does not list its columns; declare them, such as "
                'types={"age": "integer"}',
            )
        return list(found.values())

    def field(self, name: str, stored: Type | None) -> Field:
        bounds, keys = self._about(self.bounds, name), self._about(self.keys, name)
        low, high = (None, None) if bounds is None else _ends(name, bounds)
        type_ = self._type(
            name, stored, (low, high) if bounds is not None else None, keys
        )
        range_ = (
            ANY if bounds is None else bounds_of(f"bounds of {name}", low, high, type_)
        )
        said = PROVENANCE if bounds is not None or keys is not None else ""
        return Field(
            name,
            type_,
            range_,
            None if keys is None else tuple(keys),
            said,
            self._about(self.totals, name),
        )

    def _about(self, stated: Mapping[str, Any], name: str) -> Any:
        found = [value for written, value in stated.items() if same(written, name)]
        if len(found) > 1:
            raise ArgumentError(
                name,
                f"the column {name!r} is declared twice (case does not matter); "
                "declare it once",
            )
        return found[0] if found else None

    def _type(
        self,
        name: str,
        stored: Type | None,
        bounds: tuple[Any, Any] | None,
        keys: list[Any] | None,
    ) -> Type:
        written = self._about(self.types, name)
        if written is not None:
            return _type(name, written)
        if stored is not None:
            return stored
        listed = type_of_keys(f"keys of {name}", keys) if keys else Type.TEXT
        if bounds is None:
            return listed
        implied = type_of_bounds(f"bounds of {name}", *bounds)
        # Bounds such as (0, 500) are written for decimals too, and as whole numbers these
        # would be NULL in silence. Grouping by such a column says what to declare.
        whole = implied is Type.INTEGER and listed is not Type.INTEGER
        return Type.REAL if whole else implied


def _ends(name: str, bounds: Any) -> tuple[Any, Any]:
    if isinstance(bounds, tuple | list) and len(bounds) == 2:
        return bounds[0], bounds[1]
    raise ArgumentError(
        "bounds",
        f"the bounds of {name!r} must be two values, not {bounds!r:.40}; pass a "
        "low and a high one, such as (0, 110)",
    )


def _type(name: str, written: Any) -> Type:
    found = find(written, Type) if isinstance(written, str) else None
    if found is None:
        raise ArgumentError(
            "types",
            f"the type {written!r:.40} of {name!r} is unknown; "
            f"{nearest(str(written), Type)}",
        )
    return Type(found)
