"""Declared columns and the stored ones that they are read from, in any engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from dither.errors import ArgumentError
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.names import clash, find, nearest
from dither.query.catalogue.types import Type

__all__ = [
    "Schema",
    "check_id",
    "check_readable",
    "decimal_type",
    "find_column",
    "ids",
    "public_keys",
    "unique",
]

Schema = Mapping[str, Type | None]
"""Columns and their types; None if the source holds strings (CSV). Types that cannot be
asked about are left out.
"""
READABLE = {
    Type.TEXT: tuple(Type),
    Type.INTEGER: (Type.INTEGER, Type.REAL, Type.TEXT, Type.BOOLEAN),
    Type.REAL: (Type.REAL, Type.INTEGER, Type.TEXT),
    Type.BOOLEAN: (Type.BOOLEAN, Type.INTEGER, Type.REAL, Type.TEXT),
    Type.DATE: (Type.DATE, Type.TIMESTAMP, Type.TEXT),
    Type.TIMESTAMP: (Type.TIMESTAMP, Type.DATE, Type.TEXT),
}
"""Types that a stored column of each type may be declared as."""
WHOLE_DIGITS = 18
"""Number of digits up to which whole numbers fit 64 bits, whatever the digits are."""
Column = TypeVar("Column")


def decimal_type(digits: int, behind: int) -> Type:
    """The type of decimals with this number of digits, in total and after the point."""
    return Type.INTEGER if behind == 0 and digits <= WHOLE_DIGITS else Type.REAL


def find_column(columns: Mapping[str, Column], table: Table, name: str) -> Column:
    """A stored column by its name, as it is spelled or in another case."""
    found = name if name in columns else find(name, columns)
    if found is None:
        raise ArgumentError(
            table.name,
            f"the source of {table.name!r} has no column {name!r}; "
            f"{nearest(name, columns)}",
        )
    return columns[found]


def check_readable(table: Table, field: Field, stored: Type | None) -> None:
    """Refuses a column that is stored as something else altogether."""
    if stored is None or field.type not in READABLE[stored]:
        found = f"holds values of type {stored}, not {field.type}"
        raise ArgumentError(
            table.name,
            f"the column {field.name!r} of {table.name!r} {found}; declare the stored "
            "type",
        )


def ids(table: Table) -> set[str]:
    """The columns by which owners are found, its own and those of rows that are linked
    to it.
    """
    link = table.link and table.link.column
    return {name for name in (table.owner, link, *table.linked) if name}


def check_id(table: Table, field: Field, *, real: bool) -> None:
    """Refuses strings of reals as ids (rule R10): 1.0 would not be the 1 of another
    table, and NaN would be a unit.
    """
    if real and field.type is Type.TEXT:
        raise ArgumentError(
            table.name,
            f"the column {field.name!r} of {table.name!r} holds real numbers, which "
            "cannot be ids; declare it as integer",
        )


def unique(where: str, names: list[str]) -> list[str]:
    """Column names that can be distinguished."""
    double = clash(names)
    if double is not None:
        raise ArgumentError(
            where,
            f"has two columns named {double!r} (case does not matter); rename one",
        )
    return names


def public_keys(
    rows: Iterable[tuple[Any]] | None, column: str, place: object, type_: Type
) -> list[Any]:
    """The values of a public column without NULL, from rows of one value each; `rows`
    is None if the engine could not read them.
    """
    if rows is None:
        raise ArgumentError(
            "keys_from",
            f"the column {column!r} of {place} cannot be read as {type_}; list the "
            "keys instead",
        )
    return [value for (value,) in rows if value is not None]
