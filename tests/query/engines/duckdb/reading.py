"""What a source holds once it has been opened."""

from __future__ import annotations

from typing import Any

from dither.privacy import Unit
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import Type
from dither.query.engines.duckdb.engine import DuckDBEngine
from dither.query.engines.duckdb.lookup import schema_of

__all__ = ["catalogue_of", "engine_of", "owners_of", "rows_of"]


def catalogue_of(value: Any, stored: str = "", **types: Type) -> Catalogue:
    """A catalogue with a row as the unit: the stated columns, or all of them, texts
    where no type is known.
    """
    schema = schema_of(value, stored) or {}
    fields = types or {name: type_ or Type.TEXT for name, type_ in schema.items()}
    return Catalogue(
        "test",
        (
            Table(
                "data",
                tuple(Field(name, type_) for name, type_ in fields.items()),
                stored=stored,
            ),
        ),
    )


def engine_of(value: Any, stored: str = "", **types: Type) -> DuckDBEngine:
    return DuckDBEngine.of(
        catalogue_of(value, stored, **types), {"data": (value, stored)}
    )


def rows_of(value: Any, stored: str = "", **types: Type) -> list[tuple[Any, ...]]:
    """All rows in the order of their own ids, which all differ."""
    catalogue = catalogue_of(value, stored, **types)
    names = ", ".join(
        '"' + field.name.replace('"', '""') + '"'
        for field in catalogue.tables[0].fields
    )
    with engine_of(value, stored, **types) as engine, engine.session() as session:
        found = session.fetch(f"SELECT rowid, {names} FROM data ORDER BY rowid")
    assert len({row[0] for row in found}) == len(found)
    return [row[1:] for row in found]


def owners_of(value: Any, type_: Type, stored: str = "", name: str = "id") -> list[Any]:
    """Whose the rows of a source are, in the form in which owners are compared; None
    for nobody's.
    """
    table = Table(
        "data",
        (Field(name, type_), Field("n", Type.INTEGER)),
        owner=name,
        stored=stored,
    )
    catalogue = Catalogue("test", (table,), unit=Unit(name))
    with (
        DuckDBEngine.of(catalogue, {"data": (value, stored)}) as engine,
        engine.session() as session,
    ):
        found = session.fetch(
            f"SELECT {engine.dialect.owner(table)} FROM data ORDER BY n"
        )
    return [owner for (owner,) in found]
