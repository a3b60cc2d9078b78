"""The tables of a database as they may be shown: what was declared, and nothing from
the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import Type
from dither.text import aligned

__all__ = ["Tables", "given_lines"]

SHOWN = 8


class Tables(Mapping[str, Table]):
    """Tables by name. Printed, they show their columns, types, bounds and public keys."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def __getitem__(self, name: str) -> Table:
        return self._catalogue.table(name)

    def __iter__(self) -> Iterator[str]:
        return (table.name for table in self._catalogue.tables)

    def __len__(self) -> int:
        return len(self._catalogue.tables)

    def __str__(self) -> str:
        tables = ["\n".join(_lines(table)) for table in self._catalogue.tables]
        return "\n\n".join([*tables, *given_lines(self._catalogue)])

    __repr__ = __str__


def given_lines(catalogue: Catalogue) -> list[str]:
    """Exact facts that are published next to all answers; empty if there are none."""
    facts = ", ".join(catalogue.unit.given)
    return [f"published exactly, and not protected: {facts}"] if facts else []


def _lines(table: Table) -> list[str]:
    whose = (
        "public"
        if table.public
        else f"private, owner {table.owner}"
        if table.owner
        else "private"
    )
    if table.link is not None:
        whose = (
            f"private, owner through {table.link.column} = "
            f"{table.link.table}.{table.link.key}"
        )
    most = (
        ""
        if table.rows is None
        else f", at most {table.rows:,} row{'s' * (table.rows != 1)} per unit"
    )
    return [
        f"{table.name} ({whose}{most})",
        *aligned([_about(field) for field in table.fields]),
    ]


def _about(field: Field) -> tuple[str, str, str]:
    return f"  {field.name}", str(field.type), _facts(field)


def _facts(field: Field) -> str:
    if field.keys is not None:
        shown = ", ".join(
            "NULL" if key is None else str(key) for key in field.keys[:SHOWN]
        )
        return f"keys {shown}" + (
            f", … ({len(field.keys)} in total)" if len(field.keys) > SHOWN else ""
        )
    if field.range.low is None and field.range.high is None:
        return ""
    total = (
        ""
        if field.total is None
        else f", at most {field.total:,.12g} in total per unit"
    )
    return (
        f"from {_end(field.range.low, field.type)} to "
        f"{_end(field.range.high, field.type)}{total}"
    )


def _end(end: float | None, type_: Type) -> str:
    from dither.query.catalogue.calendar import day, moment

    if end is None:
        return "any"
    if type_ is Type.DATE:
        return day(int(end)).isoformat()
    return (
        moment(int(end)).isoformat(sep=" ")
        if type_ is Type.TIMESTAMP
        else f"{end:.12g}"
    )
