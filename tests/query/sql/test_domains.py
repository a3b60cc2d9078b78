"""Public values of keys: complete for every row with declared values, and from public
facts alone.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest

from dither.query.sql.bind import bind
from tests.clock import quick
from tests.query.sql.clinic import CLINIC, SURVEY


def values(
    key: str, table: str = "visits JOIN patients USING (patient_id)"
) -> tuple[object, ...] | None:
    catalogue = SURVEY if table == "answers" else CLINIC
    return (
        bind(f"SELECT {key} AS k, COUNT(*) FROM {table} GROUP BY 1", catalogue)
        .keys[0]
        .values
    )


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("ward", ("A", "B", "C")),
        ("urgent", (False, True)),
        ("NOT urgent", (False, True)),
        ("days", tuple(range(61))),
        ("days // 7", tuple(range(9))),
        ("days % 7", tuple(range(7))),
        ("-days", tuple(range(-60, 1))),
        ("days * days", tuple(sorted({n * n for n in range(61)}))),
        ("days - days", (0,)),
        ("CAST(days AS VARCHAR)", tuple(sorted(str(n) for n in range(61)))),
        ("LOWER(ward)", ("a", "b", "c")),
        ("ward || ward", ("AA", "BB", "CC")),
        ("ward || sex", tuple(f"{w}{s}" for w in "ABC" for s in "FMX")),
        ("NULLIF(ward, 'A')", ("B", "C")),
        ("COALESCE(ward, sex)", ("A", "B", "C", "F", "M", "X")),
        ("COALESCE(ward, note, 'x')", None),
        (
            "CASE WHEN note LIKE 'a%' THEN 1 WHEN rating > 3 THEN 2 ELSE 3 END",
            (1, 2, 3),
        ),
        ("CASE WHEN note LIKE 'a%' THEN ward END", ("A", "B", "C")),
        (
            "CASE WHEN days > 30 THEN 'long' WHEN ward = 'A' THEN 'a' ELSE 'else' END",
            ("a", "else", "long"),
        ),
        ("LEAST(visit_id, 3)", None),
        ("LEAST(GREATEST(visit_id, 1), 3)", (1, 2, 3)),
        ("LENGTH(note)", None),
        ("LEAST(LENGTH(note), 2)", (0, 1, 2)),
        ("note", None),
        ("UPPER(note)", None),
        ("cost", None),
        ("cost // 5000", (0, 1, 2, 3, 4)),
        ("FLOOR(weight / 100)", (0, 1, 2)),
        ("ROUND(weight / 100) * 100", (0, 100, 200, 300)),
        ("CAST(weight AS INTEGER) // 50", (0, 1, 2, 3, 4, 5)),
        ("EXTRACT(year FROM day)", (2020, 2021, 2022, 2023, 2024)),
        ("EXTRACT(month FROM born)", tuple(range(1, 13))),
        ("EXTRACT(dow FROM day)", tuple(range(7))),
        (
            "DATE_TRUNC('year', day)",
            tuple(date(year, 1, 1) for year in range(2020, 2025)),
        ),
        (
            "DATE_TRUNC('month', born)",
            tuple(date(y, m, 1) for y in range(1900, 2025) for m in range(1, 13)),
        ),
        ("day", tuple(date(2020, 1, 1) + timedelta(days=n) for n in range(1827))),
        (
            "day + INTERVAL 1 DAY",
            tuple(date(2020, 1, 2) + timedelta(days=n) for n in range(1827)),
        ),
    ],
)
def test_values_of_a_key(key: str, expected: tuple[object, ...] | None) -> None:
    assert values(key) == expected


def test_weeks_and_hours_are_all_there() -> None:
    weeks = values("DATE_TRUNC('week', day)")
    assert weeks == tuple(date(2019, 12, 30) + timedelta(weeks=n) for n in range(262))
    hours = values("DATE_TRUNC('hour', at)", "answers")
    assert hours == tuple(
        datetime(2024, 1, 1) + timedelta(hours=n) for n in range(60 * 24 + 1)
    )
    assert values("DATE_TRUNC('second', at)", "answers") is None
    assert values("EXTRACT(hour FROM at)", "answers") == tuple(range(24))


def test_a_range_may_hold_values_that_no_row_has() -> None:
    assert set(values("DATE_DIFF('year', born, day)") or ()) >= set(range(-4, 125))


def test_values_are_found_quickly() -> None:
    with quick(2):
        many = ", ".join(str(n) for n in range(900))
        assert (
            values(
                f"CASE WHEN days IN ({many}) THEN EXTRACT(year FROM born) ELSE days + cost % 10 END"
            )
            is not None
        )
        values(
            f"CASE WHEN DATE_DIFF('day', born, day) IN ({many}) THEN born ELSE day END"
        )
        assert values("UPPER(" * 20 + "note" + ")" * 20) is None
        assert values("(" * 20 + "cost" + " + 1)" * 20) is None
