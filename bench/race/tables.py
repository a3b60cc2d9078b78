"""The table of the race in every form that a system reads."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import psycopg

from bench import query
from bench.race.entrants import Entrant
from tests.ledger.server import Server, serving

__all__ = ["Table", "tables"]


@dataclass(frozen=True)
class Table:
    """Where one size of the table lies: files of this name, and a database."""

    path: Path
    server: Server | None = None

    def opening(self, entrant: Entrant) -> dict[str, Any]:
        told = {
            "task": "open",
            "path": str(self.path),
            "epsilon": query.EPSILON,
            "delta": query.DELTA,
        }
        told |= entrant.options
        if entrant.script in ("query_dither", "query_duckdb"):
            return told | {"path": f"{self.path}.duckdb"}
        if entrant.database and self.server is not None:
            return told | {
                "address": self.server.address("postgres"),
                "server": parent_of_backends(self.server),
            }
        return told


def parent_of_backends(server: Server) -> int:
    """The server's first process: all others are its children."""
    with psycopg.connect(server.address("postgres")) as connection:
        (found,) = connection.execute("SELECT pg_backend_pid()").fetchall()
        return int(
            Path(f"/proc/{found[0]}/stat")
            .read_text(encoding="utf-8")
            .rpartition(")")[2]
            .split()[1]
        )


def put(path: Path, rows: int, server: Server | None) -> Table:
    """The table as a DuckDB database, a Parquet file, a CSV file, and in PostgreSQL
    where it is asked for.
    """
    query.make(path.with_suffix(".duckdb"), rows)
    with duckdb.connect(f"{path}.duckdb", read_only=True) as connection:
        connection.execute(f"COPY purchases TO '{path}.parquet'")
        connection.execute(f"COPY purchases TO '{path}.csv'")
    if server is not None:
        with psycopg.connect(server.address("postgres"), autocommit=True) as connection:
            connection.execute(
                "CREATE TABLE purchases (user_id bigint, category text, city "
                "text, amount bigint)"
            )
            with connection.cursor().copy(
                "COPY purchases FROM STDIN (FORMAT csv, HEADER)"
            ) as copy:
                copy.write(Path(f"{path}.csv").read_bytes())
            connection.execute("VACUUM ANALYZE purchases")
    return Table(path, server)


@contextmanager
def tables(sizes: Sequence[int]) -> Iterator[dict[int, Table]]:
    with tempfile.TemporaryDirectory() as folder, serving() as server:
        yield {
            rows: put(
                Path(folder) / f"shop{rows}",
                rows,
                server if rows == min(sizes) else None,
            )
            for rows in sizes
        }
