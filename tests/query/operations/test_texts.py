from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations.calls import TypeProblem, call, literal, write
from dither.query.operations.evaluate import value
from dither.query.operations.expressions import Call, Expr, KeyLeaf
from dither.query.operations.writing import DUCKDB, POSTGRES, SPARK
from tests.query.operations.columns import AGE, NAME, bound


@pytest.mark.parametrize(
    ("expr", "type_", "range_"),
    [
        (call("length", NAME), Type.INTEGER, Range(0, None)),
    ],
)
def test_types_and_ranges(expr: Expr, type_: Type, range_: Range) -> None:
    assert (expr.type, expr.range) == (type_, range_)


@pytest.mark.parametrize(
    ("op", "args", "options", "message"),
    [
        ("lower", (AGE,), (), r"write CAST\(… AS TEXT\)"),
        ("like", (NAME, NAME), (), "constant pattern"),
        ("like", (NAME, "a!"), ("!",), "ends with its escape character"),
        ("like", (NAME, "%" * 11), (), "at most 10"),
        ("like", (NAME, "a"), ("ab",), "one character"),
        ("substring", (NAME,), (1, -1), "cannot be negative"),
        ("concat", (NAME, AGE), (), "CAST"),
    ],
)
def test_problems_say_what_to_write(
    op: str, args: tuple[Any, ...], options: tuple[Any, ...], message: str
) -> None:
    exprs = [arg if isinstance(arg, Expr) else literal(arg) for arg in args]
    with pytest.raises(TypeProblem, match=message):
        call(op, *exprs, options=options)


def test_patterns_have_one_escape() -> None:
    found = call("like", NAME, literal("50!%\\!!%"), options=("!",))
    assert isinstance(found, Call)
    assert found.args[1] == literal("50\\%\\\\!%")
    assert found.options == ("\\",)
    plain = call("like", NAME, literal("a!%"), options=(None,))
    assert isinstance(plain, Call)
    assert (plain.args[1], plain.options) == (literal("a!%"), (None,))


@pytest.mark.parametrize(
    ("sql", "op"),
    [
        ("LOWER(name)", "lower"),
        ("UPPER(name)", "upper"),
        ("LENGTH(name)", "length"),
        ("TRIM(name)", "trim"),
        ("TRIM(BOTH FROM name)", "trim"),
        ("LTRIM(name)", "ltrim"),
        ("TRIM(LEADING FROM name)", "ltrim"),
        ("RTRIM(name)", "rtrim"),
        ("TRIM(TRAILING FROM name)", "rtrim"),
        ("name || name", "concat"),
        ("CONCAT(name, name)", "concat"),
        ("SUBSTRING(name, 2)", "substring"),
        ("LEFT(name, 2)", "substring"),
        ("name LIKE 'a%'", "like"),
        ("name ILIKE 'a%'", "ilike"),
        ("name LIKE 'a!%' ESCAPE '!'", "like"),
        ("name ILIKE 'a!%' ESCAPE '!'", "ilike"),
        ("name NOT LIKE 'a%'", "not"),
        ("STARTS_WITH(name, 'a')", "starts_with"),
        ("PREFIX(name, 'a')", "starts_with"),
        ("CONTAINS(name, 'a')", "contains"),
    ],
)
def test_sql(sql: str, op: str) -> None:
    assert getattr(bound(sql), "op", None) == op


def test_cases_go_by_the_collation_in_postgres() -> None:
    lower = call("lower", NAME)
    assert isinstance(lower, Call)
    sql = write(lower, ["x"], replace(POSTGRES, collation='de"DE'))
    assert sql == '(lower(left(x, 4194304) COLLATE "de""DE") COLLATE "C")'
    assert write(lower, ["x"], DUCKDB) == "lower(x)"


def test_spark_gets_an_escape_that_the_pattern_lacks() -> None:
    pattern = call("like", NAME, literal("!a%"))
    assert isinstance(pattern, Call)
    assert write(pattern, ["x", "p"], SPARK) == "(x LIKE p ESCAPE '\"')"


@pytest.mark.parametrize(
    ("start", "length", "expected"),
    [(1, 2, "ab"), (0, 2, "a"), (-2, None, "cd"), (-9, 7, "ab"), (3, 0, "")],
)
def test_substrings_in_python(start: int, length: int | None, expected: str) -> None:
    expr = call("substring", KeyLeaf(Type.TEXT, ANY, 0), options=(start, length))
    assert value(expr, ("abcd",), ()) == expected
