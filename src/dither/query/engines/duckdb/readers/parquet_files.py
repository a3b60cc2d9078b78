"""Parquet files as sources, read in place.

No value stops a question (rule R1). Bytes of a text that are not UTF-8 are read as
question marks. An id with such bytes is NULL, since marks would make one id of two
(rule R10), and so is a time that DuckDB has no place for; a file with one of these is
read from a copy that holds bytes and numbers instead (`parquet_footer`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dither.errors import ArgumentError
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.names import find
from dither.query.catalogue.types import Type
from dither.query.engines.columns import Schema, ids
from dither.query.engines.duckdb.connection import (
    PrivateFolder,
    connect,
    described,
    text,
)
from dither.query.engines.duckdb.readers.parquet_footer import bare_copy
from dither.query.engines.duckdb.stored import (
    StoredColumn,
    StoredTable,
    columns_of,
    plain,
    type_of,
)
from dither.query.engines.duckdb.words import NAMES, quoted

if TYPE_CHECKING:
    import duckdb

__all__ = ["ROW", "ParquetFiles"]

ROW = "file_index::BIGINT * 1099511627776 + file_row_number"
HIDDEN = ("file_index", "file_row_number", "filename")
LATEST, EARLIEST = 9_223_372_036_854_775, -9_223_372_022_400_000
"""Milliseconds from 1970: as many as fit DuckDB's times, and as many back as its
calendar has.
"""


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files with one schema, read in place. A row's own id is made of its file
    and its place in it.
    """

    paths: tuple[Path, ...]

    def __post_init__(self) -> None:
        for path in self.paths:
            if re.search(r"[*?\[]", str(path)):
                raise ArgumentError(
                    path.name,
                    "has a wildcard in its path (* ? [); rename it",
                )

    @property
    def relation(self) -> str:
        return self._read("replace")

    @property
    def strict(self) -> str:
        """Its rows in a FROM clause that fails where a text is not UTF-8."""
        return self._read("strict")

    @property
    def shortened(self) -> str:
        """Its rows in a FROM clause that leaves bytes of a text out where they are not
        UTF-8.
        """
        return self._read("ignore")

    def _read(self, validation: str) -> str:
        return (
            f"read_parquet({self._listed}, hive_partitioning = false, "
            f"utf8_validation = '{validation}')"
        )

    @property
    def _listed(self) -> str:
        return f"[{', '.join(text(str(path)) for path in self.paths)}]"

    def schema(self) -> Schema:
        with connect() as connection:
            return plain(self._types(connection))

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> StoredTable:
        types = self._types(connection)
        bare = self._stopping(connection, table, types)
        here, held = self._bare(bare) if bare else (self, None)
        columns = columns_of(types) | {
            name: _of_bare(quoted(name), types[name]) for name in bare
        }
        hidden = any(find(name, types) for name in HIDDEN)
        files = tuple(map(str, here.paths))
        return StoredTable(
            here.relation,
            columns,
            None if hidden else ROW,
            () if hidden else files,
            held,
        )

    def _stopping(
        self,
        connection: duckdb.DuckDBPyConnection,
        table: Table,
        types: Mapping[str, str],
    ) -> list[str]:
        """The declared columns that hold a time that does not fit, or an id that is not
        UTF-8.
        """
        narrow = self._milliseconds(connection)
        found = []
        for field in table.fields:
            name = field.name if field.name in types else find(field.name, types)
            looked = (
                _look(quoted(name), field, types[name], table, narrow=name in narrow)
                if name
                else None
            )
            if (
                name
                and looked
                and not _answers(connection, f"SELECT {looked} FROM {self.strict}")
            ):
                found.append(name)
        return found

    def _milliseconds(self, connection: duckdb.DuckDBPyConnection) -> set[str]:
        """The columns in which times are counted in milliseconds. Finer ones always
        fit, and there are no others.
        """
        kinds = "concat_ws(' ', converted_type, logical_type)"
        sql = (
            f"SELECT name FROM parquet_schema({self._listed}) WHERE {kinds} "
            "LIKE '%MILLI%'"
        )
        return {name for (name,) in connection.execute(sql).fetchall()}

    def _bare(self, columns: list[str]) -> tuple[ParquetFiles, PrivateFolder]:
        """Copies in which some columns are numbers or bytes, and the folder that they
        last as long as.
        """
        folder = PrivateFolder()
        copies = tuple(
            folder.path / f"{place}.parquet" for place in range(len(self.paths))
        )
        with suppress(OSError):
            for path, copy in zip(self.paths, copies, strict=True):
                bare_copy(path, copy, columns)
            return ParquetFiles(copies), folder
        raise ArgumentError(
            self.paths[0].name,
            "cannot be copied; make room for temporary files",
        )

    def _types(self, connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
        """Names and types, if all files agree on them."""
        import duckdb

        try:
            found = described(connection, self.relation)
            others = [
                described(connection, ParquetFiles((path,)).relation)
                for path in self.paths[1:]
            ]
        except duckdb.Error:
            found, others = {}, []
        if not found:
            raise ArgumentError(
                self.paths[0].name,
                "cannot be read as Parquet; check whether it is damaged",
            )
        for path, other in zip(self.paths[1:], others, strict=True):
            if other != found:
                raise ArgumentError(
                    path.name,
                    f"has other columns or types than {self.paths[0].name}; give both "
                    "the same",
                )
        return found


def _look(
    sql: str, field: Field, stored: str, table: Table, *, narrow: bool
) -> str | None:
    """What makes DuckDB look at all values of a column, where one may stop it. (It has
    counts and sizes without.)
    """
    if narrow and type_of(stored) is Type.TIMESTAMP:
        return f"bit_xor(epoch_us({sql}))"
    id = field.type is Type.TEXT and field.name in ids(table)
    return f"max(length({sql}))" if id and stored == NAMES[Type.TEXT] else None


def _answers(connection: duckdb.DuckDBPyConnection, sql: str) -> bool:
    import duckdb

    with suppress(duckdb.Error):
        connection.execute(sql).fetchall()
        return True
    return False


def _of_bare(sql: str, stored: str) -> StoredColumn:
    """A column of a bare copy as what it stands for; what cannot be that is NULL."""
    if type_of(stored) is Type.TEXT:
        return StoredColumn(f"TRY(decode({sql}))", stored, sql)
    first = -LATEST if stored == NAMES[Type.TIMESTAMP] else EARLIEST
    made = f"make_timestamp_ms(least(greatest({sql}, {first}), {LATEST}))"
    return StoredColumn(
        f"(CASE WHEN {sql} BETWEEN {first} AND {LATEST} THEN {made} END)",
        NAMES[Type.TIMESTAMP],
        sql,
    )
