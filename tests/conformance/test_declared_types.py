"""What is stored as one type and declared as another: every engine reads the same
values, what does not fit the declared type is NULL, and nothing raises (rule R1).
"""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dither.privacy import Unit
from dither.query.catalogue import calendar
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.engines.duckdb.engine import DuckDBEngine
from dither.query.engines.postgres.engine import PostgresEngine
from dither.query.engines.protocol import Engine
from dither.query.engines.spark.engine import SparkEngine
from dither.query.operations import forms
from tests.conformance.asking import in_turn
from tests.conformance.postgres_asking import server
from tests.conformance.spark_asking import session
from tests.each import each

MOST = 1e150
BOUNDS = {Type.REAL: Range(-MOST, MOST)}
"""Where infinities become bounds; 0 to 1 would hide what was read."""
NUMBER = count()
WHOLE, REAL, TEXT, TRUTH = Type.INTEGER, Type.REAL, Type.TEXT, Type.BOOLEAN
DAY, TIME = Type.DATE, Type.TIMESTAMP


# How each engine comes to hold a column x of some strings cast to a stored type


def _on_duckdb(catalogue: Catalogue, kind: str, texts: Sequence[Any]) -> Engine:
    made = duckdb.connect()
    made.execute("SET TimeZone = 'UTC'")
    made.execute(f"CREATE TABLE t (n BIGINT, x {kind})")
    made.execute(
        f"INSERT INTO t SELECT i, CAST(v AS {kind}) FROM "
        "(SELECT unnest($1::VARCHAR[]) AS v, unnest(range(len($1::VARCHAR[]))) AS i)",
        [list(texts)],
    )
    return DuckDBEngine.of(catalogue, {"t": (made, "t")})


def _on_postgres(catalogue: Catalogue, kind: str, texts: Sequence[Any]) -> Engine:
    import psycopg

    address, name = _database(), f"t{next(NUMBER)}"
    with psycopg.connect(address) as connection:
        connection.execute(
            f"CREATE TABLE {name} AS SELECT CAST(i - 1 AS bigint) AS n, "
            f"CAST(v AS {kind}) AS x FROM unnest(CAST(%s AS text[])) "
            "WITH ORDINALITY AS listed(v, i)".encode(),
            [list(texts)],
        )
    return PostgresEngine.of(catalogue, {"t": (address, name)})


@cache
def _database() -> str:
    return server().database()


def _on_spark(catalogue: Catalogue, kind: str, texts: Sequence[Any]) -> Engine:
    rows = session().createDataFrame(list(enumerate(texts)), "n bigint, x string")
    return SparkEngine(
        catalogue, {"t": rows.selectExpr("n", f"CAST(x AS {kind}) AS x")}
    )


HELD: dict[str, Callable[[Catalogue, str, Sequence[Any]], Engine]] = {
    "duckdb": _on_duckdb,
    "postgres": _on_postgres,
    "spark": _on_spark,
}
KINDS = {
    "duckdb": {},
    "postgres": {"DOUBLE": "double precision", "FLOAT": "real"},
    "spark": {"VARCHAR": "string", "TIMESTAMP": "timestamp_ntz"},
}


def fields_of(type_: Type) -> tuple[Field, Field]:
    return Field("n", WHOLE), Field("x", type_, BOUNDS.get(type_, ANY))


def values(engine: Engine, table: Table) -> list[Any]:
    listed = ", ".join(engine.dialect.read(table, one) for one in table.fields)
    with engine, engine.session() as opened:
        found = opened.fetch(
            f"SELECT {listed} FROM {engine.dialect.relation(table)} ORDER BY 1"
        )
    return [value for _, value in found]


def read(name: str, kind: str, type_: Type, texts: Sequence[Any]) -> list[Any]:
    table = Table("t", fields_of(type_), owner="n")
    catalogue = Catalogue("c", (table,), unit=Unit("n"))
    stored = KINDS[name].get(kind, kind)
    return values(HELD[name](catalogue, stored, texts), table)


# Strings

STRINGS: dict[Type, dict[str, Any]] = {
    WHOLE: {
        **{"7": 7, "+7": 7, "-7": -7, " 7 ": 7, "\t7\n": 7, "\x0b7": 7, "007": 7},
        **{"7.": 7, "7.0": 7, "7." + "0" * 40: 7, "-0": 0, "0" * 40 + "7": 7},
        **{"1e3": 1000, "1E+05": 100_000, "1.1e+09": 1_100_000_000, "2.50e1": 25},
        **{"9223372036854775807": 2**63 - 1, "-9223372036854775808": -(2**63)},
        "9007199254740993": 2**53 + 1,
        **dict.fromkeys(("5.5", "0.5", ".5", "1.5e0", "1e-3", "70e-1", "1.23e1")),
        **dict.fromkeys(("7." + "0" * 30 + "1", "6.9999999999999999999999")),
        **dict.fromkeys(
            ("9223372036854775808", "-9223372036854775809", "1e19", "1e99")
        ),
        **dict.fromkeys(("0x10", "0b1", "1_000", "1,5", "1,000", "1 000", "7L", "7d")),
        **dict.fromkeys(
            ("NaN", "inf", "", " ", "-", "+", "e3", "1e", "--7", "7-", "٧")
        ),
        **dict.fromkeys(
            ("\u00a07", "true", "NA", "?", "7\x00", "１", "0" * 1000 + "7")
        ),
    },
    REAL: {
        **{
            "5.5": 5.5,
            ".5": 0.5,
            "5.": 5.0,
            " -1e-3 ": -0.001,
            "1e3": 1000.0,
            "7": 7.0,
        },
        **{
            "0.1": 0.1,
            "1E5": 1e5,
            "+2.5": 2.5,
            "123456789012345678": 123456789012345680.0,
        },
        **{
            "inf": MOST,
            "-Infinity": -MOST,
            "1e400": MOST,
            "-1e400": -MOST,
            " INF ": MOST,
        },
        **{"1e-400": 0.0, "1e-300": 1e-300},
        **dict.fromkeys(("NaN", "nan", "1_000", "0x10", "1d", "1f", "5,5", "1e", "e5")),
        **dict.fromkeys((".", "", " ", "infinit", "ınf", "\u00a07", "1e99999", "1 2")),
    },
    TRUTH: {
        **dict.fromkeys(("true", "T", "Yes", "y", "1", " yes ", "TRUE\n"), True),
        **dict.fromkeys(("false", "F", "no", "N", "0", " No", "FALSE"), False),
        **dict.fromkeys(("2", "1.0", "0.0", "on", "off", "yeſ", "", "tr", "10", "-1")),
    },
    DAY: {
        **dict.fromkeys(
            ("2024-01-31", "2024-1-31", "2024/1/31", "31.1.2024", "31.01.2024"),
            date(2024, 1, 31),
        ),
        **dict.fromkeys(
            ("20240131", " 2024-01-31 ", "2024-01-31 23:59", "31.1.2024 9:05"),
            date(2024, 1, 31),
        ),
        **{"2024-01-31T23:30:00-05:00": date(2024, 2, 1), "0001-01-01": date.min},
        **{"9999-12-31": date.max, "2024-02-29": date(2024, 2, 29)},
        **dict.fromkeys(("2023-02-29", "2024-13-01", "2024-00-10", "0000-01-01")),
        **dict.fromkeys(("31/1/2024", "1/31/2024", "24-01-31", "2024-01", "2024")),
        **dict.fromkeys(("infinity", "epoch", "now", "today", "", "10000-01-01")),
        **dict.fromkeys(("1.1.20245", "2024-01/31", "2024-01-31 (BC)", "31012024")),
        **dict.fromkeys(
            ("2024-01-31x", "2024-01-31 24:00:00", "Jan 31, 2024", "45322")
        ),
    },
    TIME: {
        **dict.fromkeys(
            ("2024-01-31 12:30", "2024-01-31T12:30Z", "2024-01-31 12:30 UTC"),
            datetime(2024, 1, 31, 12, 30),
        ),
        **dict.fromkeys(
            ("2024-01-31 14:30+02", "2024-01-31 07:00:00-0530", "31.1.2024 12:30"),
            datetime(2024, 1, 31, 12, 30),
        ),
        **dict.fromkeys(
            ("2024-01-31", "20240131", "2024/01/31 0:0:0"), datetime(2024, 1, 31)
        ),
        "2024-01-31 1:2:3.5": datetime(2024, 1, 31, 1, 2, 3, 500_000),
        "2024-01-31 01:02:03.123456789012+00": datetime(2024, 1, 31, 1, 2, 3, 123_456),
        "0001-01-01 00:00:00+05:00": datetime(1, 1, 1),
        **dict.fromkeys(("2024-01-31 24:00", "2024-01-31 12:60", "2024-01-31 12")),
        **dict.fromkeys(("2024-01-31 12:30:60", "2024-01-31 12:30+99", "12:30", "")),
        **dict.fromkeys(("2024-01-31 12:30 Europe/Rome", "2024-01-31t12:30", "noon")),
        **dict.fromkeys(("2024-02-30 10:00", "2024-01-31 12:30 PM", "infinity")),
    },
    TEXT: {" 7 ": " 7 ", "NA": "NA", "5.50": "5.50"},
}


def storable(name: str, texts: Sequence[str]) -> list[str]:
    """Strings without a NUL, which PostgreSQL cannot store."""
    return [text for text in texts if name != "postgres" or "\0" not in text]


@pytest.mark.parametrize("name", in_turn(HELD))
def test_strings_that_do_not_fit_are_null(name: str) -> None:
    def held(case: tuple[Type, dict[str, Any]]) -> None:
        type_, meant = case
        texts = storable(name, list(meant))
        found = read(name, "VARCHAR", type_, texts)
        assert dict(zip(texts, found, strict=True)) == {
            text: meant[text] for text in texts
        }

    each(((str(case[0]), case) for case in STRINGS.items()), held)


def test_the_same_in_a_file_and_in_a_frame(tmp_path: Path) -> None:
    import pandas as pd

    for type_, meant in STRINGS.items():
        lines = [text for text in meant if not set("\n\r\x0b\0") & set(text)]
        with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [("n", "x"), *enumerate(lines)]
            )
        frame = pd.DataFrame({"n": range(len(lines)), "x": lines})
        table = Table("t", fields_of(type_), owner="n")
        catalogue = Catalogue("c", (table,), unit=Unit("n"))
        for source in (str(tmp_path / "t.csv"), frame):
            found = values(DuckDBEngine.of(catalogue, {"t": source}), table)
            assert found == [meant[text] for text in lines]


ALPHABETS = {
    WHOLE: "00112579+-.eE _x\t",
    REAL: "00112579+-.eE infINAa",
    TRUTH: "10tTrRuUeEfFaAlLsSyYnNoO ",
    DAY: "0012349-/. T",
    TIME: "001239-/:. TZ+",
}
SHAPES = {
    DAY: ("####-##-##", "#-#-####", "##.#.####", "########", "####/#/##"),
    TIME: ("####-##-## ##:##:##.###", "####-#-##T#:##Z", "####-##-## ##:##+##:##"),
}
ENDS = (-(2**63), 2**63 - 1)


def texts_of(type_: Type, number: int) -> list[str]:
    """Strings that are nearly of a form."""
    drawn = random.Random(f"{type_} {number}")
    known = [text for text in STRINGS[type_] if "\0" not in text and len(text) < 60]
    found = []
    for _ in range(number):
        shape = drawn.choice([*SHAPES.get(type_, ()), *known])
        text = re.sub("#", lambda _: drawn.choice("0012345"), shape)
        for _ in range(drawn.choice((0, 0, 1, 2))):
            place = drawn.randrange(len(text) + 1)
            text = text[:place] + drawn.choice(ALPHABETS[type_]) + text[place:]
        found.append(text)
    return found


def meant(text: str, type_: Type) -> Any:
    """A string as the forms say."""
    plain = text.strip(" \t\n\r\f\x0b")
    match type_:
        case Type.INTEGER if re.fullmatch(forms.INTEGER, text):
            number = Fraction(plain)
            fits = number.denominator == 1 and ENDS[0] <= number <= ENDS[1]
            return int(number) if fits else None
        case Type.REAL if re.fullmatch(f"{forms.NUMBER}|{forms.INFINITE}", text):
            return min(max(float(plain), -MOST), MOST)
        case Type.BOOLEAN:
            return plain.lower() in ("true", "t", "yes", "y", "1") or (
                False if plain.lower() in ("false", "f", "no", "n", "0") else None
            )
        case Type.DATE | Type.TIMESTAMP:
            return moment(text, type_)
    return None


def moment(text: str, type_: Type) -> Any:
    for pattern, (year, month, day, rest) in forms.DATES:
        text = re.sub(pattern, rf"\{year}-\{month}-\{day}\{rest}", text, count=1)
    found = re.fullmatch(forms.MOMENT, text)
    if found is None:
        return None
    *numbers, fraction, sign, hours, minutes = found.groups()
    year_, month_, day_, hour, minute, second = (int(one or 0) for one in numbers)
    try:
        time = datetime(year_, month_, day_, hour, minute, second)
    except ValueError:
        return None
    micros = int((fraction or "0").ljust(6, "0")[:6])
    away = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    place = calendar.place(time) + micros
    place -= (-1 if sign == "-" else 1) * (away // timedelta(microseconds=1))
    ends = calendar.MICROSECONDS
    utc = calendar.moment(int(min(max(place, ends.low or 0), ends.high or 0)))
    return utc if type_ is Type.TIMESTAMP else utc.date()


@pytest.mark.parametrize("name", in_turn(HELD))
def test_strings_that_nearly_fit(name: str) -> None:
    for type_ in ALPHABETS:
        texts = texts_of(type_, 4000)
        wanted = [meant(text, type_) for text in texts]
        assert 400 < sum(value is not None for value in wanted) < 3600
        found = read(name, "VARCHAR", type_, texts)
        wrong = [
            one for one in zip(texts, found, wanted, strict=True) if one[1] != one[2]
        ]
        assert not wrong, (type_, wrong[:10])


# Stored columns of other types

EDGES = ["5.0", "5.5", "-0.5", "1e300", "9223372036854775808", "-9223372036854775808"]
STORED: list[tuple[str, Type, dict[str, Any]]] = [
    (
        "DOUBLE",
        WHOLE,
        dict(zip(EDGES, [5, None, None, None, None, -(2**63)], strict=True))
        | {"NaN": None, "Infinity": None, "-Infinity": None, "4.999999999": None},
    ),
    ("FLOAT", WHOLE, {"5.0": 5, "5.5": None, "NaN": None, "16777216": 2**24}),
    ("DOUBLE", REAL, {"5.5": 5.5, "NaN": None, "Infinity": MOST}),
    ("BIGINT", TRUTH, {"1": True, "0": False, "2": None, "-1": None}),
    ("BIGINT", REAL, {"7": 7.0}),
    ("SMALLINT", WHOLE, {"7": 7, "-7": -7}),
    ("DECIMAL(20,2)", WHOLE, {"5.00": 5, "5.50": None, "-0.01": None, "-3.00": -3}),
    ("DECIMAL(20,2)", REAL, {"5.50": 5.5}),
    ("DECIMAL(38,18)", WHOLE, {"5": 5, "5.000000000000000001": None, "0.5": None}),
    (
        "DECIMAL(38,0)",
        WHOLE,
        {"9223372036854775807": 2**63 - 1, "9223372036854775808": None},
    ),
    ("DECIMAL(38,38)", WHOLE, {"0": 0, "0.5": None, "-0." + "9" * 38: None}),
    ("BOOLEAN", WHOLE, {"true": 1, "false": 0}),
    ("BOOLEAN", REAL, {"true": 1.0, "false": 0.0}),
    ("DATE", TIME, {"2024-01-31": datetime(2024, 1, 31)}),
    ("TIMESTAMP", DAY, {"2024-01-31 23:59:59": date(2024, 1, 31)}),
]


@pytest.mark.parametrize("name", in_turn(HELD))
def test_stored_values_that_do_not_fit_are_null(name: str) -> None:
    def held(case: tuple[str, Type, dict[str, Any]]) -> None:
        kind, type_, wanted = case
        found = read(name, kind, type_, [*wanted, None])
        assert found == [*wanted.values(), None]

    each(
        ((f"{kind} as {type_}", case) for case in STORED for kind, type_, _ in [case]),
        held,
    )
