"""Text files line by line: what one line holds never changes how another is read (rule
R1).
"""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dither.errors import ArgumentError
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import Type
from dither.query.engines.duckdb.connection import connect
from dither.query.engines.duckdb.readers import text_files, text_lines
from dither.query.engines.duckdb.readers.text_files import CsvFile
from dither.query.engines.duckdb.readers.text_lines import (
    CsvLines,
    JsonLines,
    PlainFile,
    blocks,
    header_of,
)
from tests.query.engines.duckdb.reading import rows_of

LIKELY = [
    b'"',
    b'"',
    b",",
    b",",
    b"\n",
    b"\r",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xe2\x82",
    b"\xef\xbb\xbf",
    b"\\",
    b"#",
    b"x" * 40,
]
BYTES = st.lists(
    st.one_of(st.sampled_from(LIKELY), st.binary(max_size=3)), max_size=12
).map(b"".join)
VALUES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=6
)
RECORDS = st.lists(VALUES, min_size=3, max_size=3).map(
    lambda record: ",".join(
        '"' + value.replace('"', '""') + '"' for value in record
    ).encode()
)
FIELDS = (Field("a", Type.TEXT), Field("b", Type.INTEGER), Field("c", Type.TEXT))
TABLE = Table("data", FIELDS)
quick = settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)


@pytest.fixture(scope="module")
def reader() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect() as connection:
        yield connection


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    return tmp_path / "t.csv"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines, blocks and buffers so small that lines lie across all their ends."""
    monkeypatch.setattr(text_lines, "LONGEST", 100)
    monkeypatch.setattr(text_lines, "BLOCK", 37)
    sizes = "max_line_size = 200, buffer_size = 250"
    monkeypatch.setattr(
        text_files,
        "CSV_OPTIONS",
        re.sub(r"max_line_size = \d+", sizes, text_files.CSV_OPTIONS),
    )


def read(
    csv: Path,
    reader: duckdb.DuckDBPyConnection,
    body: bytes,
    header: bytes = b"a,b,c\n",
) -> Counter[Any]:
    csv.write_bytes(header + body)
    stored = CsvFile(csv).store(reader, TABLE)
    return Counter(reader.execute(stored.read(TABLE)).fetchall())


@pytest.mark.usefixtures("small")
@quick
@given(BYTES, BYTES, BYTES)
def test_files_of_garbage_one_behind_the_other(
    csv: Path,
    reader: duckdb.DuckDBPyConnection,
    first: bytes,
    second: bytes,
    third: bytes,
) -> None:
    """Whatever the bytes are: a file is read as the sum of its parts, where they are
    parted by the end of a line.
    """
    parts = [part + b"\n" for part in (first, second, third)]
    alone = [read(csv, reader, part) for part in parts]
    assert read(csv, reader, b"".join(parts)) == alone[0] + alone[1] + alone[2]


@pytest.mark.usefixtures("small")
@quick
@given(
    st.lists(RECORDS, max_size=8),
    BYTES,
    st.integers(0, 8),
    st.sampled_from([b"\n", b"\r\n"]),
    st.booleans(),
)
def test_a_record_never_changes_another(
    csv: Path,
    reader: duckdb.DuckDBPyConnection,
    records: list[bytes],
    garbage: bytes,
    place: int,
    newline: bytes,
    ended: bool,
) -> None:
    damaged = [*records[:place], garbage, *records[place:]]
    with_it = newline.join(damaged) + (newline if ended else b"")
    without = b"".join(record + newline for record in records)
    more = read(csv, reader, with_it) - read(csv, reader, without)
    assert read(csv, reader, with_it) - more == read(csv, reader, without)
    assert sum(more.values()) <= len(garbage.splitlines())


@pytest.mark.usefixtures("small")
@quick
@given(
    st.lists(st.tuples(VALUES, st.integers(-9, 99), VALUES), max_size=8), st.booleans()
)
def test_what_was_written_is_read(
    csv: Path,
    reader: duckdb.DuckDBPyConnection,
    records: list[tuple[str, int, str]],
    all_quoted: bool,
) -> None:
    def written(value: Any) -> str:
        text = str(value)
        return (
            '"' + text.replace('"', '""') + '"'
            if all_quoted or any(sign in text for sign in ',"')
            else text
        )

    lines = [",".join(map(written, record)).encode() for record in records]
    found = read(csv, reader, b"".join(line + b"\n" for line in lines))
    assert found == Counter(
        (first or None, number, last or None) for first, number, last in records
    )


@quick
@given(st.lists(BYTES, min_size=1, max_size=4), st.sampled_from(",;|\t"))
def test_plain_blocks_are_those_of_which_every_line_is_kept(
    lines: list[bytes], separator: str
) -> None:
    """The quick look at a whole block and the close look at each line agree."""
    reading = CsvLines(separator)
    block = b"".join(line + b"\n" for line in lines)
    assert reading.plain(block) == (
        b"\r" not in block
        and all(reading.kept(line) == line for line in block[:-1].split(b"\n"))
    )
    assert reading.plain(reading.tidied(block)) or not reading.tidied(block)


@quick
@given(BYTES)
def test_fields(line: bytes) -> None:
    fields = CsvLines(",").fields(line)
    if fields is None:
        assert b'"' in line
    else:
        quoted = b",".join(b'"' + field.replace(b'"', b'""') + b'"' for field in fields)
        assert CsvLines(",").fields(quoted) == fields


@quick
@given(BYTES, st.integers(1, 20))
def test_blocks(csv: Path, content: bytes, size: int) -> None:
    csv.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch, csv.open("rb") as file:
        patch.setattr(text_lines, "BLOCK", size)
        pieces = list(blocks(file, CsvLines(",")))
    assert b"".join(pieces) == content
    assert all(piece[-1:] in (b"\n", b"\r") for piece in pieces[:-1])


def test_a_stray_quotation_mark_costs_its_own_line(csv: Path) -> None:
    lines = [f"{i},{i % 7}" for i in range(10_000)]
    csv.write_text(
        "\n".join(["id,x", *lines[:5000], '5000,"oops', *lines[5001:]]) + "\n"
    )
    found = rows_of(csv, id=Type.INTEGER)
    assert sorted(number for (number,) in found) == [
        i for i in range(10_000) if i != 5000
    ]


@pytest.mark.parametrize("odd", [b'1,"', b"x" * 2_000_001])
def test_no_line_is_lost_where_a_buffer_ends(csv: Path, odd: bytes) -> None:
    """DuckDB reads 32 MB at a time."""
    line = b"%09d," + b"x" * 90 + b"\n"
    count = 400_000
    csv.write_bytes(
        b"id,x\n"
        + b"".join(line % i for i in range(count))
        + odd
        + b"\n"
        + line[:-1] % count
    )
    with connect() as connection:
        table = Table("data", (Field("id", Type.INTEGER), Field("x", Type.TEXT)))
        stored = CsvFile(csv).store(connection, table)
        sql = f"SELECT count(id), sum(id), count(DISTINCT id), count(*) FROM ({stored.read(table)}) t"
        assert connection.execute(sql).fetchall() == [
            (count + 1, count * (count + 1) // 2, count + 1, count + 1)
        ]


def test_lines_that_are_too_long(csv: Path) -> None:
    longest = b"1," + b"x" * 1_999_998
    csv.write_bytes(
        b"a,b\n"
        + longest
        + b"\n2"
        + longest
        + b"\n3,y\n4,"
        + b"x" * 9_000_000
        + b"\n5,z"
    )
    assert [row[0] for row in rows_of(csv)] == ["1", "3", "5"]


def test_json_lines_that_are_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(b'{"a": 1}\n{"a": "' + b"x" * 40_000_000 + b'"}\n{"a":\r 2}\n')
    assert sorted(rows_of(path, a=Type.TEXT)) == [("1",), ("2",)]
    monkeypatch.setattr(text_lines, "LONGEST_JSON", 20)
    monkeypatch.setattr(text_lines, "BLOCK", 7)
    lines = [
        b'{"a": 1}',
        b'{"a": "' + b"x" * 11 + b'"}',
        b'{"a": "' + b"x" * 12 + b'"}',
        b'{"a":\r\r2}',
        b"x" * 100,
    ]
    path.write_bytes(b"\n".join(lines))
    assert PlainFile(path, JsonLines()).path != path
    assert [a for (a,) in rows_of(path, a=Type.TEXT)] == ["1", "x" * 11, "2"]
    path.write_bytes(b"\n".join([*lines[:2], lines[3]]))
    assert PlainFile(path, JsonLines()).path == path


def test_the_copy_is_deleted(csv: Path) -> None:
    csv.write_bytes(b"a,b\n1,2\n")
    assert PlainFile(csv, CsvLines(",")).path == csv
    csv.write_bytes(b'\xef\xbb\xbfa,b\r\n1,2\r\n3,"\r\n')
    copied = PlainFile(csv, CsvLines(","))
    assert copied.path.read_bytes() == b"header\n1,2\n"
    assert copied.path.parent.stat().st_mode & 0o077 == 0
    folder = copied.path.parent
    del copied
    gc.collect()
    assert not folder.exists()


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r", b""])
def test_headers(csv: Path, end: bytes) -> None:
    csv.write_bytes(b"\xef\xbb\xbfa,b" + end + (b"1,2" + end if end else b""))
    assert header_of(csv) == b"a,b"
    assert rows_of(csv) == ([("1", "2")] if end else [])


def test_a_header_of_several_lines(csv: Path) -> None:
    csv.write_bytes(b'id,"cost\n(EUR)",x\n1,2,3\n4,"5\n6",7\n8,9,10\n')
    assert rows_of(csv, id=Type.INTEGER, x=Type.INTEGER) == [(1, 3), (8, 10)]


@pytest.mark.parametrize("header", [b'a,"b', b'a,b"c', b'"a"b,c', b'a,"b\n' * 3])
def test_headers_with_stray_marks_are_refused(csv: Path, header: bytes) -> None:
    csv.write_bytes(header + b"\n" + b'1,"2"\n' * 3)
    with pytest.raises(ArgumentError, match="has no header line"):
        CsvFile(csv).schema()
