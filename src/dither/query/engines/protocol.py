"""What an engine must do: hold the tables, speak a dialect, run statements. It never
sees noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import Type
from dither.query.operations.expressions import Call

__all__ = ["Dialect", "Engine", "Session"]


class Dialect(Protocol):
    """How the engine writes the few things that engines write differently.

    Texts and dates are bound as parameters, and parameters are numbered ($1, $2, …): a
    statement's SQL may repeat or reorder its parts, so one list of parameters serves
    one whole statement, and every part written to it must be used.
    """

    name: str

    def call(self, expr: Call, args: Sequence[str]) -> str:
        """The SQL of one operation of the allow-list, given the SQL of its arguments;
        total for every row.
        """

    def literal(self, value: Any, type: Type, parameters: list[Any]) -> str:
        """A constant; texts and dates are appended to the parameters."""

    def read(self, table: Table, field: Field) -> str:
        """A stored column as its declared type: what cannot be read is NULL, what is
        out of bounds is clipped.
        """

    def owner(self, table: Table) -> str:
        """The unit's id of a stored row in one byte-exact form (rule R10), or the
        hidden row id.
        """

    def relation(self, table: Table) -> str:
        """The stored table in a FROM clause."""

    def kept(
        self,
        rows: str,
        columns: Sequence[str],
        most: int,
        salt: str,
        parameters: list[Any],
    ) -> str:
        """Of rows with an owner `u`, at most so many for each owner: all of them, or
        those that come first by a keyed hash of owner and columns. Which are kept never
        depends on another owner's rows."""

    def hashed(self, parts: Sequence[str]) -> str:
        """A hash of some values, of at least 60 bits, the same wherever the values are
        the same.
        """

    def lowest(self, x: str, place: int) -> str:
        """An aggregate: the value that comes at this place in rising order."""

    def listed(
        self,
        values: Sequence[Sequence[Any]],
        types: Sequence[Type],
        parameters: list[Any],
    ) -> str:
        """A SELECT of public values k0, k1, …, one row for each, and its place i."""

    def number(self, x: str, type: Type) -> str:
        """A date or timestamp as the whole number its range counts in; integers stay as
        they are.
        """

    def numbered(self) -> str:
        """A window function: a number from 0 on for each row, in any order."""

    def real(self, x: str) -> str:
        """An integer as a double."""

    def total(self, x: str) -> str:
        """An aggregate: the exact sum of integers, narrow or wide, in the widest type."""

    def wide(self, x: str) -> str:
        """An integer in the widest exact type, at least 126 bits."""

    def divided(self, x: str, by: str) -> str:
        """A quotient of wide integers, rounded toward zero."""

    def root_above(self, x: str) -> str:
        """The square root of a wide integer, rounded up."""

    def doublings(self, x: str, first: int, power: int) -> str:
        """ceil(power · log2(x / first)) as an integer, for a positive x."""


class Session(Protocol):
    """One question's statements on one connection; temporary tables last as long as the
    session.
    """

    def create(self, name: str, select: str, parameters: Sequence[Any] = ()) -> None:
        """A temporary table of what a SELECT finds, computed once."""

    def fetch(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows that a SELECT finds."""


class Engine(Protocol):
    """A place where private tables live."""

    @property
    def dialect(self) -> Dialect: ...

    def session(self) -> AbstractContextManager[Session]: ...

    def close(self) -> None: ...
