"""What an engine must do: hold the tables, speak a dialect, run statements. It never sees noise."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from dither.query.catalogue import Field, Table
from dither.query.sql.types import Type

__all__ = ["Dialect", "Engine", "Session"]


class Dialect(Protocol):
    """How the engine writes the few things that engines write differently. Texts are bound as parameters."""

    name: str

    def call(self, op: str, args: Sequence[str], types: Sequence[Type], result: Type, options: Sequence[Any]) -> str:
        """The SQL of one operation of the allow-list; total for every input."""

    def literal(self, value: Any, type: Type, parameters: list[Any]) -> str:
        """A constant; texts and dates are appended to the parameters."""

    def read(self, table: Table, field: Field) -> str:
        """A stored column as its declared type: what cannot be read is NULL, what is out of bounds is clipped."""

    def owner(self, table: Table) -> str:
        """The unit's id of a stored row in one byte-exact form (rule R10), or the hidden row id."""

    def relation(self, table: Table) -> str:
        """The stored table in a FROM clause."""

    def keyed_hash(self, salt: str, parts: Sequence[str], parameters: list[Any]) -> str:
        """A keyed hash of some columns, to choose among one unit's rows without looking at another's."""


class Session(Protocol):
    """One question's statements on one connection; temporary tables last as long as the session."""

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> None: ...

    def fetch(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...


class Engine(Protocol):
    """A place where private tables live."""

    @property
    def dialect(self) -> Dialect: ...

    def session(self) -> AbstractContextManager[Session]: ...

    def close(self) -> None: ...
