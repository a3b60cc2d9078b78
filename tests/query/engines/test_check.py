"""The curator's look at the data."""

from __future__ import annotations

import ast
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import dither
from dither.privacy import Unit
from dither.query.catalogue.model import Catalogue, Field, Link, Table
from dither.query.catalogue.types import Range, Type
from dither.query.catalogue.values import bounds_of
from dither.query.engines.check import check
from dither.query.engines.duckdb.engine import DuckDBEngine
from dither.query.engines.postgres.engine import PostgresEngine
from dither.query.engines.spark.engine import SparkEngine
from dither.query.load import load_catalogue
from tests.conformance.spark_asking import session
from tests.query.engines.postgres.test_engine import made

SOURCE = Path(dither.__file__).parent


def test_what_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(
        "id,visit,age,ward\n1,1,7,A\n1,1,200,B\n,2,-5,C\n2,3,x,\n1,4,,A\n",
        encoding="utf-8",
    )
    (tmp_path / "c.csv").write_text("visit,code\n1,x\n9,y\n,z\n", encoding="utf-8")
    number = Field("visit", Type.INTEGER)
    fields = (
        Field("id", Type.INTEGER),
        number,
        Field("age", Type.INTEGER, Range(0, 110)),
        Field("ward", Type.TEXT, keys=("A", "B")),
    )
    tables = (
        Table("visits", fields, owner="id", rows=2, source=f"{tmp_path}/v.csv"),
        Table(
            "codes",
            (number,),
            link=Link("visit", "visits", "visit"),
            source=f"{tmp_path}/c.csv",
        ),
    )
    catalogue = Catalogue("c", tables, unit=Unit("id"))
    with DuckDBEngine.of(catalogue) as engine:
        assert check(engine, catalogue) == [
            "visits: 5 rows",
            "visits.age: 1 values are not of type integer and are read as NULL",
            "visits.age: 1 values are below the bounds and are clipped",
            "visits.age: 1 values are above the bounds and are clipped",
            "visits.ward: 2 rows are not among the declared keys",
            "visits: 1 rows have no owner and are left out",
            "visits: 1 units have more than 2 rows, so the cap is wrong; declare a higher one",
            "visits.visit: 1 keys occur more than once; rows linked to them are left out",
            "codes: 3 rows",
            "codes: 2 rows do not match any row of visits and are left out",
        ]


def looked(path: Path, *fields: Field, **table: Any) -> list[str]:
    """What is said of a table behind its number of rows."""
    unit = {"unit": Unit(table["owner"])} if "owner" in table else {}
    catalogue = Catalogue(
        "c", (Table("data", fields, source=str(path), **table),), **unit
    )
    with DuckDBEngine.of(catalogue) as engine:
        said = check(engine, catalogue)
    assert said[0].startswith("data: ")
    return said[1:]


def test_a_source_that_cannot_be_read_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(
        pa.table({"x": [f"text {i}" for i in range(1000)]}), path, use_dictionary=False
    )
    content = bytearray(path.read_bytes())
    content[200:400] = b"\xff" * 200
    path.write_bytes(content)
    damaged = (
        "data: the source is damaged and cannot be read to the end; write it again"
    )
    assert looked(path, Field("x", Type.TEXT)) == [damaged]


def test_ids_that_look_alike(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "id,x\nP1,1\np1,2\n P1 ,3\nP2,4\n,5\n,6\n", encoding="utf-8"
    )
    assert looked(tmp_path / "t.csv", Field("id", Type.TEXT), owner="id", rows=1) == [
        "data: 2 rows have no owner and are left out",
        "data.id: 2 ids differ from another only in case or spaces",
    ]


def test_the_bundled_clinic_fits_but_for_its_quirks() -> None:
    catalogue = load_catalogue(SOURCE / "data" / "clinic" / "clinic.toml")
    with DuckDBEngine.of(catalogue) as engine:
        found = check(engine, catalogue)
    assert [line.partition(":")[0] for line in found] == [
        "patients",
        "patients.region",
        "visits",
        "visits.cost",
        "visits",
        "diagnoses",
        "regions",
    ]


@pytest.mark.parametrize(
    ("module", "user"),
    [("check", "cli/doctor.py"), ("duckdb.check", "query/engines/check.py")],
)
def test_nothing_but_the_curators_command_calls_it(module: str, user: str) -> None:
    """Rule R1: what it says is private."""
    name, users = f"dither.query.engines.{module}", set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if name not in text:
            continue  # parsing all of Dither takes seconds
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module == name:
                users.add(str(path.relative_to(SOURCE)))
    assert users == {user}


STORED = (
    "('1', 1, '7', 'A', DATE '2024-01-01'), ('1', 1, '200', 'B', DATE '0024-01-01'), (NULL, 2, '-5', 'C', NULL), "
    "('2', 3, 'x', NULL, NULL), ('1', 4, NULL, 'A', NULL), ('1', 4, NULL, 'A', NULL), (' P', 5, '1', 'A', NULL), "
    "('p', 6, '1', 'A', NULL)"
)
VISITS = Table(
    "visits",
    (
        Field("id", Type.TEXT),
        Field("visit", Type.INTEGER),
        Field(
            "age",
            Type.INTEGER,
            Range(0, 110),
            provenance="a guess of dither init from the name, in years",
        ),
        Field("ward", Type.TEXT, keys=("A", "B")),
        Field(
            "day",
            Type.DATE,
            bounds_of("bounds", date(2020, 1, 1), date(2030, 1, 1), Type.DATE),
        ),
    ),
    owner="id",
    rows=2,
)
CODES = Table(
    "codes", (Field("visit", Type.INTEGER),), link=Link("visit", "visits", "visit")
)
ELSEWHERE = Catalogue("c", (VISITS, CODES), unit=Unit("id"))
SAID = [
    "visits: 8 rows",
    "visits: the bounds of age are guesses; check them, and declare their source (by)",
    "visits: 1 rows are copies of other rows in all declared columns",
    "visits.age: 1 values are not of type integer and are read as NULL",
    "visits.day: 1 values are before the year 100; check whether years were written with two digits",
    "visits.age: 1 values are below the bounds and are clipped",
    "visits.age: 1 values are above the bounds and are clipped",
    "visits.ward: 2 rows are not among the declared keys",
    "visits.day: 1 values are below the bounds and are clipped",
    "visits: 1 rows have no owner and are left out",
    "visits.id: 1 ids differ from another only in case or spaces",
    "visits: 1 units have more than 2 rows, so the cap is wrong; declare a higher one",
    "visits.visit: 2 keys occur more than once; rows linked to them are left out",
    "codes: 3 rows",
    "codes: 2 rows do not match any row of visits and are left out",
]


@pytest.mark.engine("postgres")
def test_tables_on_a_server() -> None:
    address = made(
        "CREATE TABLE visits (id text, visit int, age text, ward text, day date)",
        f"INSERT INTO visits VALUES {STORED}",
        "CREATE TABLE codes (visit int); INSERT INTO codes VALUES (1), (9), (NULL)",
    )
    with PostgresEngine.of(ELSEWHERE, {"visits": address, "codes": address}) as engine:
        assert check(engine, ELSEWHERE) == SAID


@pytest.mark.engine("spark")
def test_tables_on_a_spark_cluster() -> None:
    spark = session()
    rows = spark.sql(f"SELECT * FROM VALUES {STORED} AS t(id, visit, age, ward, day)")
    codes = spark.sql("SELECT * FROM VALUES (1), (9), (NULL) AS t(visit)")
    with SparkEngine(ELSEWHERE, {"visits": rows, "codes": codes}) as engine:
        assert check(engine, ELSEWHERE) == SAID


@pytest.mark.engine("postgres")
def test_what_becomes_null_on_a_server() -> None:
    """As questions read it: an infinity is clipped to a bound, and 5.5 is no integer."""
    address = made(
        "CREATE TABLE reals (id int, x float8, y float8, z float8)",
        "INSERT INTO reals SELECT 1, v, v, v FROM unnest(CAST("
        "'{5.5,5,NaN,Infinity,NULL}' AS float8[])) AS v",
    )
    fields = (
        Field("id", Type.INTEGER),
        Field("x", Type.INTEGER),
        Field("y", Type.REAL),
        Field("z", Type.REAL, Range(0.0, 9.0)),
    )
    catalogue = Catalogue("c", (Table("reals", fields, owner="id"),), unit=Unit("id"))
    with PostgresEngine.of(catalogue, {"reals": address}) as engine:
        assert [line for line in check(engine, catalogue) if "NULL" in line] == [
            "reals.x: 3 values are not of type integer and are read as NULL",
            "reals.y: 2 values are not of type real and are read as NULL",
            "reals.z: 1 values are not of type real and are read as NULL",
        ]
