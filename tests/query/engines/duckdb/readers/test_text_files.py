"""CSV and JSON: what is read, and that no record stops the reader or changes another
(rule R1).
"""

from __future__ import annotations

import gzip
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from dither.errors import ArgumentError
from dither.query.catalogue.types import Type
from dither.query.engines.duckdb.lookup import schema_of
from tests.query.engines.duckdb.reading import owners_of, rows_of


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    return tmp_path / "t.csv"


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"a,b,c\n1,2,3\n", [("1", "2", "3")]),
        (b"a,b,c\r\n1,2,3\r\n4,5,6", [("1", "2", "3"), ("4", "5", "6")]),
        (b"\xef\xbb\xbfa,b,c\n1,2,3\n", [("1", "2", "3")]),
        (b"a;b;c\n1;2,5;3\n", [("1", "2,5", "3")]),
        (b"a|b|c\n1|2|3\n", [("1", "2", "3")]),
        (b"a,b,c\n", []),
        (b"a,b,c", []),
        (b"a,b,c\n1,2\n4,5,\n", [("4", "5", None)]),
        (b"a,b,c\n1,2,3,4\n1,2,3,\n5,6,7\n", [("5", "6", "7")]),
        (b"a,b,c\n\n1,2,3\n\n", [("1", "2", "3")]),
        (b'a,b,c\n1,"x\ny",3\n4,"p""q",6\n', [("4", 'p"q', "6")]),
        (b'a,b,c\n1,"x,y;""",3\n', [("1", 'x,y;"', "3")]),
        (b'a,b,c\n1,"x"y,3\n4,5,6\n', [("4", "5", "6")]),
        (b'a,b,c\n1,x"y,3\n4,5,6\n', [("4", "5", "6")]),
        (b'a,b,c\n1,2,"oops\n4,5,6\n7,8,"9"\n', [("4", "5", "6"), ("7", "8", "9")]),
        (b"a,b,c\n1,\0,3\n", [("1", "\0", "3")]),
        (
            b'a,b,c\n1,\xff,3\n4,"\xe2\x82",\xc3\xa9\n',
            [("1", None, "3"), ("4", None, "\xe9")],
        ),
        (b'a,b,c\n"",,NULL\n', [(None, None, "NULL")]),
        (
            b"a,b,c\n# no comment,2,3\n\\N,2,3\n",
            [("# no comment", "2", "3"), ("\\N", "2", "3")],
        ),
        (b"a,b,c\n 1 ,2,3\n", [(" 1 ", "2", "3")]),
        (b"a,b,c\n1,2," + b"x" * 2_100_000 + b"\n4,5,6\n", [("4", "5", "6")]),
        (
            b"a,b,c\n1,2,3\r4,5,6\r\n7,8,9\n",
            [("1", "2", "3"), ("4", "5", "6"), ("7", "8", "9")],
        ),
        (b'\xef\xbb\xbf"a","b","c"\r\n1,2,3\r\n', [("1", "2", "3")]),
        (b'a\n1\n\n""\n\xff\n2\n', [("1",), (None,), (None,), ("2",)]),
    ],
)
def test_csv_is_read_as_text(
    csv: Path, content: bytes, rows: list[tuple[Any, ...]]
) -> None:
    csv.write_bytes(content)
    assert rows_of(csv) == rows


def test_csv_by_its_name(tmp_path: Path) -> None:
    for name, content in (
        ("t.csv.gz", gzip.compress(b"a,b,c\n1,2,3\n")),
        ("t.tsv", b"a\tb\tc\n1\t2\t3\n"),
        ("T.TSV.GZ", gzip.compress(b"a\tb\tc\n1\t2\t3\n")),
        ("t's, odd.csv", b"a,b,c\n1,2,3\n"),
    ):
        (tmp_path / name).write_bytes(content)
        assert rows_of(tmp_path / name) == [("1", "2", "3")]


def test_csv_is_read_as_declared(csv: Path) -> None:
    csv.write_bytes(
        b"i,r,d,t,b\n7,0.5,2024-02-29,2024-02-29 12:30:00,true\nx,x,x,x,x\n"
        b" 7 ,nan,2024-02-30,2024-02-29T12:30:00+02:00,1\n99999999999999999999,1e999,1/2/2024,2024-02-29,yes\n"
    )
    types = {
        "i": Type.INTEGER,
        "r": Type.REAL,
        "d": Type.DATE,
        "t": Type.TIMESTAMP,
        "b": Type.BOOLEAN,
    }
    first, second, third, fourth = rows_of(csv, **types)
    assert first == (7, 0.5, date(2024, 2, 29), datetime(2024, 2, 29, 12, 30), True)
    assert second == (None,) * 5
    assert (third[0], third[2], third[3], third[4]) == (
        7,
        None,
        datetime(2024, 2, 29, 10, 30),
        True,
    )
    assert fourth == (None, float("inf"), None, datetime(2024, 2, 29), True)


@pytest.mark.parametrize("type_", Type)
def test_what_cannot_be_read_is_null_and_its_record_stays(
    csv: Path, type_: Type
) -> None:
    """DuckDB moves casts into its reader, where they would drop the record."""
    csv.write_bytes(b"a,b\n1,?\n2,?\n3,\n")
    read = None if type_ is not Type.TEXT else "?"
    assert rows_of(csv, a=Type.INTEGER, b=type_) == [(1, read), (2, read), (3, None)]
    assert rows_of(csv, b=type_) == [(read,), (read,), (None,)]


def test_the_zone_of_the_machine_does_not_matter(
    csv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    csv.write_bytes(b"t\n2024-02-29 12:30:00\n2024-02-29 12:30:00Z\n")
    for zone in ("Asia/Tokyo", "America/New_York"):
        monkeypatch.setenv("TZ", zone)
        assert rows_of(csv, t=Type.TIMESTAMP) == [(datetime(2024, 2, 29, 12, 30),)] * 2


def test_only_the_header_is_looked_at(csv: Path) -> None:
    csv.write_bytes(b'a, b ,"c,d",,e\n' + b"\xff\0" * 5000)
    assert schema_of(csv) == dict.fromkeys(["a", "b", "c,d", "e"])


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfea\0b\0", b"a,\xff\n1,2\n", b'"' + b"x" * 200_000]
)
def test_no_header(csv: Path, content: bytes) -> None:
    csv.write_bytes(content)
    with pytest.raises(ArgumentError, match="has no header line"):
        schema_of(csv)


def test_not_compressed(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(ArgumentError, match="has no header"):
        schema_of(tmp_path / "t.csv.gz")


def test_cut_off(tmp_path: Path) -> None:
    whole = gzip.compress(
        b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(50_000))
    )
    (tmp_path / "t.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ArgumentError, match="cannot be read to the end") as caught:
        rows_of(tmp_path / "t.csv.gz", a=Type.INTEGER)
    assert caught.value.__context__ is None


def test_columns_that_cannot_be_told_apart(csv: Path) -> None:
    csv.write_bytes(b"a,A\n1,2\n")
    with pytest.raises(ArgumentError, match="two columns named 'A'"):
        schema_of(csv)


def test_a_declared_column_that_is_not_there(csv: Path) -> None:
    csv.write_bytes(b"ward,age\n1,2\n")
    with pytest.raises(
        ArgumentError, match=r"has no column 'wardd'; did you mean ward\?"
    ):
        rows_of(csv, wardd=Type.TEXT)


def test_odd_names(csv: Path) -> None:
    csv.write_bytes(b'"a""b",c\'d,; DROP TABLE data\n1,2,3\n')
    assert rows_of(csv) == [("1", "2", "3")]


def test_ids_that_differ_in_case(csv: Path) -> None:
    csv.write_bytes(b"a\nx\nX\nx \n\xc3\xa9\ne\xcc\x81\n")
    assert len({row[0] for row in rows_of(csv)}) == 5


LINES = (
    b'{"a": 1, "b": "x"}\n{"a": true, "b": null}\nnonsense\n[1, 2]\n5\n\n{"b": {"x": [1]}}\n{"a": "\xff"}\n'
    b'{"a": "\\u0000", "b": 1e400}\n{"a": 1.50, "a": 2}\n{"a": "\\ud800"}\n{"a": '
)


def test_json_lines(tmp_path: Path) -> None:
    for name in ("t.ndjson", "t.jsonl", "t.json"):
        (tmp_path / name).write_bytes(LINES)
        found = rows_of(tmp_path / name, a=Type.TEXT, b=Type.TEXT)
        assert len(found) == 11
        assert set(found) == {
            ("1", "x"),
            ("true", None),
            (None, '{"x":[1]}'),
            ("\0", "1e400"),
            ("1.5", None),
            (None, None),
        }
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(b'{"a": 7}\n'))
    assert rows_of(tmp_path / "t.jsonl.gz", a=Type.INTEGER) == [(7,)]


def test_json_arrays(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(b' [{"a": 7, "b": 0.5}, [1], 5, {"a": "x", "b": {}}, {}]')
    assert sorted(rows_of(path, a=Type.INTEGER, b=Type.REAL), key=str) == [
        (7, 0.5),
        *[(None, None)] * 4,
    ]
    path.write_bytes(b"[]")
    assert rows_of(path, a=Type.INTEGER) == []
    path.write_bytes(b'[{"a": 7}, nonsense]')
    with pytest.raises(ArgumentError, match="cannot be read to the end"):
        rows_of(path, a=Type.INTEGER)


def test_numbers_with_a_point_are_no_ids_in_json(tmp_path: Path) -> None:
    """DuckDB reads them as doubles, of which one stands for many numbers."""
    ids = [
        "9007199254740992",
        "9007199254740993",
        "9007199254740992.6",
        "5.0",
        '"5.0"',
        '"a"',
        "1" + "0" * 30,
        "true",
    ]
    (tmp_path / "t.json").write_text(
        "".join(f'{{"id": {id}, "n": {n}}}\n' for n, id in enumerate(ids))
    )
    assert owners_of(tmp_path / "t.json", Type.INTEGER) == [
        2**53,
        2**53 + 1,
        None,
        None,
        5,
        None,
        None,
        None,
    ]
    texts = [id and id.decode() for id in owners_of(tmp_path / "t.json", Type.TEXT)]
    assert texts == [
        "9007199254740992",
        "9007199254740993",
        None,
        None,
        "5.0",
        "a",
        "1" + "0" * 30,
        "true",
    ]


def test_json_names(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(b'{"a/b": 1, "c~d": 2, "e\'f": 3, "$.g": 4, "h\\"i": 5, "A": 6}\n')
    names = ["a/b", "c~d", "e'f", "$.g", 'h"i', "A"]
    assert rows_of(path, **dict.fromkeys(names, Type.INTEGER)) == [(1, 2, 3, 4, 5, 6)]
    assert schema_of(path) is None
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    with pytest.raises(ArgumentError, match="byte order mark"):
        rows_of(path, a=Type.TEXT)


def test_names_that_look_like_patterns(tmp_path: Path) -> None:
    (tmp_path / "w1.csv").write_text("id\na\nb\n")
    (tmp_path / "w[1].csv").write_text("id\nc\n")
    assert rows_of(tmp_path / "w[1].csv") == [("c",)]
