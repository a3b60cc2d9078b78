"""How operations are written as SQL: the words of each engine, and the forms that many
operations share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dither.query.catalogue import calendar as dates
from dither.query.catalogue.types import Type
from dither.query.operations.expressions import Call, Expr

__all__ = [
    "BYTES",
    "DUCKDB",
    "ENGINES",
    "LARGEST",
    "POSTGRES",
    "SPARK",
    "Args",
    "Spelling",
    "Writer",
    "function",
    "holds_zero",
    "infix",
    "named",
    "quoted",
    "real",
    "storable",
    "suffix",
    "text",
]

Args = Sequence[str]
Body = Callable[[str], str]
SHORT = 100
"""Letters of SQL that may stand more than once; longer ones are given a name."""
PLACES = "abcd"
LARGEST = "1.7976931348623157e308"
BYTES = 'COLLATE "C"'
"""PostgreSQL: strings are compared byte by byte, whatever the database's collation is.
"""
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
NOWHERE = "\uffff\ufffe"
"""Two characters that stand in no text, in place of what no text in PostgreSQL can
hold.
"""


@dataclass(frozen=True)
class Spelling:
    """The words of one engine.

    `types` are the names of types, `time` begins a constant time, `is_finite` asks about
    a real, and `naming` gives a long value a name. `collation` decides about upper and lower case in PostgreSQL, where
    without one only ASCII has cases.
    """

    engine: str
    types: Mapping[Type, str]
    time: str
    is_finite: str
    naming: Callable[[str, Body], str]
    collation: str = "C"

    def cast(self, sql: str, type_: Type) -> str:
        return f"CAST({sql} AS {self.types[type_]})"

    def once(self, sql: str, body: Body) -> str:
        """A body that needs a value more than once. A long value is named: nested
        guards must not multiply its text.
        """
        return body(sql) if len(sql) <= SHORT else self.naming(sql, body)

    def finite(self, sql: str) -> str:
        """NULL for the infinities and for NaN."""
        return self.once(
            sql, lambda it: f"(CASE WHEN {self.is_finite.format(it)} THEN {it} END)"
        )

    def written(self, place: float, type_: Type) -> str:
        """A date or a time as SQL, from its place in a range."""
        if type_ is Type.DATE:
            return f"DATE '{dates.day(int(place)).isoformat()}'"
        return f"{self.time} '{dates.moment(int(place)).isoformat(sep=' ')}'"


Writer = Callable[[Call, Args, Spelling], str]


def named(args: Args, body: Callable[..., str]) -> str:
    """`once` in PostgreSQL, for several values.

    OFFSET 0 keeps the planner from putting the values back where their names are.
    """
    long = [sql for sql in dict.fromkeys(args) if len(sql) > SHORT]
    if not long:
        return body(*args)
    names = {sql: f"it_{place}" for sql, place in zip(long, PLACES, strict=False)}
    listed = ", ".join(f"{sql} AS {name}" for sql, name in names.items())
    return (
        f"(SELECT {body(*(names.get(sql, sql) for sql in args))} FROM "
        f"(SELECT {listed} OFFSET 0) it)"
    )


def real(value: float) -> str:
    """PostgreSQL: a constant of double precision, exactly."""
    return f"CAST('{float(value)!r}' AS double precision)"


DUCKDB = Spelling(
    "duckdb",
    {
        Type.INTEGER: "BIGINT",
        Type.REAL: "DOUBLE",
        Type.TEXT: "VARCHAR",
        Type.BOOLEAN: "BOOLEAN",
        Type.DATE: "DATE",
        Type.TIMESTAMP: "TIMESTAMP",
    },
    time="TIMESTAMP",
    is_finite="isfinite({0})",
    naming=lambda sql, body: f"list_transform([{sql}], lambda it: {body('it')})[1]",
)
# PostgreSQL raises where a result would not be finite, so its operations ask before they
# compute (`postgres_reals`); NaN is larger than all numbers there, as in Spark.
POSTGRES = Spelling(
    "postgres",
    {
        Type.INTEGER: "bigint",
        Type.REAL: "double precision",
        Type.TEXT: "text",
        Type.BOOLEAN: "boolean",
        Type.DATE: "date",
        Type.TIMESTAMP: "timestamp",
    },
    time="TIMESTAMP",
    is_finite=f"abs({{0}}) <= {real(float(LARGEST))}",
    naming=lambda sql, body: named([sql], body),
)
SPARK = Spelling(
    "spark",
    {
        Type.INTEGER: "BIGINT",
        Type.REAL: "DOUBLE",
        Type.TEXT: "STRING",
        Type.BOOLEAN: "BOOLEAN",
        Type.DATE: "DATE",
        # a plain TIMESTAMP would have the session's zone
        Type.TIMESTAMP: "TIMESTAMP_NTZ",
    },
    time="TIMESTAMP_NTZ",
    is_finite=f"abs({{0}}) <= {LARGEST}",
    naming=lambda sql, body: f"transform(array({sql}), it -> {body('it')})[0]",
)
ENGINES = ("duckdb", "postgres", "spark")


def quoted(name: str) -> str:
    """An identifier of DuckDB or PostgreSQL, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text in PostgreSQL, where `standard_conforming_strings` is on."""
    return "'" + value.replace("'", "''") + "'"


def storable(value: str) -> str:
    """A text that can be sent to PostgreSQL. One with a NUL or half a character equals
    no stored text, and so does this.
    """
    return UNSTORABLE.sub(NOWHERE, value)


def holds_zero(expr: Expr) -> bool:
    low, high = expr.range.low, expr.range.high
    return (low is None or low <= 0) and (high is None or high >= 0)


def infix(symbol: str) -> Writer:
    return lambda _, args, __: "(" + f" {symbol} ".join(args) + ")"


def function(name: str) -> Writer:
    return lambda _, args, __: f"{name}({', '.join(args)})"


def suffix(words: str) -> Writer:
    return lambda _, args, __: f"({args[0]} {words})"
