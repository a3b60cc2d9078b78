"""A unit is left out of every private table, in the one form that ids have, and out of
nothing else.
"""

import datetime

import duckdb
import pytest

import dither
from dither.audit.neighbour import Without, left_out
from dither.audit.questions import _plans
from dither.errors import ArgumentError
from dither.query.collect.runner import Runner
from dither.query.collect.statements import Statements

CLINIC = """
name = "clinic"
unit = "patient"
[budget]
epsilon = 4.0
delta = 1e-6
[tables.visits]
source = "visits.csv"
[tables.visits.columns]
visit = "integer"
patient = "text"
[tables.diagnoses]
source = "diagnoses.csv"
link = { column = "visit", to = "visits.visit" }
[tables.diagnoses.columns]
visit = "integer"
code = "text"
[tables.letters]
source = "letters.csv"
[tables.letters.columns]
patient = "text"
pages = { type = "integer", low = 0, high = 10 }
[tables.wards]
source = "wards.csv"
public = true
[tables.wards.columns]
patient = "text"
"""
RADIUS = 1000
FILES = {
    "visits": "visit,patient\n1,one\n2,one\n3,two\n4,two\n4,one\n5,\n",
    "diagnoses": "visit,code\n1,a\n1,b\n2,a\n3,a\n4,c\n5,d\n",
    "letters": "patient,pages\none,1\none,2\ntwo,4\nthree,8\n",
    "wards": "patient\none\ntwo\n",
}


@pytest.fixture
def clinic(tmp_path):
    (tmp_path / "clinic.toml").write_text(CLINIC, encoding="utf-8")
    for name, text in FILES.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    with dither.open(tmp_path / "clinic.toml") as database:
        yield database


def totals(database, sql, unit=None):
    """The exact integers of a question, of all units or without one."""
    plan = _plans(database, database, sql, {"epsilon": 1.0, "radius": RADIUS})[0]
    engine = database.engine
    about = plan, engine.dialect, database.catalogue.table, "salt"
    statements = Statements(*about)
    if unit is not None:
        statements = Without(*about, unit=left_out(database, unit))
    with engine.session() as session:
        runner = Runner(statements, session)
        runner.begin()
        radius = plan.measurements[0].radius  # in steps, of which RADIUS has so many
        return [
            total * RADIUS // radius
            for total in runner.totals(0, radius).ravel().tolist()
        ]


@pytest.mark.parametrize(
    ("sql", "whole", "less"),
    [
        ("SELECT COUNT(*) AS n FROM letters", 4, 2),
        ("SELECT SUM(pages) AS n FROM letters", 15, 12),
        (
            "SELECT COUNT(*) AS n FROM letters l JOIN wards w ON l.patient = w.patient",
            3,
            1,
        ),
        (
            "SELECT COUNT(*) AS n FROM letters l JOIN visits v ON l.patient = v.patient",
            8,
            2,
        ),
        (
            "SELECT COUNT(*) AS n FROM (SELECT patient FROM letters UNION ALL SELECT patient FROM visits) b",
            9,
            4,
        ),
    ],
)
def test_every_private_table_is_filtered(clinic, sql, whole, less):
    assert totals(clinic, sql) == [whole]
    assert totals(clinic, sql, "one") == [less]


def test_linked_rows_go_with_their_parents(clinic):
    """Visit 4 is there twice and has no owner; without `one` it is there once. Keys
    must be unique, and an audit sees what happens where they are not."""
    sql = "SELECT COUNT(*) AS n FROM diagnoses"
    assert totals(clinic, sql) == [4]
    assert totals(clinic, sql, "one") == [2]
    assert totals(clinic, sql, "two") == [4]


def test_a_unit_of_one_table_alone_is_known(clinic):
    assert left_out(clinic, "three") == "three"
    with pytest.raises(ArgumentError, match="does not have a row"):
        left_out(clinic, "four")


@pytest.mark.parametrize(
    ("type_", "ids", "unit", "left"),
    [
        ("INTEGER", [1, 1, 10, -1], 1, 2),
        ("INTEGER", [1, 1, 10, -1], 1.0, 2),
        ("VARCHAR", ["1", "01", "1 ", "I", "i", "ı"], "i", 5),
        ("VARCHAR", ["it's", 'say "x"', "$1", "\\", ""], "it's", 4),
        ("VARCHAR", ["it's", 'say "x"', "$1", "\\", ""], "", 4),
        ("DATE", ["2024-01-01", "2024-01-02"], datetime.date(2024, 1, 1), 1),
        ("DATE", ["2024-01-01", "2024-01-02"], "2024-01-01", 1),
    ],
)
def test_ids_of_every_type(type_, ids, unit, left):
    connection = duckdb.connect()
    connection.execute(f'CREATE TABLE t ("the id" {type_})')
    connection.executemany("INSERT INTO t VALUES (?)", [[one] for one in [*ids, None]])
    with dither.open(connection, table="t", unit="the id", budget=3.0) as database:
        assert totals(database, "SELECT COUNT(*) AS n FROM t") == [len(ids)]
        assert totals(database, "SELECT COUNT(*) AS n FROM t", unit) == [left]


@pytest.mark.parametrize("unit", [True, 1.5, "1", 10**30])
def test_ids_of_another_type_are_refused(unit):
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 1 AS id")
    with (
        dither.open(connection, table="t", unit="id", budget=3.0) as database,
        pytest.raises(ArgumentError) as refused,
    ):
        left_out(database, unit)
    assert refused.value.argument == "unit"
    assert str(unit) in str(refused.value)
