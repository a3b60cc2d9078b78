"""The interface of an engine: it holds the tables, speaks a dialect, and runs
statements. It never sees noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from dither.query.catalogue.types import Type
from dither.query.engines.columns import Schema
from dither.query.engines.dialect import Dialect

__all__ = ["Dialect", "Engine", "Lookup", "Session"]


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


class Lookup(Protocol):
    """What can be known of an engine's sources before they are opened: each engine's
    module `lookup`.

    A source is a path, an address, a frame or a connection; `stored` is what a table is
    called there. Only `public_values` reads rows.
    """

    def schema_of(self, source: Any, stored: str = "", /) -> Schema | None:
        """Columns with their types; None if they have to be declared (JSON)."""

    def name_of(self, source: Any, stored: str = "", /) -> str:
        """Default name of a table."""

    def public_values(
        self, source: Any, stored: str, column: str, type_: Type, /
    ) -> list[Any]:
        """The different values of a column of a public table, in order, without NULL."""
