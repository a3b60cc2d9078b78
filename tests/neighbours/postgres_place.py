"""Neighbouring databases in PostgreSQL, whose rows can be changed between questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dither.query.catalogue.model import Catalogue
from dither.query.engines.postgres.engine import PostgresEngine
from tests.conformance.postgres_asking import server
from tests.neighbours.neighbour_place import PUBLIC, STORED, WARDS

__all__ = ["PLACES", "PostgresPlace"]


@dataclass
class PostgresPlace:
    """A database that holds one neighbour after the other. Rows of the others stay
    where they lie.
    """

    catalogue: Catalogue
    engine: PostgresEngine = field(init=False)

    def __post_init__(self) -> None:
        import psycopg

        address = server().database()
        self._connection = psycopg.connect(address, autocommit=True)
        for table in self.catalogue.tables:
            columns = ", ".join(
                f'"{one.name}" {self._type(one.name)}' for one in table.fields
            )
            self._run(f'CREATE TABLE "{table.name}" ({columns}, mine boolean)')
        self.engine = PostgresEngine.of(
            self.catalogue, {table.name: address for table in self.catalogue.tables}
        )
        if WARDS in self.catalogue.tables:
            self._insert("wards", PUBLIC, mine=False)

    @staticmethod
    def _type(name: str) -> str:
        return "double precision" if name in STORED else "text"

    def _run(self, sql: str) -> None:
        self._connection.execute(sql.encode())

    def hold(self, others: Mapping[str, list[list[Any]]]) -> None:
        """All other units' rows, and none of the one unit."""
        for table in self.catalogue.private:
            self._run(f'TRUNCATE "{table.name}"')
            self._insert(table.name, others.get(table.name, []), mine=False)

    def version(self, rows: Mapping[str, list[list[Any]]]) -> None:
        """The one unit's rows in place of those it had."""
        for table in self.catalogue.private:
            self._run(f'DELETE FROM "{table.name}" WHERE mine')
            self._insert(table.name, rows.get(table.name, []), mine=True)

    def shuffle(self, seed: int) -> None:
        """All rows in another order."""
        for table in self.catalogue.private:
            name = f'"{table.name}"'
            self._run(
                f"CREATE TEMP TABLE moved AS SELECT * FROM {name} ORDER BY md5(ctid::text || {seed})"
            )
            self._run(
                f"TRUNCATE {name}; INSERT INTO {name} SELECT * FROM moved; DROP TABLE moved"
            )

    def _insert(self, name: str, rows: Sequence[Sequence[Any]], *, mine: bool) -> None:
        with self._connection.cursor().copy(
            f'COPY "{name}" FROM STDIN'.encode()
        ) as copy:
            for row in rows:
                copy.write_row([*map(_storable, row), mine])

    def close(self) -> None:
        self.engine.close()
        self._connection.close()


def _storable(value: Any) -> Any:
    """There is no NUL in PostgreSQL's texts; another sign that looks like nothing
    stands for it.
    """
    return value.replace("\0", "\1") if isinstance(value, str) else value


PLACES = {"postgres": PostgresPlace}
