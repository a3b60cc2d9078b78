"""The operations in PostgreSQL: total on hostile rows, equal to Python's on ordinary
ones.
"""

from __future__ import annotations

import datetime as dt
import math
import random
import sys
from typing import Any

import pytest
from hypothesis import given, settings

from dither.errors import ArgumentError
from dither.privacy import Unit
from dither.query.catalogue.model import Catalogue, Field, Link, Table
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.collect.rows import Writer, render
from dither.query.engines.postgres.engine import PostgresEngine
from dither.query.engines.postgres.words import NAMES
from dither.query.operations.calls import call, literal
from dither.query.operations.evaluate import value
from dither.query.operations.expressions import Call, ColumnType, Expr, Ref
from dither.query.operations.record import OPERATIONS
from dither.query.sql.from_clause import scan
from tests.conformance.postgres_asking import server
from tests.each import each
from tests.query.engines.duckdb.test_dialect import holds, reals, same
from tests.query.engines.postgres.test_engine import made
from tests.query.operations.expression_cases import (
    CASES,
    FIELDS,
    NAMED,
    TABLE,
    C,
    Case,
    nasty_rows,
    ordinary_row,
    over_keys,
)

pytestmark = pytest.mark.engine("postgres")
STORED = "i bigint, j bigint, k numeric, x float8, y float8, z float8, p float8, s varchar, t text, d date, e date"
STORED += ", u timestamp, v timestamp, b boolean, a boolean"


class World:
    """The rows of the cases in a table, and as they are read in `pg_temp.read`."""

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        import psycopg

        address = server().database()
        with psycopg.connect(address) as connection:
            connection.execute(f'CREATE TABLE "odd ""name""" ({STORED})'.encode())
            with connection.cursor().copy(b'COPY "odd ""name""" FROM STDIN') as copy:
                for row in rows:
                    copy.write_row([_stored(one) for one in row])
        catalogue = Catalogue("c", (TABLE,))
        self.engine = PostgresEngine.of(catalogue, {TABLE.name: address})
        self._open = self.engine.session()
        self.session = self._open.__enter__()
        reads = ", ".join(
            f"{self.dialect.read(TABLE, field)} AS c{place}"
            for place, field in enumerate(FIELDS)
        )
        numbered = f"SELECT {reads}, {self.dialect.numbered()} AS place FROM {self.dialect.relation(TABLE)}"
        self.session.create("read", numbered)

    @property
    def dialect(self) -> Any:
        return self.engine.dialect

    def sql_of(self, expr: Expr) -> tuple[str, list[Any]]:
        parameters: list[Any] = []
        return render(
            expr, self.dialect, parameters, lambda ref: f"c{ref.index}"
        ), parameters

    def computed(self, *exprs: Expr) -> list[list[Any]]:
        """The values of expressions, after a look at their types and at what the server
        says to them.
        """
        found = []
        for expr in exprs:
            sql, parameters = self.sql_of(expr)
            rows = self._fetch(
                f"SELECT pg_typeof({sql})::text, {sql} FROM read ORDER BY place",
                parameters,
            )
            assert {kind.partition(" without")[0] for kind, _ in rows} == {
                NAMES[expr.type]
            }
            found.append([one for _, one in rows])
        return found

    def _fetch(self, sql: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        try:
            return self.session._execute(sql, parameters)
        except Exception as problem:
            self.session._connection.execute(b"ROLLBACK TO dither_reading")
            raise AssertionError(f"{problem}\n{sql[:2000]}") from problem

    def close(self) -> None:
        self._open.__exit__(None, None, None)


def _stored(found: Any) -> Any:
    return (
        found.replace(" (BC)", "") + " BC"
        if isinstance(found, str) and "(BC)" in found
        else found
    )


@pytest.fixture(scope="module")
def nasty() -> Any:
    world = World(nasty_rows(600))
    yield world
    world.close()


@pytest.fixture(scope="module")
def ordinary() -> Any:
    source = random.Random(2)  # allowed: it chooses test data
    rows = [ordinary_row(source) for _ in range(100)]
    rows += [
        tuple(one if source.random() < 0.6 else None for one in ordinary_row(source))
        for _ in range(60)
    ]
    world = World(rows)
    yield world
    world.close()


def test_every_operation_is_there() -> None:
    used = {expr.op for case in CASES if isinstance(expr := case.build(), Call)}
    assert used == set(OPERATIONS)


@pytest.mark.parametrize(
    "place", range(len(FIELDS)), ids=[field.name for field in FIELDS]
)
def test_columns_are_read_within_their_bounds(nasty: World, place: int) -> None:
    field = FIELDS[place]
    found = [row[0] for row in nasty._fetch(f"SELECT c{place} FROM read", [])]
    assert any(one is not None for one in found)
    if field.type is not Type.TEXT:
        assert all(holds(field.range, one) for one in found if one is not None)


def test_operations_are_total(nasty: World) -> None:
    """Whatever the rows hold: nothing is raised, the type is as declared, values lie in
    the range or are NULL.
    """

    def check(case: Case) -> None:
        expr = case.build()
        ((*found,),) = nasty.computed(expr)
        if expr.type is not Type.TEXT:
            assert [
                one for one in found if one is not None and not holds(expr.range, one)
            ] == []

    each(NAMED, check)


def test_python_agrees_with_the_engine(ordinary: World) -> None:
    rows = ordinary._fetch("SELECT * FROM read ORDER BY place", [])

    def check(case: Case) -> None:
        expr = case.build()
        ((*found,),) = ordinary.computed(expr)
        pairs = [
            (row, one, value(over_keys(expr), row[:-1], ()))
            for row, one in zip(rows, found, strict=True)
        ]
        assert [pair for pair in pairs if not same(pair[1], pair[2])] == []

    each(NAMED, check)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(expr=reals(3))
def test_random_expressions_stay_in_their_range(nasty: World, expr: Expr) -> None:
    ((*found,),) = nasty.computed(expr)
    assert [
        one for one in found if one is not None and not holds(expr.range, one)
    ] == []


@pytest.mark.full
@settings(max_examples=2_000, deadline=None, derandomize=True, database=None)
@given(expr=reals(4))
def test_many_random_expressions_stay_in_their_range(nasty: World, expr: Expr) -> None:
    ((*found,),) = nasty.computed(expr)
    assert [
        one for one in found if one is not None and not holds(expr.range, one)
    ] == []


BITS = [
    5e-324,
    1e-310,
    2.3e-308,
    1e-200,
    0.1,
    1 / 3,
    0.999999999999,
    1.0,
    1.5,
    3.7,
    1e15,
    2.0**53 + 2,
    1e150,
    1.7e308,
]
SIGNED = [sign * one for one in (0.0, *BITS) for sign in (1.0, -1.0)]


def _ieee(op: str, a: float, b: float) -> float | None:
    """What doubles give; None where that is not finite."""
    try:
        found = {
            "add": lambda: a + b,
            "sub": lambda: a - b,
            "mul": lambda: a * b,
            "div": lambda: a / b,
            "mod": lambda: math.fmod(a, b),
            "power": lambda: math.pow(a, b),
        }[op]()
    except (ArithmeticError, ValueError):
        return None
    return found if math.isfinite(found) else None


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "mod"])
def test_guarded_arithmetic_is_that_of_doubles(ordinary: World, op: str) -> None:
    """To the last bit, in all magnitudes; only results below the smallest normal number
    may be zero.
    """
    pairs = [(a, b) for a in SIGNED for b in SIGNED]
    found = _of_pairs(ordinary, op, pairs)
    expected = [_ieee(op, a, b) for a, b in pairs]
    for pair, one, other in zip(pairs, found, expected, strict=True):
        tiny = (
            op in ("mul", "div")
            and other is not None
            and abs(other) < sys.float_info.min
        )
        assert one == other or (tiny and one == 0), (pair, one, other)


def test_powers_are_those_of_doubles(ordinary: World) -> None:
    """But for the last five digits below the largest number, where they may be NULL."""
    pairs = [
        (a, b)
        for a in SIGNED
        for b in [*SIGNED, 2.0, 3.0, -2.0, 0.5, 1e-301, 1000.0, -1000.0]
    ]
    found = _of_pairs(ordinary, "power", pairs)
    for pair, one in zip(pairs, found, strict=True):
        expected = _ieee("power", *pair)
        near = (
            expected is None
            or one is None
            or math.isclose(one, expected, rel_tol=1e-15, abs_tol=1e-307)
        )
        assert near, (pair, one, expected)
        assert (one is None) == (expected is None), (pair, one, expected)


def _of_pairs(world: World, op: str, pairs: list[tuple[float, float]]) -> list[Any]:
    expr = call(op, C["x"], C["y"])
    sql, _ = world.sql_of(expr)
    sides = [list(side) for side in zip(*pairs, strict=True)]
    rows = "unnest(CAST($1 AS float8[]), CAST($2 AS float8[])) WITH ORDINALITY AS pairs(c3, c4, place)"
    return [
        one
        for (one,) in world._fetch(f"SELECT {sql} FROM {rows} ORDER BY place", sides)
    ]


def test_logarithms_of_powers_of_two_are_whole(ordinary: World) -> None:
    sql, _ = ordinary.sql_of(call("log2", C["x"]))
    powers = [2.0**power for power in range(-1022, 1024)]
    rows = ordinary._fetch(
        f"SELECT {sql} FROM unnest(CAST($1 AS float8[])) AS powers(c3)", [powers]
    )
    assert [one for (one,) in rows] == list(range(-1022, 1024))


def test_guards_do_not_multiply(ordinary: World) -> None:
    """Nested guards multiply the text at each level unless a long value is named."""
    expr: Expr = C["x"]
    for _ in range(30):
        expr = call("div", call("mul", expr, C["y"]), C["z"])
    sql, _ = ordinary.sql_of(expr)
    assert len(sql) < 60_000
    assert len(ordinary.computed(expr)[0]) == 160


def test_texts_that_double_are_cut(nasty: World) -> None:
    expr: Expr = C["s"]
    for _ in range(7):
        expr = call("concat", expr, expr)
    ((*found,),) = nasty.computed(expr)
    assert max(len(one) for one in found if one is not None) == 65_536


@pytest.mark.parametrize(
    "constant",
    [
        0,
        -5,
        2**63 - 1,
        -(2**63),
        0.1,
        -1e300,
        5e-324,
        1.7976931348623157e308,
        "a'b\"c; DROP TABLE read; --$1",
        "\\x41 \\",
        "",
        True,
        dt.date(1, 1, 1),
        dt.date(9999, 12, 31),
        dt.datetime(2024, 2, 29, 1, 2, 3, 4),
        None,
    ],
)
def test_constants_come_back_unchanged(ordinary: World, constant: Any) -> None:
    expr = literal(constant)
    sql, parameters = ordinary.sql_of(expr)
    ((found, kind),) = ordinary._fetch(
        f"SELECT {sql}, pg_typeof({sql})::text", parameters
    )
    assert (found, kind.partition(" without")[0]) == (constant, NAMES[expr.type])
    assert len(parameters) == isinstance(constant, str | dt.date)


@pytest.mark.parametrize("constant", ["a\0b", "\ud800", "\0"])
def test_a_text_that_cannot_be_stored_equals_none(nasty: World, constant: str) -> None:
    """PostgreSQL has no NUL in texts; a question with one is answered all the same."""
    for op in ("eq", "contains", "starts_with"):
        ((*found,),) = nasty.computed(call(op, C["s"], literal(constant)))
        assert set(found) <= {False, None}


@pytest.mark.parametrize(
    ("texts", "type_", "expected"),
    [
        (
            ["12", " 7 ", "+5", "1.5", "-2.5", ".5", "5.", "1e5", "1e-5"],
            Type.INTEGER,
            [12, 7, 5, 2, -3, 1, 5, 100000, 0],
        ),
        (
            ["x", "", "9223372036854775808", "1e400", "nan", "1e99999", "9" * 2000],
            Type.INTEGER,
            [None] * 7,
        ),
        (
            ["9223372036854775807", "-9223372036854775808"],
            Type.INTEGER,
            [2**63 - 1, -(2**63)],
        ),
        (
            ["1.5", "1e400", "-1e400", "1e-400", "5e-324", "inf", "nan"],
            Type.REAL,
            [1.5, None, None, 0.0, 5e-324, None, None],
        ),
        (
            ["1.7976931348623157e308", "1.7976931348623159e308"],
            Type.REAL,
            [1.7976931348623157e308, None],
        ),
        (
            ["true", "T", "yes", "1", "FALSE", "n", "0", "on", "2", ""],
            Type.BOOLEAN,
            [True] * 4 + [False] * 3 + [None] * 3,
        ),
        (
            ["2020-02-29", "2021-02-29", "2020-13-01", "0000-01-01"],
            Type.DATE,
            [dt.date(2020, 2, 29), None, None, None],
        ),
        (
            ["2020-2-9", "2020/02/09", "2020-02-09T10:11"],
            Type.DATE,
            [dt.date(2020, 2, 9)] * 3,
        ),
        (
            ["2020-02-09 25:00:00", "infinity", "2020-02-30 10:00:00"],
            Type.TIMESTAMP,
            [None] * 3,
        ),
        (
            [
                "2020-02-09 01:02:03.000004",
                "2020-02-09 1:2:3.0000049",
                "9999-12-31 23:59:59",
            ],
            Type.TIMESTAMP,
            [
                dt.datetime(2020, 2, 9, 1, 2, 3, 4),
                dt.datetime(2020, 2, 9, 1, 2, 3, 4),
                dt.datetime(9999, 12, 31, 23, 59, 59),
            ],
        ),
    ],
)
def test_texts_are_cast(
    ordinary: World, texts: list[str], type_: Type, expected: list[Any]
) -> None:
    """As DuckDB casts them; what cannot be cast is NULL."""
    sql, _ = ordinary.sql_of(call("cast", C["s"], options=(type_,)))
    rows = ordinary._fetch(
        f"SELECT {sql} FROM unnest(CAST($1 AS text[])) WITH ORDINALITY AS t(c7, n) ORDER BY n",
        [texts],
    )
    assert [one for (one,) in rows] == expected


def read(stored: str, field: Field, *values: str) -> list[Any]:
    """What is read from a column stored like this."""
    import psycopg

    address = server().database()
    with psycopg.connect(address) as connection:
        connection.execute(f"CREATE TABLE t (n int, c {stored})".encode())
        for place, one in enumerate(values):
            connection.execute(f"INSERT INTO t VALUES ({place}, {one})".encode())
    table = Table("t", (field, Field("n", Type.INTEGER)))
    engine = PostgresEngine.of(Catalogue("c", (table,)), {"t": address})
    with engine.session() as session:
        rows = session.fetch(
            f"SELECT {engine.dialect.read(table, field)} FROM t ORDER BY n".replace(
                " t ", " public.t "
            )
        )
    return [one for (one,) in rows]


def moment(*parts: int) -> dt.datetime:
    return dt.datetime(*parts)


@pytest.mark.parametrize(
    ("stored", "field", "values", "expected"),
    [
        (
            "float8",
            Field("c", Type.REAL),
            ["'nan'", "'inf'", "'-inf'", "1.5", "NULL"],
            [None, None, None, 1.5, None],
        ),
        (
            "float8",
            Field("c", Type.REAL, Range(0, 9)),
            ["'nan'", "'inf'", "'-inf'", "1.5"],
            [None, 9.0, 0.0, 1.5],
        ),
        (
            "float8",
            Field("c", Type.REAL, Range(0, None)),
            ["'nan'", "'inf'", "'-inf'", "1.5"],
            [None, None, 0.0, 1.5],
        ),
        (
            "float8",
            Field("c", Type.REAL, Range(None, 9)),
            ["'nan'", "'inf'", "'-inf'", "1.5"],
            [None, 9.0, None, 1.5],
        ),
        ("float4", Field("c", Type.REAL), ["0.1"], [0.10000000149011612]),
        (
            "numeric",
            Field("c", Type.REAL, Range(0, 9)),
            ["'nan'", "'inf'", "1e400", "1e-400"],
            [None, 9.0, 9.0, 0.0],
        ),
        (
            "numeric",
            Field("c", Type.REAL),
            ["'nan'", "'inf'", "1e400", "-1e-400", "0.1"],
            [None, None, None, 0.0, 0.1],
        ),
        ("numeric(18,0)", Field("c", Type.INTEGER), ["'nan'", "12"], [None, 12]),
        (
            "numeric",
            Field("c", Type.INTEGER),
            ["'nan'", "1e30", "2.5", "-2.0"],
            [None, None, None, -2],
        ),
        (
            "varchar",
            Field("c", Type.REAL, Range(0, 9)),
            ["'nan'", "'x'", "'2.5'", "'1e999'", "'inf'"],
            [None, None, 2.5, 9.0, 9.0],
        ),
        (
            "text",
            Field("c", Type.INTEGER, Range(0, 9)),
            ["'12'", "'x'", "'-3'", "NULL"],
            [9, None, 0, None],
        ),
        ("text", Field("c", Type.BOOLEAN), ["'true'", "'maybe'"], [True, None]),
        (
            "text",
            Field("c", Type.TIMESTAMP),
            ["'2020-02-29 12:34:56+05'", "'x'"],
            [moment(2020, 2, 29, 7, 34, 56), None],
        ),
        (
            "date",
            Field("c", Type.DATE),
            ["'infinity'", "'0044-01-01 BC'", "'12000-01-01'"],
            [None, dt.date.min, dt.date.max],
        ),
        (
            "date",
            Field("c", Type.DATE, Range(0, 1)),
            ["'infinity'", "'-infinity'"],
            [dt.date(1970, 1, 2), dt.date(1970, 1, 1)],
        ),
        (
            "date",
            Field("c", Type.TIMESTAMP),
            ["'5874897-12-31'", "'2020-01-02'"],
            [None, moment(2020, 1, 2)],
        ),
        (
            "timestamptz",
            Field("c", Type.TIMESTAMP),
            ["'2020-01-02 03:04:05+02'", "'infinity'"],
            [moment(2020, 1, 2, 1, 4, 5), None],
        ),
        (
            "timestamp",
            Field("c", Type.DATE),
            ["'2020-01-02 23:04:05'", "'infinity'"],
            [dt.date(2020, 1, 2), None],
        ),
        ("bigint", Field("c", Type.TEXT), ["17"], ["17"]),
        (
            "numeric",
            Field("c", Type.TEXT),
            ["1.50", "1e400", "'nan'"],
            ["1.5", "1" + "0" * 400, "NaN"],
        ),
        (
            "numeric(9,0)",
            Field("c", Type.BOOLEAN),
            ["2", "1", "0"],
            [None, True, False],
        ),
        (
            "float8",
            Field("c", Type.TEXT),
            ["1", "1e15", "0.5", "1e22"],
            ["1.0", "1000000000000000.0", "0.5", "1e+22"],
        ),
        ("boolean", Field("c", Type.INTEGER), ["TRUE"], [1]),
        ("int2", Field("c", Type.BOOLEAN), ["2", "1", "0"], [None, True, False]),
        ("char(5)", Field("c", Type.TEXT), ["'ab'"], ["ab"]),
        (
            "uuid",
            Field("c", Type.TEXT),
            ["'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'"],
            ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
        ),
        ("jsonb", Field("c", Type.TEXT), ["'{\"a\":1}'"], ['{"a": 1}']),
    ],
)
def test_reading(
    stored: str, field: Field, values: list[str], expected: list[Any]
) -> None:
    assert read(stored, field, *values) == expected


def test_owners_are_never_rounded() -> None:
    """An id of 1.4 would become that of another person."""
    table = Table("t", (Field("id", Type.INTEGER),), owner="id")
    for stored in ("numeric", "float8", "text"):
        assert read_owner(table, stored, "'1'", "'1.4'", "'7'", "NULL") == [
            1,
            None,
            7,
            None,
        ]


def test_long_numbers_are_different_owners() -> None:
    """A double has 15 digits: those who share them would be one person. Zeros behind
    the point make no two of one.
    """
    table = Table("t", (Field("id", Type.TEXT),), owner="id")
    ids = ["123456789012345678901", "123456789012345678902"]
    assert read_owner(table, "numeric(30,0)", *ids) == ids
    assert read_owner(table, "numeric", "7", "7.0", "7.00") == ["7", "7", "7"]


NEAR = [
    "9007199254740992",
    "9007199254740993",
    "9007199254740992.6",
    "5.0000000000000000000000001",
    "5e0",
    "5.0",
]


def test_near_numbers_are_different_owners() -> None:
    table = Table("t", (Field("id", Type.INTEGER),), owner="id")
    exact = [2**53, 2**53 + 1, None, None]
    assert read_owner(table, "numeric", *NEAR) == [*exact, 5, 5]
    assert read_owner(table, "text", *(f"'{id}'" for id in NEAR)) == [*exact, None, 5]
    table = Table("t", (Field("id", Type.TEXT),), owner="id")
    assert read_owner(table, "numeric", *NEAR[:4], "'nan'") == [*NEAR[:4], None]


def test_near_times_are_different_owners() -> None:
    table = Table("t", (Field("id", Type.TIMESTAMP),), owner="id")
    near = [
        f"'2024-01-01 00:00:00.12345{digits}'"
        for digits in ("6", "6001", "67", "7", "700")
    ]
    times = [moment(2024, 1, 1, 0, 0, 0, 123_456 + k) for k in (0, 1)]
    assert read_owner(table, "text", *near) == [
        times[0],
        None,
        None,
        times[1],
        times[1],
    ]
    assert read_owner(
        table, "date", "'4000-01-01 BC'", "'3000-01-01 BC'", "'2024-01-01'"
    ) == [
        None,
        None,
        moment(2024, 1, 1),
    ]
    table = Table("t", (Field("id", Type.DATE),), owner="id")
    days = ["'2024-01-01'", "'2024-01-01 10:00'", "'2024-01-02'"]
    for stored in ("timestamp", "timestamptz", "text"):
        assert read_owner(table, stored, *days) == [
            dt.date(2024, 1, 1),
            None,
            dt.date(2024, 1, 2),
        ]


def test_reals_are_no_owners() -> None:
    table = Table("t", (Field("id", Type.TEXT),), owner="id")
    for stored in ("float8", "real"):
        with pytest.raises(
            ArgumentError,
            match="holds real numbers, which cannot be ids; declare it as integer",
        ):
            read_owner(table, stored, "1")


def test_keys_that_lead_to_owners_are_never_rounded() -> None:
    """Two visits of two people, 1 and 1.4, would be one, and nobody's: either would
    hide what belongs to the other.
    """
    key, id = Field("visit", Type.INTEGER), Field("id", Type.TEXT)
    visits = Table("visits", (key, id), owner="id")
    codes = Table("codes", (key,), link=Link("visit", "visits", "visit"))
    catalogue = Catalogue("c", (visits, codes), unit=Unit("id"))
    address = made(
        "CREATE TABLE visits (visit numeric, id text); INSERT INTO visits VALUES (1, 'a'), (1.4, 'b')",
        "CREATE TABLE codes (visit numeric); INSERT INTO codes VALUES (1), (1)",
    )
    engine = PostgresEngine.of(catalogue, {"visits": address, "codes": address})
    relation = Writer(engine.dialect, catalogue.table).select(
        scan(catalogue, codes).node
    )
    with engine.session() as session:
        assert session.fetch(f"SELECT u FROM ({relation}) t") == [("a",), ("a",)]


def test_texts_of_hundreds_of_megabytes(ordinary: World) -> None:
    """PostgreSQL fails to search, trim or change the case of one, and to add up to more
    than a gigabyte.
    """
    source = "(SELECT repeat(repeat('x', 9000), 30000) AS c0 OFFSET 0) t"
    giant = Ref.to(0, ColumnType("giant", Type.TEXT, ANY))
    calls = [call("lower", giant), call("trim", giant), call("concat", *[giant] * 5)]
    calls += [Call(type_, ANY, "cast", (giant,)) for type_ in (Type.REAL, Type.DATE)]
    for one in calls:
        sql, parameters = ordinary.sql_of(one)
        ((length,),) = ordinary._fetch(
            f"SELECT length(CAST({sql} AS text)) FROM {source}", parameters
        )
        assert length is None or length in (1 << 16, 1 << 22)


def read_owner(table: Table, stored: str, *values: str) -> list[Any]:
    import psycopg

    address = server().database()
    with psycopg.connect(address) as connection:
        connection.execute(f"CREATE TABLE t (n serial, id {stored})".encode())
        for one in values:
            connection.execute(f"INSERT INTO t (id) VALUES ({one})".encode())
    engine = PostgresEngine.of(
        Catalogue("c", (table,), unit=Unit("id")), {"t": address}
    )
    with engine.session() as session:
        return [
            one
            for (one,) in session.fetch(
                f"SELECT {engine.dialect.owner(table)} FROM public.t ORDER BY n"
            )
        ]


@pytest.mark.parametrize("type_", [Type.REAL, Type.BOOLEAN])
def test_owners_that_are_no_ids(ordinary: World, type_: Type) -> None:
    fake = Table(TABLE.name, (Field("x", type_),))
    object.__setattr__(fake, "owner", "x")
    with pytest.raises(ArgumentError, match="declare it as INTEGER or TEXT"):
        ordinary.dialect.owner(fake)


def test_wide_integers_are_exact(ordinary: World) -> None:
    """Roots are the next whole number, quotients go toward zero, doublings are counted
    without a logarithm.
    """
    dialect, big = ordinary.dialect, (1 << 126) - 1
    for square in (1, 2, 3, 4, 99, 10**30, 10**30 + 1, (10**15 + 1) ** 2, big):
        ((found,),) = ordinary._fetch(f"SELECT {dialect.root_above(str(square))}", [])
        assert found == math.isqrt(square - 1) + 1
    for a, b in ((7, 2), (-7, 2), (7, -2), (big, 3), (-big, 3)):
        ((found,),) = ordinary._fetch(
            f"SELECT {dialect.divided(dialect.wide(str(a)), str(b))}", []
        )
        assert found == abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    for x, first, power in (
        (1, 1, 1),
        (2, 1, 1),
        (3, 1, 1),
        (5, 5, 2),
        (7, 5, 2),
        (2**90, 3, 1),
        (2**90 + 1, 1, 1),
    ):
        ((found,),) = ordinary._fetch(
            f"SELECT {dialect.doublings(str(x), first, power)}", []
        )
        assert found == next(n for n in range(300) if x**power <= first**power << n)
