"""CSV and JSON files as sources, read as text.

A record that a reader cannot make sense of never stops it and never changes how another
is read (rule R1): in CSV a line that is not a record is left out (`text_lines`); in
JSON a line that is not an object has only NULLs. A JSON array is one document, and is
refused as a whole where it is broken.
"""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dither.errors import ArgumentError
from dither.query.catalogue.model import Table
from dither.query.catalogue.names import nameable
from dither.query.engines.columns import Schema, ids, unique
from dither.query.engines.duckdb.connection import text
from dither.query.engines.duckdb.readers.text_lines import (
    LONGEST,
    CsvLines,
    JsonLines,
    PlainFile,
    header_of,
    opened,
)
from dither.query.engines.duckdb.stored import StoredColumn, StoredTable

if TYPE_CHECKING:
    import duckdb

__all__ = ["CsvFile", "JsonFile", "ending"]

# The reader runs in one thread: in several it has to guess where records begin. No
# field can hold what stands for NULL here, the end of a line, so only those that are
# not there are NULL.
CSV_OPTIONS = (
    "auto_detect = false, header = true, quote = '\"', escape = "
    "'\"', nullstr = '\n', encoding = 'utf-8', "
    "strict_mode = false, ignore_errors = true, null_padding = true, parallel = false, "
    f"max_line_size = {2 * LONGEST}"
)
SEPARATORS = ",;|\t"


def ending(path: Path) -> str:
    """The kind of file, by its name."""
    return (
        path.with_suffix("") if path.suffix.lower() == ".gz" else path
    ).suffix.lower()


@dataclass(frozen=True)
class CsvFile:
    """A CSV file with a header line, from which its separator is known; a TSV file has
    tabs.
    """

    path: Path

    def header(self) -> tuple[list[str], str]:
        """Column names and separator, from the first record alone."""
        line = self._first()
        read = [
            (CsvLines(separator).fields(line), separator)
            for separator in self._separators
        ]
        found = [
            ([name.decode().strip() for name in names], separator)
            for names, separator in read
            if names
        ]
        if not line or not found:
            raise ArgumentError(self.path.name, _headless(self.path))
        return max(found, key=lambda names: len(names[0]))

    @property
    def _separators(self) -> str:
        return "\t" if ending(self.path) in (".tsv", ".tab") else SEPARATORS

    def _first(self) -> bytes:
        """The first line; nothing where it is not text."""
        with suppress(OSError, EOFError, zlib.error, UnicodeDecodeError):
            line = header_of(self.path)
            return line if "\0" not in line.decode() else b""
        return b""

    def schema(self) -> Schema:
        names, _ = self.header()
        return dict.fromkeys(unique(self.path.name, list(filter(nameable, names))))

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> StoredTable:  # noqa: ARG002 - part of the protocol
        names, separator = self.header()
        unique(self.path.name, list(filter(nameable, names)))
        plain_file = _plain(self.path, CsvLines(separator))
        # One column more than there are: where it holds something, the line has too
        # many fields.
        columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(names) + 1))
        options = f"columns = {{{columns}}}, delim = {text(separator)}, {CSV_OPTIONS}"
        whole = f"c{len(names) - 1} IS NOT NULL AND c{len(names)} IS NULL"
        rows = (
            f"(SELECT * FROM read_csv({exactly(plain_file.path)}, {options}) "
            f"WHERE {whole})"
        )
        # Without nullif, DuckDB would move a cast into the reader, which leaves out
        # records that it cannot cast.
        named = [
            (name, f"nullif(c{place}, '')")
            for place, name in enumerate(names)
            if nameable(name)
        ]
        found = {name: StoredColumn(sql, "VARCHAR") for name, sql in named}
        return StoredTable(rows, found, held=plain_file)


def _headless(path: Path) -> str:
    """Why a file has no header: it is empty, or in another encoding, as its first bytes
    say.
    """
    start = b""
    with suppress(OSError, EOFError, zlib.error), opened(path) as file:
        start = file.read(4)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return (
            "has no header line in UTF-8, because it is UTF-16; save it as UTF-8 (in "
            "Excel: CSV UTF-8)"
        )
    if start[:2] == b"PK":
        return (
            "has no header line, because it is a spreadsheet or an archive with a "
            "wrong ending; save it as CSV in UTF-8"
        )
    if not start:
        return (
            "has no header line, because it is empty; write the names of its columns "
            "on the first line"
        )
    return (
        "has no header line in UTF-8; write the names of its columns on the first "
        "line, and save it as UTF-8"
    )


@dataclass(frozen=True)
class JsonFile:
    """Objects, one a line or all in one array. Its columns are those that are declared."""

    path: Path

    def schema(self) -> None:
        return None

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> StoredTable:  # noqa: ARG002 - part of the protocol
        columns = {
            field.name: _member(field.name, id=field.name in ids(table))
            for field in table.fields
        }
        options, plain_file = self._options(), None
        if "newline_delimited" in options:
            plain_file = _plain(self.path, JsonLines())
        path = self.path if plain_file is None else plain_file.path
        return StoredTable(
            f"read_json_objects({exactly(path)}, {options})", columns, held=plain_file
        )

    def _options(self) -> str:
        try:
            with opened(self.path) as file:
                start = file.read(4096)
        except (OSError, EOFError):
            start = b"\xef\xbb\xbf"
        if start.startswith(b"\xef\xbb\xbf"):
            raise ArgumentError(
                self.path.name,
                "cannot be read as JSON in UTF-8; save it without a byte order mark",
            )
        if start.lstrip().startswith(b"["):
            return "format = 'array'"
        return "format = 'newline_delimited', ignore_errors = true"


def _plain(path: Path, lines: CsvLines | JsonLines) -> PlainFile:
    with suppress(OSError, EOFError, zlib.error):
        return PlainFile(path, lines)
    raise ArgumentError(
        path.name, "cannot be read to the end; check whether it is damaged"
    )


def exactly(path: Path) -> str:
    """A path for DuckDB, which would take some signs in it for a pattern of other
    files' names.
    """
    return text(re.sub(r"([*?\[])", r"[\1]", str(path)))


def _member(name: str, *, id: bool) -> StoredColumn:
    """A member of an object as a text. DuckDB makes doubles of numbers with a point, so
    these are not ids (rule R10).
    """
    pointer = text(_pointer(name))
    sql = f"(json ->> {pointer})"
    if not id:
        return StoredColumn(sql, "VARCHAR")
    exact = (
        f"json_type(json, {pointer}) = 'VARCHAR' OR "
        f"regexp_full_match({sql}, '-?[0-9]+|true|false')"
    )
    return StoredColumn(f"(CASE WHEN {exact} THEN {sql} END)", "VARCHAR", sql)


def _pointer(name: str) -> str:
    """A JSON pointer to a member, whatever its name holds."""
    return "/" + name.replace("~", "~0").replace("/", "~1")
