from __future__ import annotations

import pytest

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations.writing import (
    DUCKDB,
    ENGINES,
    POSTGRES,
    SPARK,
    Spelling,
    holds_zero,
    named,
    quoted,
    storable,
    text,
)
from tests.query.operations.columns import column

LONG = "x" * 101


@pytest.mark.parametrize("spelling", [DUCKDB, POSTGRES, SPARK])
def test_short_values_are_repeated_and_long_ones_named(spelling: Spelling) -> None:
    def twice(it: str) -> str:
        return f"({it} + {it})"

    assert spelling.once("a", twice) == "(a + a)"
    assert spelling.once(LONG, twice).count(LONG) == 1


@pytest.mark.parametrize("spelling", [DUCKDB, POSTGRES, SPARK])
def test_every_type_has_a_name(spelling: Spelling) -> None:
    assert set(spelling.types) == set(Type)
    assert spelling.engine in ENGINES


def test_dates_and_times() -> None:
    assert DUCKDB.written(0, Type.DATE) == "DATE '1970-01-01'"
    assert POSTGRES.written(0, Type.TIMESTAMP) == "TIMESTAMP '1970-01-01 00:00:00'"
    assert SPARK.written(0, Type.TIMESTAMP) == "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


def test_finite_numbers() -> None:
    assert DUCKDB.finite("x") == "(CASE WHEN isfinite(x) THEN x END)"
    assert SPARK.finite("x") == (
        "(CASE WHEN abs(x) <= 1.7976931348623157e308 THEN x END)"
    )


def test_postgres_names_several_values() -> None:
    found = named([LONG, "b", LONG], lambda a, b, c: f"{a}, {b}, {c}")
    assert found == f"(SELECT it_a, b, it_a FROM (SELECT {LONG} AS it_a OFFSET 0) it)"


def test_names_and_texts_hold_anything() -> None:
    assert quoted('a"b') == '"a""b"'
    assert text("it's") == "'it''s'"
    assert storable("a\0b") != "a\0b"


@pytest.mark.parametrize(
    ("range_", "expected"),
    [(ANY, True), (Range(0, 5), True), (Range(1, 5), False), (Range(None, -1), False)],
)
def test_whether_zero_is_possible(range_: Range, expected: bool) -> None:
    assert holds_zero(column("x", Type.INTEGER, range_)) is expected
