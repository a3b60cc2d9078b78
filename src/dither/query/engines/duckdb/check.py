"""What in a source is not read as it was meant: encoding, quotation marks, forms of
numbers and dates, copies of rows.

For the curator's look at the data (`check`) and for nothing else: what it says are
facts about private rows (rule R1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

import duckdb

from dither.query.catalogue import calendar as dates
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import Type
from dither.query.engines.columns import find_column
from dither.query.engines.duckdb.casts import REAL, as_type
from dither.query.engines.duckdb.dialect import DuckDBDialect
from dither.query.engines.duckdb.readers.parquet_files import ROW, ParquetFiles
from dither.query.engines.duckdb.readers.text_files import CsvFile, JsonFile
from dither.query.engines.duckdb.readers.text_lines import (
    LONGEST,
    CsvLines,
    body,
    opened,
)
from dither.query.engines.duckdb.stored import StoredColumn, StoredTable, TableReader
from dither.query.engines.duckdb.words import NAMES, written
from dither.query.operations import forms

__all__ = ["about_source"]

FAULTS = {
    "long": f"{{}} lines have more than {LONGEST:,} bytes and are left out",
    "quotes": (
        "{} lines have a quotation mark inside a field, or one that is "
        "not closed on the line, and are left out; "
        "if values contain line breaks, write the table as Parquet"
    ),
    "fields": "{} lines have more or fewer fields than the header and are left out",
    "bytes": (
        "{} lines hold text that is not UTF-8; those values are read as "
        "NULL; save the file as UTF-8"
    ),
}
REPLACED = "{} strings are not UTF-8; their invalid bytes are read as question marks"
COPIES = "{} rows are exact copies of other rows"
COMMA = r"\s*[+-]?[0-9][0-9. ]*,[0-9]+\s*"
DATED = r"\s*[0-9]{1,4}[-./ ]+[0-9A-Za-z]{1,9}[-./ ,]+[0-9]{1,4}.*"
FORMS = {
    Type.INTEGER: (
        COMMA,
        "have a comma in the number; write a point before decimals, and "
        "nothing between thousands",
    ),
    Type.REAL: (
        COMMA,
        "have a comma in the number; write a point before decimals, and "
        "nothing between thousands",
    ),
    Type.DATE: (DATED, "are dates in another format; write them as 2024-12-31"),
    Type.TIMESTAMP: (
        DATED,
        "are times in another format; write them as 2024-12-31 23:59:00",
    ),
}
"""How values of each type are often written, and what to say of those that cannot be
read.
"""
ABSENT = "stand for missing values, such as NA"
DECIMALS = "have decimals; declare the column as real to keep them"


def about_source(
    connection: duckdb.DuckDBPyConnection,
    reader: TableReader,
    stored: StoredTable,
    table: Table,
) -> Iterator[tuple[str, int, str]]:
    """The subject, the number of cases, and the problem."""
    if isinstance(reader, CsvFile):
        yield from (
            (table.name, number, FAULTS[fault])
            for fault, number in _faults(reader).items()
        )
    if isinstance(reader, JsonFile):
        yield (
            table.name,
            _not_objects(connection, stored),
            "{} lines or items are not objects and have only NULLs",
        )
    for field in table.fields:
        column, about = (
            find_column(stored.columns, table, field.name),
            f"{table.name}.{field.name}",
        )
        for number, what in _values(
            connection, stored, column, stored.field(table, field), field
        ):
            yield about, number, what
        if (
            isinstance(reader, ParquetFiles)
            and stored.row
            and column.type == NAMES[Type.TEXT]
            and not column.raw
        ):
            yield about, _replaced(connection, reader, column), REPLACED
    yield table.name, _copies(connection, stored), COPIES


def _faults(reader: CsvFile) -> dict[str, int]:
    """Number of lines of a CSV file that are not read, or not fully, by reasons."""
    names, separator = reader.header()
    lines, found = CsvLines(separator), Counter[str]()
    with opened(reader.path) as file:
        for block in body(file, lines):
            found.update(
                _fault(lines, line, len(names)) for line in block.splitlines() if line
            )
    return {fault: found[fault] for fault in FAULTS if found[fault]}


def _fault(lines: CsvLines, line: bytes, width: int) -> str:
    if len(line) > LONGEST:
        return "long"
    fields = lines.fields(line)
    if fields is None:
        return "quotes"
    if len(fields) != width:
        return "fields"
    return "" if lines.kept(line) == line else "bytes"


def _not_objects(connection: duckdb.DuckDBPyConnection, stored: StoredTable) -> int:
    sql = (
        "SELECT count(*) - count(*) FILTER (json_type(json) = 'OBJECT') "
        f"FROM {stored.relation}"
    )
    return int(connection.execute(sql).fetchall()[0][0])


def _values(
    connection: duckdb.DuckDBPyConnection,
    stored: StoredTable,
    column: StoredColumn,
    read: str,
    field: Field,
) -> Iterator[tuple[int, str]]:
    """Values that are there and cannot be read as declared, and those that are read but
    can hardly be meant.
    """
    lost = f"{column.there} IS NOT NULL AND {_asked(read, field)} IS NULL"
    reasons = dict(_reasons(column, field.type))
    counts = ", ".join(
        f"count(*) FILTER ({one})"
        for one in (
            lost,
            *_years(read, field.type),
            *(f"{lost} AND {reason}" for reason in reasons.values()),
        )
    )
    # The hash makes the engine look at every value.
    sql = f"SELECT bit_xor(hash({read})), {counts} FROM {stored.relation}"
    _, unread, old, far, *others = connection.execute(sql).fetchall()[0]
    yield unread, f"{{}} values are not of type {field.type} and are read as NULL"
    for advice, number in zip(reasons, others, strict=True):
        yield number, f"{{}} of these {advice}"
    yield (
        old,
        "{} values are before the year 100; check whether years were "
        "written with two digits",
    )
    yield far, "{} values are outside of the years 1 to 9999"


def _asked(read: str, field: Field) -> str:
    """A column as questions read it: an infinity is NULL without a bound, and NaN
    always is.
    """
    if field.type is not Type.REAL:
        return read
    return DuckDBDialect().clipped(read, field.type, field.range)


def _reasons(column: StoredColumn, type_: Type) -> Iterator[tuple[str, str]]:
    """Why values are not of a type, in words, and the SQL of it."""
    sql, text = column.there, column.type == NAMES[Type.TEXT]
    if type_ is Type.INTEGER and (text or column.type in REAL):
        number = as_type(sql, column.type, Type.REAL)
        yield DECIMALS, f"{number} <> trunc({number})"
    if not text or type_ is Type.TEXT:
        return
    if type_ in FORMS:
        form, advice = FORMS[type_]
        yield advice, f"regexp_full_match({sql}, '{form}')"
    absent = ", ".join(f"'{word}'" for word in forms.MISSING)
    yield ABSENT, f"lower(trim({sql}, ' \t')) IN ({absent})"


def _years(read: str, type_: Type) -> tuple[str, str]:
    """Whether a date is before the year 100, and whether it is outside of the calendar."""
    whole = {Type.DATE: dates.DAYS, Type.TIMESTAMP: dates.MICROSECONDS}.get(type_)
    if whole is None:
        return "FALSE", "FALSE"
    first, last = written(whole.low or 0, type_), written(whole.high or 0, type_)
    hundred = f"{NAMES[type_]} '0100-01-01'"
    return (
        f"{read} >= {first} AND {read} < {hundred}",
        f"{read} < {first} OR {read} > {last}",
    )


def _replaced(
    connection: duckdb.DuckDBPyConnection, reader: ParquetFiles, column: StoredColumn
) -> int:
    """Number of strings that are not UTF-8: they differ where such bytes are replaced
    and where they are left out.
    """
    one, other = (
        f"(SELECT {ROW} AS row, {column.sql} AS x FROM {way})"
        for way in (reader.relation, reader.shortened)
    )
    sql = f"SELECT count(*) FROM {one} a JOIN {other} b USING (row) WHERE a.x <> b.x"
    return int(connection.execute(sql).fetchall()[0][0])


def _copies(connection: duckdb.DuckDBPyConnection, stored: StoredTable) -> int:
    """Number of rows of which all stored columns, declared or not, are those of another
    row.
    """
    alike = '"number of copies in dither"'  # a name that hides no column
    groups = f"SELECT count(*) AS {alike}, * FROM {stored.relation} GROUP BY ALL"
    sql = f"SELECT coalesce(sum({alike} - 1), 0) FROM ({groups}) t"
    # A column that is not declared may hold what cannot be read
    with suppress(duckdb.Error):
        return int(connection.execute(sql).fetchall()[0][0])
    return 0
