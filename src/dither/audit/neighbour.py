"""A dataset without one unit, in statements alone: every stored table that names owners
is read without that one.

A table that finds its owners through a parent's key loses the unit's rows with the
parent's. Nothing is copied, and nothing here belongs to one engine: an id is compared
as its declared type, byte by byte (rule R10).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.privacy import Relation
from dither.query.catalogue.model import Catalogue, Table
from dither.query.catalogue.types import ANY
from dither.query.catalogue.values import keys_of
from dither.query.collect.rows import Writer
from dither.query.collect.statements import Statements
from dither.query.engines.protocol import Dialect, Session

__all__ = ["Without", "left_out"]


def left_out(dataset: Dataset, unit: Any) -> Any:
    """The id of the unit to leave out, as its column holds ids; refused where no row
    has it.
    """
    owned = _owned(dataset.catalogue)
    column = owned[0].field(owned[0].owner or "")
    (found,) = keys_of("unit", [unit], column.type)
    with dataset.engine.session() as session:
        if not any(_rows(session, dataset, table, found) for table in owned):
            raise ArgumentError(
                "unit",
                f"the unit {unit!r:.60} does not have a row in the data; pass the id of a "
                "unit that has one",
            )
    return found


def _owned(catalogue: Catalogue) -> list[Table]:
    if catalogue.unit.relation is Relation.REPLACE:
        raise ArgumentError(
            "without",
            "is missing, because neighbours of this dataset replace a unit; open a "
            "neighbour and pass it as without",
        )
    if catalogue.rows_are_units:
        raise ArgumentError(
            "without",
            "is missing, because rows do not have ids; open the data without one row and "
            "pass it as without",
        )
    return [table for table in catalogue.private if table.owner is not None]


def _rows(session: Session, dataset: Dataset, table: Table, unit: Any) -> int:
    dialect, parameters = dataset.engine.dialect, list[Any]()
    mine = f"{_id(dialect, table)} = {_literal(dialect, table, unit, parameters)}"
    ((count,),) = session.fetch(
        f"SELECT count(*) FROM {dialect.relation(table)} WHERE {mine}", parameters
    )
    return int(count)


def _id(dialect: Dialect, table: Table) -> str:
    return dialect.read(table, replace(table.field(table.owner or ""), range=ANY))


def _literal(dialect: Dialect, table: Table, unit: Any, parameters: list[Any]) -> str:
    return dialect.literal(unit, table.field(table.owner or "").type, parameters)


class _Filtered:
    """A dialect that reads stored tables without one unit."""

    def __init__(self, dialect: Dialect, unit: Any, parameters: list[Any]) -> None:
        self._dialect, self._unit, self._parameters = dialect, unit, parameters

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dialect, name)

    def relation(self, table: Table) -> str:
        stored = self._dialect.relation(table)
        if table.owner is None:
            return stored
        mine, unit = (
            _id(self._dialect, table),
            _literal(self._dialect, table, self._unit, self._parameters),
        )
        return f"(SELECT * FROM {stored} WHERE {mine} IS NULL OR {mine} <> {unit}) t"


@dataclass(frozen=True)
class Without(Statements):
    """The statements of one question, about a dataset without one unit."""

    unit: Any = None

    def writer(self) -> Writer:
        writer = super().writer()
        writer.dialect = cast(
            Dialect, _Filtered(self.dialect, self.unit, writer.parameters)
        )
        return writer
