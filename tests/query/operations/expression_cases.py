"""One case or more for every operation: how it is built, and the same in plain SQL
where values are ordinary.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import duckdb

from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import Range, Type
from dither.query.collect.rows import render
from dither.query.engines.duckdb.dialect import DuckDBDialect
from dither.query.operations.calls import call, literal
from dither.query.operations.expressions import Call, ColumnType, Expr, KeyLeaf, Ref

FIELDS = (
    Field("i", Type.INTEGER),
    Field("j", Type.INTEGER),
    Field("k", Type.INTEGER, Range(-7, 110)),
    Field("x", Type.REAL),
    Field("y", Type.REAL),
    Field("z", Type.REAL, Range(-5.5, 1000.0)),
    Field("p", Type.REAL, Range(0.25, None)),
    Field("s", Type.TEXT),
    Field("t", Type.TEXT),
    Field("d", Type.DATE),
    Field("e", Type.DATE, Range(10957, 21915)),
    Field("u", Type.TIMESTAMP),
    Field("v", Type.TIMESTAMP, Range(None, 1_700_000_000_000_000)),
    Field("b", Type.BOOLEAN),
    Field("a", Type.BOOLEAN),
)
TABLE = Table('odd "name"', FIELDS)
STORED = "i BIGINT, j BIGINT, k HUGEINT, x DOUBLE, y DOUBLE, z DOUBLE, p DOUBLE, s VARCHAR COLLATE NOCASE, t VARCHAR, "
STORED += "d DATE, e DATE, u TIMESTAMP, v TIMESTAMP, b BOOLEAN, a BOOLEAN"
C = {
    field.name: Ref.to(place, ColumnType(field.name, field.type, field.range))
    for place, field in enumerate(FIELDS)
}
DIALECT = DuckDBDialect()

INTS = [
    None,
    0,
    1,
    -1,
    2,
    7,
    -7,
    10,
    2**31,
    2**53 + 1,
    -(2**53) - 1,
    2**62,
    -(2**62),
    2**63 - 1,
    -(2**63),
]
HUGE = [None, 0, 1, -1, 5, -9, 110, 111, 10**30, -(10**30)]
REALS = [
    None,
    math.nan,
    math.inf,
    -math.inf,
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.0,
    2.5,
    -2.5,
    3.7,
    1e15,
    9.3e18,
    -9.3e18,
    1e150,
]
REALS += [
    -1e200,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    5e-324,
    -5e-324,
    1e-200,
    709.9,
    999.9999,
    1000.0,
]
TEXTS = [
    None,
    "",
    " ",
    " a ",
    "A%b_c\\d",
    "Ünïcödé ß İ 日本 👩‍👩‍👧",
    "a" * 1000,
    "nan",
    "inf",
    "-Infinity",
    "1e400",
    "12",
    " 7 ",
]
TEXTS += [
    "9223372036854775808",
    "2020-02-30",
    "2020-02-29",
    "infinity",
    "5000000-01-01",
    "0044-03-15 (BC)",
    "0x1F",
    "1.5",
]
TEXTS += [
    "2020-01-01 25:00:00",
    "2021-03-04 05:06:07.5",
    "true",
    "'; DROP TABLE x; --",
    '"',
    "e\u0301",
    "\u202e\ufeff\t\n",
]
DATES = [
    None,
    "infinity",
    "-infinity",
    "0044-03-15 (BC)",
    "0001-01-01",
    "0001-01-02",
    "9999-12-31",
    "9999-12-30",
]
DATES += [
    "1969-12-31",
    "1970-01-01",
    "2000-02-29",
    "2024-01-31",
    "2024-12-30",
    "12345-06-07",
    "5874897-12-31",
]
TIMES = [
    None,
    "infinity",
    "-infinity",
    "0044-03-15 (BC) 01:02:03",
    "0001-01-01",
    "9999-12-31 23:59:59.999999",
]
TIMES += [
    "1969-12-31 23:59:59.999999",
    "1970-01-01",
    "2024-02-29 12:34:56.789",
    "294247-01-10 04:00:54.775806",
]
TRUTHS = [None, True, False]
NASTY = [
    INTS,
    INTS,
    HUGE,
    REALS,
    REALS,
    REALS,
    REALS,
    TEXTS,
    TEXTS,
    DATES,
    DATES,
    TIMES,
    TIMES,
    TRUTHS,
    TRUTHS,
]


def ordinary_row(source: random.Random) -> tuple[Any, ...]:
    """Values that no rule of reading changes."""
    day = dt.date(2001, 1, 1) + dt.timedelta(days=source.randrange(7000))
    time = dt.datetime(2001, 1, 1) + dt.timedelta(
        seconds=source.randrange(10**8) * 6.25
    )
    word = source.choice(
        [
            "Ab",
            "aB",
            "north wing",
            " padded ",
            "100%",
            "a_b",
            "zeta",
            "2019-05-06",
            "41",
            "2.25",
        ]
    )
    whole = [source.randrange(-50, 50) for _ in range(2)]
    real = [source.randrange(-4000, 4000) / 64 for _ in range(2)]
    return (
        *whole,
        source.randrange(-7, 110),
        *real,
        source.randrange(-20, 4000) / 4,
        source.randrange(1, 900) / 4,
        word,
        source.choice(["a", "b", "A", word]),
        day,
        day + dt.timedelta(days=source.randrange(-90, 90)),
        time,
        time + dt.timedelta(minutes=source.randrange(-9000, 9000)),
        source.random() < 0.5,
        source.random() < 0.5,
    )


def table(rows: list[tuple[Any, ...]]) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE {DIALECT.relation(TABLE)} ({STORED})")
    connection.executemany(
        f"INSERT INTO {DIALECT.relation(TABLE)} VALUES ({', '.join('?' * len(FIELDS))})",
        rows,
    )
    reads = ", ".join(
        f"{DIALECT.read(TABLE, field)} AS c{place}"
        for place, field in enumerate(FIELDS)
    )
    connection.execute(
        f"CREATE TABLE read AS SELECT {reads} FROM {DIALECT.relation(TABLE)}"
    )
    return connection


def nasty_rows(count: int, seed: int = 1) -> list[tuple[Any, ...]]:
    source = random.Random(seed)
    return [tuple(source.choice(values) for values in NASTY) for _ in range(count)]


def sql_of(expr: Expr) -> tuple[str, list[Any]]:
    parameters: list[Any] = []
    return render(expr, DIALECT, parameters, lambda ref: f"c{ref.index}"), parameters


def over_keys(expr: Expr) -> Expr:
    """The same expression over a group's keys, for Python."""
    if isinstance(expr, Ref):
        return KeyLeaf(expr.type, expr.range, expr.index)
    if isinstance(expr, Call):
        return Call(
            expr.type,
            expr.range,
            expr.op,
            tuple(map(over_keys, expr.args)),
            expr.options,
        )
    return expr


@dataclass(frozen=True)
class Case:
    """`plain` is the same in DuckDB's own SQL, or None where that raises or differs on
    purpose.
    """

    build: Callable[[], Expr]
    plain: str | None

    @property
    def name(self) -> str:
        return self.plain or str(self.build())[-80:]


def _case(
    plain: str | None, op: str, *args: Any, options: tuple[Any, ...] = ()
) -> Case:
    return Case(
        lambda: call(
            op,
            *(
                C[a[1:]] if isinstance(a, str) and a[:1] == "$" else _expr(a)
                for a in args
            ),
            options=options,
        ),
        plain,
    )


def _expr(value: Any) -> Expr:
    return value if isinstance(value, Expr) else literal(value)


CASES = [
    *(
        _case(f"{a} {sign} {b}", op, "$" + a, "$" + b)
        for op, sign in (("add", "+"), ("sub", "-"), ("mul", "*"))
        for a, b in ("ij", "kk", "kz", "xy", "ip")
    ),
    _case("k * 3", "mul", "$k", 3),
    *(
        _case(f"{a}::DOUBLE / nullif({b}, 0)", "div", "$" + a, "$" + b)
        for a, b in ("ij", "kk", "kz", "xy", "ip", "zp", "kp", "pk")
    ),
    _case("k / 4.0", "div", "$k", 4),
    *(
        _case(f"trunc({a}::DOUBLE / nullif({b}, 0))", "intdiv", "$" + a, "$" + b)
        for a, b in ("ij", "kk", "ki", "xy", "ip")
    ),
    _case("i // 10", "intdiv", "$i", 10),
    _case("i // -1", "intdiv", "$i", -1),
    *(
        _case(f"{a} % nullif({b}, 0)", "mod", "$" + a, "$" + b)
        for a, b in ("ij", "kk", "ki", "ik", "xy", "ip", "zz")
    ),
    _case("i % 10", "mod", "$i", 10),
    *(_case(f"-{a}", "neg", "$" + a) for a in "ikxz"),
    *(_case(f"abs({a})", "abs", "$" + a) for a in "ikxz"),
    *(_case(f"round({a})", "round", "$" + a) for a in "ikxzp"),
    *(
        _case(f"round({a}, {n})", "round", "$" + a, options=(n,))
        for a in "xzp"
        for n in (1, 2, -1, 15, -15)
    ),
    *(
        _case(f"round({a}, {n})", "round", "$" + a, options=(n,))
        for a in "ik"
        for n in (2, -1, -15)
    ),
    *(
        _case(f"{op}({a})", op, "$" + a)
        for op in ("floor", "ceil", "sign")
        for a in "ikxzp"
    ),
    *(
        _case(f"CASE WHEN {a} >= 0 THEN sqrt({a}) END", "sqrt", "$" + a)
        for a in "ikxzp"
    ),
    *(
        _case(f"CASE WHEN {a} > 0 THEN {op}({a}) END", op, "$" + a)
        for op in ("ln", "log10", "log2")
        for a in "ikxzp"
    ),
    *(
        _case(f"CASE WHEN isfinite(exp({a})) THEN exp({a}) END", "exp", "$" + a)
        for a in "ikxzp"
    ),
    *(
        _case(
            f"CASE WHEN isfinite(power({a}, {n})) THEN power({a}, {n}) END",
            "power",
            "$" + a,
            n,
        )
        for a in "ikxzp"
        for n in (2, 3, 0.5, -1, -2, 0)
    ),
    *(
        _case(
            f"CASE WHEN isfinite(power({a}, {b})) THEN power({a}, {b}) END",
            "power",
            "$" + a,
            "$" + b,
        )
        for a, b in ("xy", "kz", "pk", "pz")
    ),
    *(
        _case(f"{op}({a}, {b})", op, "$" + a, "$" + b)
        for op in ("least", "greatest")
        for a, b in ("ij", "kz", "xy", "st", "de", "du")
    ),
    _case("least(k, 50)", "least", "$k", 50),
    _case(
        "greatest(least(i, 50), 0)", "greatest", call("least", C["i"], literal(50)), 0
    ),
    *(
        _case(f"{a} {sign} {b}", op, "$" + a, "$" + b)
        for op, sign in (
            ("eq", "="),
            ("ne", "<>"),
            ("lt", "<"),
            ("le", "<="),
            ("gt", ">"),
            ("ge", ">="),
        )
        for a, b in ("ij", "ix", "de", "du", "uv", "ba")
    ),
    *(
        _case(f"s COLLATE C {sign} t", op, "$s", "$t")
        for op, sign in (("eq", "="), ("lt", "<"), ("ge", ">="))
    ),
    _case("d >= DATE '2010-01-01'", "ge", "$d", "2010-01-01"),
    *(
        _case(f"{a} IS DISTINCT FROM {b}", "is_distinct", "$" + a, "$" + b)
        for a, b in ("ij", "xy", "de")
    ),
    *(
        _case(f"{a} IS NOT DISTINCT FROM {b}", "is_not_distinct", "$" + a, "$" + b)
        for a, b in ("ij", "xy", "de")
    ),
    *(_case(f"{a} IS NULL", "is_null", "$" + a) for a in "ixsdub"),
    *(_case(f"{a} IS NOT NULL", "is_not_null", "$" + a) for a in "ixsdub"),
    _case("i IN (1, 2.5, NULL)", "in", "$i", 1, 2.5, None),
    _case("s COLLATE C IN ('Ab', t)", "in", "$s", "Ab", "$t"),
    _case("i BETWEEN j AND x", "between", "$i", "$j", "$x"),
    _case("s COLLATE C BETWEEN 'A' AND t", "between", "$s", "A", "$t"),
    _case("a AND b", "and", "$a", "$b"),
    _case("a OR b OR NULL", "or", "$a", "$b", None),
    _case("NOT a", "not", "$a"),
    _case("a IS TRUE", "is_true", "$a"),
    _case("a IS FALSE", "is_false", "$a"),
    _case(
        "CASE WHEN a THEN i WHEN b THEN z ELSE NULL END",
        "case",
        "$a",
        "$i",
        "$b",
        "$z",
        None,
    ),
    _case("CASE WHEN a THEN k ELSE 0 END", "case", "$a", "$k", 0),
    _case("CASE WHEN a THEN s ELSE 'other' END", "case", "$a", "$s", "other"),
    _case("coalesce(k, z, 1)", "coalesce", "$k", "$z", 1),
    _case("coalesce(d, e)", "coalesce", "$d", "$e"),
    _case("coalesce(s, 'none')", "coalesce", "$s", "none"),
    _case("nullif(k, 5)", "nullif", "$k", 5),
    _case("nullif(x, y)", "nullif", "$x", "$y"),
    _case("nullif(s COLLATE C, 'ab')", "nullif", "$s", "ab"),
    *(
        _case(f"{op}(s)", op, "$s")
        for op in ("lower", "upper", "length", "trim", "ltrim", "rtrim")
    ),
    _case("reverse(s)", "reverse", "$s"),
    _case("reverse(s || '🎉é')", "reverse", call("concat", C["s"], literal("🎉é"))),
    _case(None, "reverse", call("concat", C["s"], literal("e\u0301"))),
    _case("s || '-' || t", "concat", "$s", "-", "$t"),
    *(
        _case(f"substring(s, {a}, {b})", "substring", "$s", options=(a, b))
        for a in (1, 2, 0, -2, 2**40, -(2**40))
        for b in (0, 1, 3)
        if abs(a) < 99
    ),
    *(
        _case(None, "substring", "$s", options=(a, b))
        for a in (2**40, -(2**40))
        for b in (1, 2**40, None)
    ),
    *(
        _case(f"substring(s, {a})", "substring", "$s", options=(a,))
        for a in (1, 2, 0, -2)
    ),
    *(
        _case(f"s COLLATE C {word} '{pattern}'", op, "$s", pattern)
        for op, word in (("like", "LIKE"), ("ilike", "ILIKE"))
        for pattern in ("a%", "%B", "_b", "", "%", "%a%d%", "a\\")
    ),
    *(
        _case(
            f"s COLLATE C {word} '100!%' ESCAPE '!'", op, "$s", "100!%", options=("!",)
        )
        for op, word in (("like", "LIKE"), ("ilike", "ILIKE"))
    ),
    _case(
        "s COLLATE C LIKE '%!_b\\!!' ESCAPE '!'",
        "like",
        "$s",
        "%!_b\\!!",
        options=("!",),
    ),
    _case("starts_with(s COLLATE C, t)", "starts_with", "$s", "$t"),
    _case("contains(s COLLATE C, 'b')", "contains", "$s", "b"),
    *(
        _case(f"date_part('{part}', {a})", "extract", "$" + a, options=(part,))
        for a in "deuv"
        for part in (
            "year",
            "quarter",
            "month",
            "day",
            "dow",
            "isodow",
            "doy",
            "week",
            "hour",
            "minute",
            "second",
            "epoch",
            "isoyear",
            "decade",
            "century",
        )
    ),
    *(
        _case(
            f"date_trunc('{unit}', {a})::{kind}", "date_trunc", "$" + a, options=(unit,)
        )
        for a, kind in (
            ("d", "DATE"),
            ("e", "DATE"),
            ("u", "TIMESTAMP"),
            ("v", "TIMESTAMP"),
        )
        for unit in ("year", "quarter", "month", "week", "day")
    ),
    *(
        _case(
            f"date_trunc('{unit}', {a})::TIMESTAMP",
            "date_trunc",
            "$" + a,
            options=(unit,),
        )
        for a in "du"
        for unit in ("hour", "minute", "second")
    ),
    *(
        _case(
            f"date_diff('{unit}', {a}, {b})",
            "date_diff",
            "$" + a,
            "$" + b,
            options=(unit,),
        )
        for a, b in ("de", "uv", "dv")
        for unit in (
            "year",
            "quarter",
            "month",
            "week",
            "day",
            "hour",
            "minute",
            "second",
        )
    ),
    _case("d - e", "date_sub", "$d", "$e"),
    _case("e - DATE '2010-05-05'", "date_sub", "$e", "2010-05-05"),
    *(
        _case(f"({a} + INTERVAL ({n}) DAY)::{kind}", "add_days", "$" + a, options=(n,))
        for a, kind in (("d", "DATE"), ("e", "DATE"), ("u", "TIMESTAMP"))
        for n in (3, -3, 0, 400)
    ),
    *(
        _case(
            f"({a} + INTERVAL ({n}) MONTH)::{kind}", "add_months", "$" + a, options=(n,)
        )
        for a, kind in (("d", "DATE"), ("e", "DATE"), ("u", "TIMESTAMP"))
        for n in (1, -1, 0, 25)
    ),
    *(
        _case(None, op, "$" + a, options=(n,))
        for op in ("add_days", "add_months")
        for a in "deuv"
        for n in (2_932_896, -(2**70), 2**70, 90_000, -90_000)
    ),
    *(
        _case(f"{a}::{kind}", "cast", "$" + a, options=(type_,))
        for type_, kind in (
            (Type.INTEGER, "BIGINT"),
            (Type.REAL, "DOUBLE"),
            (Type.BOOLEAN, "BOOLEAN"),
        )
        for a in "ikxzpb"
    ),
    *(_case(f"{a}::VARCHAR", "cast", "$" + a, options=(Type.TEXT,)) for a in "ikxzbdu"),
    *(
        _case(f"TRY_CAST(s AS {kind})", "cast", "$s", options=(type_,))
        for type_, kind in (
            (Type.INTEGER, "BIGINT"),
            (Type.REAL, "DOUBLE"),
            (Type.BOOLEAN, "BOOLEAN"),
            (Type.DATE, "DATE"),
            (Type.TIMESTAMP, "TIMESTAMP"),
        )
    ),
    _case("d::TIMESTAMP", "cast", "$d", options=(Type.TIMESTAMP,)),
    _case("u::DATE", "cast", "$u", options=(Type.DATE,)),
]
NAMED = [(f"{place}-{case.name}", case) for place, case in enumerate(CASES)]
"""Each case with the name that a test gives it which loops over all of them."""
