"""Files as sources: CSV and JSON read as text, Parquet read in place.

A record that a reader cannot make sense of never stops it and never changes how another is read (rule R1): in CSV a
short record is filled up with NULL, a long one cut, and one that is not UTF-8 or is longer than 2,000,000 bytes left
out; in JSON a line that is no object has only NULLs. Two things cannot be contained: a quotation mark in CSV that is
never closed takes the records after it into its text; and DuckDB stops at a text in Parquet that is not UTF-8, which
`dither doctor --data` finds beforehand.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dither.errors import ArgumentError
from dither.query.catalogue import Table
from dither.query.engines.storage import Column, Schema, Stored, columns_of, connect, described, plain, text, unique
from dither.query.names import find, nameable

if TYPE_CHECKING:
    import duckdb

__all__ = ["CsvFile", "JsonFile", "ParquetFiles", "ending"]

# The reader runs in one thread: in several it has to guess where records begin, and one record could mislead it.
CSV_OPTIONS = (
    "auto_detect = false, header = true, quote = '\"', escape = '\"', nullstr = '', encoding = 'utf-8', "
    "strict_mode = false, ignore_errors = true, null_padding = true, parallel = false"
)
SEPARATORS = ",;|\t"


def ending(path: Path) -> str:
    """What kind of file it is, by its name."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def opened(path: Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.GzipFile(path) if path.suffix.lower() == ".gz" else path.open("rb")


@dataclass(frozen=True)
class CsvFile:
    """A CSV file with a header line, from which its separator is known; a TSV file has tabs."""

    path: Path

    def header(self) -> tuple[list[str], str]:
        """Column names and separator, from the first record alone."""
        separators = "\t" if ending(self.path) == ".tsv" else SEPARATORS
        found = [(self._first(separator), separator) for separator in separators]
        return max(found, key=lambda names: len(names[0]))

    def _first(self, separator: str) -> list[str]:
        try:
            # Bytes that are no text further down must not matter here, so they are not refused by the decoder.
            with io.TextIOWrapper(opened(self.path), "utf-8-sig", errors="replace", newline="") as lines:
                names = next(csv.reader(lines, delimiter=separator), [])
        except (OSError, EOFError, csv.Error):
            names = ["\ufffd"]
        if not names or any("\ufffd" in name or "\0" in name for name in names):
            raise ArgumentError(self.path.name, "has no header line in UTF-8; write the names of its columns first")
        return [name.strip() for name in names]

    def schema(self) -> Schema:
        names, _ = self.header()
        return dict.fromkeys(unique(self.path.name, list(filter(nameable, names))))

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> Stored:  # noqa: ARG002 - part of the protocol
        names, separator = self.header()
        unique(self.path.name, list(filter(nameable, names)))
        columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(names)))
        options = f"columns = {{{columns}}}, delim = {text(separator)}, {CSV_OPTIONS}"
        # Without nullif, DuckDB would move a cast into the reader, which leaves out records that it cannot cast.
        named = [(name, f"nullif(c{place}, '')") for place, name in enumerate(names) if nameable(name)]
        found = {name: Column(sql, "VARCHAR") for name, sql in named}
        return Stored(f"read_csv({exactly(self.path)}, {options})", found)


@dataclass(frozen=True)
class JsonFile:
    """Objects, one a line or all in one array. Its columns are those that are declared."""

    path: Path

    def schema(self) -> None:
        return None

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> Stored:  # noqa: ARG002 - part of the protocol
        names = [field.name for field in table.fields]
        columns = {name: Column(f"(json ->> {text(_pointer(name))})", "VARCHAR") for name in names}
        return Stored(f"read_json_objects({exactly(self.path)}, {self._options()})", columns)

    def _options(self) -> str:
        try:
            with opened(self.path) as file:
                start = file.read(4096)
        except (OSError, EOFError):
            start = b"\xef\xbb\xbf"
        if start.startswith(b"\xef\xbb\xbf"):
            raise ArgumentError(self.path.name, "is not plain JSON in UTF-8; write it without a byte order mark")
        if start.lstrip().startswith(b"["):
            return "format = 'array'"
        return "format = 'newline_delimited', ignore_errors = true"


def exactly(path: Path) -> str:
    """A path for DuckDB, which would take some signs in it for a pattern of other files' names."""
    return text(re.sub(r"([*?\[])", r"[\1]", str(path)))


def _pointer(name: str) -> str:
    """A JSON pointer to a member, whatever its name holds."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


ROW = "file_index::BIGINT * 1099511627776 + file_row_number"
HIDDEN = ("file_index", "file_row_number", "filename")


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files with one schema, read in place. A row's own id is made of its file and its place in it."""

    paths: tuple[Path, ...]

    def __post_init__(self) -> None:
        for path in self.paths:
            if re.search(r"[*?\[]", str(path)):
                raise ArgumentError(path.name, "has a sign in its path (* ? [) that stands for other names; rename it")

    @property
    def relation(self) -> str:
        return f"read_parquet([{', '.join(text(str(path)) for path in self.paths)}], hive_partitioning = false)"

    def schema(self) -> Schema:

        with connect() as connection:
            return plain(self._types(connection))

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> Stored:  # noqa: ARG002 - part of the protocol
        types = self._types(connection)
        hidden = any(find(name, types) for name in HIDDEN)
        files = tuple(map(str, self.paths))
        return Stored(self.relation, columns_of(types), None if hidden else ROW, () if hidden else files)

    def _types(self, connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
        """Names and types, if all files agree on them."""
        import duckdb

        try:
            found = described(connection, self.relation)
            others = [described(connection, ParquetFiles((path,)).relation) for path in self.paths[1:]]
        except duckdb.Error:
            found, others = {}, []
        if not found:
            raise ArgumentError(self.paths[0].name, "cannot be read as Parquet; name Parquet files")
        for path, other in zip(self.paths[1:], others, strict=True):
            if other != found:
                raise ArgumentError(path.name, f"has other columns than {self.paths[0].name}; give both one schema")
        return found
