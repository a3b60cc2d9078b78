"""The curator's look at the data."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import dither
from dither.privacy import Unit
from dither.query.catalogue import Catalogue, Field, Link, Table
from dither.query.catalogue_file import load_catalogue
from dither.query.engines.check import check
from dither.query.engines.duckdb import DuckDBEngine
from dither.query.sql.types import Range, Type

SOURCE = Path(dither.__file__).parent


def test_what_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(
        "id,visit,age,ward\n1,1,7,A\n1,1,200,B\n,2,-5,C\n2,3,x,\n1,4,,A\n", encoding="utf-8"
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
        Table("codes", (number,), link=Link("visit", "visits", "visit"), source=f"{tmp_path}/c.csv"),
    )
    catalogue = Catalogue("c", tables, unit=Unit("id"))
    with DuckDBEngine.of(catalogue) as engine:
        assert check(engine, catalogue) == [
            "visits: 5 rows",
            "visits.age: 1 values are no integer and count as NULL",
            "visits.age: 1 values are below the bounds and are clipped",
            "visits.age: 1 values are above the bounds and are clipped",
            "visits.ward: 2 rows are not among the declared keys",
            "visits: 1 rows have no owner and are left out",
            "visits: 1 units have more than 2 rows; the others are dropped",
            "visits.visit: 1 keys are there more than once; rows linked to them are left out",
            "codes: 3 rows",
            "codes: 2 rows belong to no row of visits and are left out",
        ]


def test_a_source_that_cannot_be_read_to_the_end(tmp_path: Path) -> None:
    ends = pa.py_buffer(np.array([0, 1, 2], np.int32).tobytes())
    texts = pa.Array.from_buffers(pa.string(), 2, [None, ends, pa.py_buffer(b"\xffb")])
    parquet.write_table(pa.table({"x": texts}), tmp_path / "t.parquet")
    catalogue = Catalogue("c", (Table("data", (Field("x", Type.TEXT),), source=f"{tmp_path}/t.parquet"),))
    with DuckDBEngine.of(catalogue) as engine:
        assert check(engine, catalogue) == [
            "data: 2 rows",
            "data: its source cannot be read to the end (text that is not UTF-8, or damage); write it anew",
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


def test_nothing_but_the_curators_command_calls_it() -> None:
    """Rule R1: what it says is private."""
    users = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "dither.query.engines.check":
                users.add(str(path.relative_to(SOURCE)))
    assert users <= {"cli/doctor.py"}
