"""Private rows for the other rooms of the work floor: owners, and columns clamped to
their bounds. A `Dataset` hands them out against a receipt only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dither.dataset import PrivateRows
from dither.errors import ArgumentError
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import Type
from dither.query.collect.rows import Writer
from dither.query.engines.protocol import Engine
from dither.query.sql.question import Scan

__all__ = ["fetched", "fields_of", "private_table"]

DTYPES = {
    Type.INTEGER: "int64",
    Type.REAL: "float64",
    Type.BOOLEAN: "bool",
    Type.DATE: "datetime64[D]",
    Type.TIMESTAMP: "datetime64[us]",
}


def private_table(catalogue: Catalogue, name: str | None) -> Table:
    """A private table by its name, or the only one."""
    if name is not None and not isinstance(name, str):
        raise ArgumentError("table", "must be the name of a table, as a string")
    if name is None:
        first, *others = catalogue.private
        if others:
            known = ", ".join(repr(table.name) for table in catalogue.private)
            raise ArgumentError("table", f"is missing; pass one of {known}")
        return first
    found = catalogue.table(name)
    if found.public:
        raise ArgumentError(
            "table", f"the table {found.name!r} is public; pass a private table"
        )
    return found


def fields_of(table: Table, columns: Sequence[str]) -> list[Field]:
    """The declared columns of these names."""
    if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
        raise ArgumentError("columns", 'must be a list of names, such as ["age"]')
    return [table.field(name) for name in columns]


def fetched(
    catalogue: Catalogue, engine: Engine, fields: Sequence[Field], table: Table
) -> PrivateRows:
    """The owners and some columns of a private table, row by row. A value that is
    missing, or cannot be read as its declared type, is masked; a missing text is None.
    """
    writer = Writer(engine.dialect, catalogue.table)
    rows = writer.select(Scan((), True, None, table))
    listed = ["u", *(f"c{table.fields.index(field)}" for field in fields)]
    # One order for all fetches, so that columns that are fetched apart fit together.
    # Rows that are equal in everything that is declared may change places.
    order = ", ".join(["u", *(f"c{i}" for i in range(len(table.fields)))])
    select = f"SELECT {', '.join(listed)} FROM ({rows}) t ORDER BY {order}"
    with engine.session() as session:
        found = session.fetch(select, writer.parameters)
    owners, *values = zip(*found, strict=True) if found else [()] * len(listed)
    arrays = {
        field.name: _array(one, field.type)
        for field, one in zip(fields, values, strict=True)
    }
    return PrivateRows(None if catalogue.rows_are_units else _objects(owners), arrays)


def _array(values: Sequence[Any], type_: Type) -> Any:
    """The type depends on what is declared, never on which values are missing."""
    if type_ is Type.TEXT:
        return _objects(values)
    dtype = np.dtype(DTYPES[type_])
    missing = np.array([value is None for value in values], dtype=bool)
    nothing = np.zeros((), dtype).item() if dtype.kind != "M" else "1970-01-01"
    held = [nothing if value is None else value for value in values]
    return np.ma.MaskedArray(np.array(held, dtype=dtype), missing)


def _objects(values: Sequence[Any]) -> Any:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found
