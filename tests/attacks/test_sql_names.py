"""Injection: names and texts that mean something to the engine, or to the statements
that are written for it.
"""

from __future__ import annotations

import functools
import math

import pyarrow as pa
import pytest

import dither
from dither.query.engines.duckdb.engine import DuckDBSession
from tests.attacks.analyst import row, visits

NASTY = [
    "x'y",
    'x"y',
    "x''y",
    "x\\'; DROP TABLE visits; --",
    "'; ATTACH '/tmp/dither-attack-was-here' AS z; --",
    '"; DROP TABLE visits; --',
    "%s %d {0} {x} $1 ? :a",
    "$1) OR (1 = 1",
    "/* x",
    "-- x",
    "\u202e\u0301İ🙂\u00a0",
    "a\tb",
    "*/ */",
    "\\",
    "\\u0027 OR 1=1",
]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("text", NASTY)
def test_a_literal_was_pasted_into_the_statement(text, monkeypatch):
    """Texts are bound: they never stand in the SQL that the engine reads, and they are
    compared as they are.
    """
    written = []
    execute = DuckDBSession._execute
    monkeypatch.setattr(
        DuckDBSession,
        "_execute",
        lambda self, *call: written.append(call[0]) or execute(self, *call),
    )
    literal = "'" + text.replace("'", "''") + "'"
    rows = [row("p1", note=text), row("p2", note="other"), row(text, note=None)]
    with visits(rows) as database:
        for condition in (
            f"note = {literal}",
            f"note IN ({literal}, {literal})",
            f"CONTAINS(note, {literal})",
        ):
            assert database.sql(
                f"SELECT COUNT(*) FROM visits WHERE {condition}", epsilon=1.0, radius=9
            ).rows == ((1,),)
        grouped = f"SELECT CASE WHEN note = {literal} THEN {literal} ELSE 'b' END AS k, COUNT(*) FROM visits GROUP BY k"
        assert dict(database.sql(grouped, epsilon=1.0, radius=9).rows) == {
            text: 1,
            "b": 2,
        }
        mine = f"SELECT COUNT(*) FROM visits WHERE patient_id = {literal}"
        assert database.sql(mine, epsilon=1.0, radius=9).rows == ((1,),)
    assert written
    assert not any(text in sql for sql in written if len(text) > 1)


NAMES = [name for name in NASTY if name.isprintable()]
RESERVED = [
    "u",
    "U",
    "g",
    "d",
    "i",
    "n",
    "c0",
    "c1",
    "k0",
    "q0",
    "a0",
    "v0_0",
    "it",
    "r",
    "rowid",
    "dither_1",
    "kept_rows",
]
RESERVED += [
    "select",
    "order",
    "group",
    "all",
    "null",
    "true",
    "count",
    "visits",
    "main",
    "temp",
    "top",
    "one",
    "nothing",
]
TEMPORARY = [
    "dither_candidates",
    "dither_cuts",
    "dither_hidden_0_4096",
    "dither_hidden_1_1073741824",
    "dither_hidden_1_4096",
    "dither_keys",
    "dither_listed",
    "dither_lookup_0",
    "dither_lookup_1",
    "dither_named",
    "dither_norms",
    "dither_owned",
    "dither_pairs",
    "dither_partials",
    "dither_rows_0",
    "dither_rows_1",
    "dither_shown",
    "dither_values_0",
    "dither_values_1",
]
"""What temporary tables of a question are called, as far as these tests make them."""


def asked_about(table, column):
    """What uses names in every place where they can stand, about a table and a column."""
    table, column = quoted(table), quoted(column)
    return [
        f"SELECT ward, COUNT(*) AS {column}, SUM({column}) FROM {table} GROUP BY ward ORDER BY {column} * 0, ward",
        f"SELECT AVG({column}.{column}) FROM {table} AS {column}",
        f"WITH {column} AS (SELECT patient_id, {column} FROM {table}) SELECT MAX({column}) AS {column} FROM {column}",
        f"SELECT COUNT(DISTINCT {column}) FROM {table} AS {column} ({column}, the_ward, the_id)",
        f"SELECT SUM({column}) FROM (SELECT patient_id, MAX({column}) AS {column} FROM {table} GROUP BY patient_id)",
        f"SELECT {column}, COUNT(*) FROM {table} GROUP BY {column} HAVING {column} < 3",
        f"SELECT SUM(a.{column} + b.{column}) FROM {table} a JOIN {table} b USING (patient_id)",
        f"SELECT COUNT(*) FROM {table} WHERE patient_id IN (SELECT patient_id FROM {table} WHERE {column} > 1)",
    ]


@functools.cache
def answers(table, column):
    data = pa.table(
        {
            column: [1, 2, 3, 4],
            "ward": ["A", "B", "A", "B"],
            "patient_id": ["p", "p", "q", "r"],
        }
    )
    declared = {
        "unit": "patient_id",
        "bounds": {column: (0, 4)},
        "keys": {"ward": ["A", "B"]},
    }
    with dither.open(data, **declared, budget=(1e3, 1e-6), name=table) as database:
        rows = [
            database.sql(sql, epsilon=1.0, radius=99).rows
            for sql in asked_about(table, column)
        ]
        assert database.failure is None
    return rows


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("name", NAMES + RESERVED + TEMPORARY)
def test_a_name_meant_something_to_the_engine(name):
    """Tables, columns, aliases and CTEs may be called anything: the answers are those
    of plain names.
    """
    assert answers(name, name) == answers("table one", "plain")


def about_temporary_tables(table, column):
    """What makes temporary tables of every kind: partial sums, norms, what clipping
    hides, ranks, different values, and public and private keys.
    """
    table, column = quoted(table), quoted(column)
    by_both = f"FROM {table} GROUP BY code, ward"
    return [
        (
            f"SELECT ward, COUNT(*), AVG({column}) FROM {table} GROUP BY ward",
            {"radius": 1},
        ),
        (
            f"SELECT MEDIAN({column}), COUNT(DISTINCT {column}) FROM {table}",
            {"radius": 1},
        ),
        (
            f"SELECT COUNT(DISTINCT {column}), MEDIAN({column}) FROM {table}",
            {"radius": 1},
        ),
        (f"SELECT code, SUM({column}) FROM {table} GROUP BY code", {"radius": 99}),
        (f"SELECT code, ward, COUNT(*) {by_both}", {"radius": 9, "groups": 1}),
        (f"SELECT code, MEDIAN({column}) FROM {table} GROUP BY code", {"radius": 9}),
    ]


@functools.cache
def many_answers(table, column):
    """Three rows for each of 200 units: both keys are of enough units to be named."""
    units = [n for n in range(200) for _ in range(3)]
    data = pa.table(
        {
            column: [n % 5 for n in range(len(units))],
            "ward": ["AB"[n % 2] for n in range(len(units))],
            "code": ["xy"[n % 2] for n in units],
            "patient_id": units,
        }
    )
    declared = {
        "unit": "patient_id",
        "bounds": {column: (0, 4)},
        "keys": {"ward": ["A", "B"]},
        "rows": 9,
    }
    with dither.open(data, **declared, budget=(1e4, 1e-2), name=table) as database:
        rows = [
            database.sql(sql, rho=1.0, **stated).rows
            for sql, stated in about_temporary_tables(table, column)
        ]
        assert database.failure is None
    return rows


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("name", TEMPORARY)
def test_a_temporary_table_was_taken_for_the_private_one(name):
    """A table or a column of the dataset may be called like a table that is made for a
    question: neither stands for the other.
    """
    assert many_answers(name, name) == many_answers("table one", "plain")


@pytest.mark.usefixtures("exact")
def test_these_are_all_temporary_tables(monkeypatch):
    made = set()
    create = DuckDBSession.create
    monkeypatch.setattr(
        DuckDBSession,
        "create",
        lambda self, name, *call: made.add(name) or create(self, name, *call),
    )
    found = many_answers.__wrapped__("table one", "plain")
    assert {code for code, _ in found[3]} == {"x", "y"}
    assert made == set(TEMPORARY)


def test_a_cte_stood_for_the_private_table():
    """A name given by WITH is what the SELECT after it means; the private table is
    reached through nothing else.
    """
    with visits([row()]) as database:
        sql = "WITH visits AS (SELECT patient_id, 0 * cost AS cost FROM visits) SELECT SUM(cost) FROM visits"
        release = database.sql(sql, epsilon=1000.0, radius=1)
        assert math.isclose(release.rows[0][0], 0, abs_tol=1)
