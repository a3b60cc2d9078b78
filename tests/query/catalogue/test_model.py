"""The catalogue: what it accepts, how it finds names, what its fingerprint covers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dither.errors import ArgumentError
from dither.ledger import Policy
from dither.privacy import ROW, Unit
from dither.query.catalogue.model import Catalogue, Field, Link, Table, usual_delta
from dither.query.catalogue.types import Range, Type

ID, TEXT = Field("patient_id", Type.INTEGER), Field("ward", Type.TEXT, keys=("A", "B"))
VISIT = Field("visit_id", Type.INTEGER)
VISITS = Table(
    "visits",
    (ID, TEXT, VISIT, Field("age", Type.INTEGER, Range(0, 110))),
    owner="patient_id",
)
CODES = Table(
    "codes",
    (VISIT, Field("code", Type.TEXT)),
    link=Link("visit_id", "visits", "visit_id"),
)
REGIONS = Table("regions", (Field("region", Type.TEXT),), public=True)
UNIT = Unit("patient_id")


def clinic(*tables: Table, **facts: Any) -> Catalogue:
    return Catalogue(
        "clinic", tables or (VISITS, CODES, REGIONS), **{"unit": UNIT, **facts}
    )


def test_a_whole_one() -> None:
    found = clinic(
        population=2500,
        epsilon=3.0,
        delta=1e-7,
        analysts={"alice": 0.5, "bob": 1},
        policy=Policy(1.0),
    )
    assert [table.name for table in found.private] == ["visits", "codes"]
    assert not found.rows_are_units
    assert found.table("VISITS") == VISITS
    assert VISITS.field("AGE").range == Range(0, 110)


def test_names_are_found_or_suggested() -> None:
    with pytest.raises(
        ArgumentError, match=r"the table 'visit' does not exist; did you mean visits\?"
    ):
        clinic().table("visit")
    with pytest.raises(
        ArgumentError,
        match=r"the table 'visits' has no column 'agge'; did you mean age\?",
    ):
        VISITS.field("agge")


def test_owners_and_links_are_spelled_as_declared() -> None:
    table = Table("visits", VISITS.fields, owner="PATIENT_ID")
    codes = Table("codes", CODES.fields, link=Link("Visit_Id", "VISITS", "VISIT_ID"))
    assert table.owner == "patient_id"
    assert clinic(table, codes).tables[1].link == Link("visit_id", "visits", "visit_id")


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"owner": "nobody"}, "has no column 'nobody'"),
        (
            {"owner": "r"},
            "'r' of 't' is real, which ids cannot be; declare it as integer or text",
        ),
        ({"owner": "b"}, "'b' of 't' is boolean, which ids cannot be"),
        (
            {"link": Link("r", "visits", "visit_id")},
            "'r' of 't' is real, which ids cannot be",
        ),
        ({"link": Link("gone", "visits", "visit_id")}, "has no column 'gone'"),
        (
            {"owner": "id", "link": Link("id", "visits", "visit_id")},
            "has both an owner and a link; leave the link out",
        ),
        ({"public": True, "owner": "id"}, "is public, so"),
        ({"public": True, "rows": 3}, "is public, so"),
        ({"rows": 0}, "at least 1"),
        ({"rows": True}, "at least 1"),
        ({"name": ""}, "cannot be a name"),
    ],
)
def test_tables_that_cannot_be(facts: dict[str, Any], words: str) -> None:
    fields = (
        Field("id", Type.INTEGER),
        Field("r", Type.REAL),
        Field("b", Type.BOOLEAN),
    )
    with pytest.raises(ArgumentError, match=words):
        Table(**{"name": "t", "fields": fields, **facts})


def test_columns_that_cannot_be() -> None:
    with pytest.raises(ArgumentError, match="has two columns named 'A'"):
        Table("t", (Field("a", Type.TEXT), Field("A", Type.TEXT)))
    with pytest.raises(ArgumentError, match="unknown type 'number'"):
        Field("a", "number")  # type: ignore[arg-type]
    with pytest.raises(
        ArgumentError, match="a cannot have bounds, because its type is text"
    ):
        Field("a", Type.TEXT, Range(0, 1))
    with pytest.raises(ArgumentError, match="narrower"):
        Field("a", Type.INTEGER, Range(0.5, 1))
    with pytest.raises(ArgumentError, match="narrower"):
        Field("a", Type.REAL, Range(float("nan"), 1))
    with pytest.raises(ArgumentError, match="a whole number"):
        Field("a", Type.INTEGER, keys=("A",))


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        (
            (VISITS, replace(REGIONS, name="Visits")),
            "the table 'Visits' is declared twice",
        ),
        ((REGIONS,), "nothing to protect"),
        ((), "nothing to protect"),
        ((VISITS, Table("x", (ID,))), "that unit names, nor an owner or a link"),
        ((CODES, REGIONS), "the table 'visits' does not exist"),
        (
            (
                VISITS,
                REGIONS,
                replace(CODES, link=Link("visit_id", "regions", "region")),
            ),
            "no owner itself",
        ),
        (
            (
                VISITS,
                CODES,
                Table("y", (VISIT,), link=Link("visit_id", "codes", "visit_id")),
            ),
            "no owner itself",
        ),
        (
            (VISITS, replace(CODES, link=Link("code", "visits", "visit_id"))),
            "codes.code is text and visits.visit_id is integer",
        ),
        (
            (VISITS, replace(CODES, link=Link("visit_id", "visits", "gone"))),
            "has no column 'gone'",
        ),
        (
            (VISITS, Table("x", (Field("id", Type.TEXT),), owner="id")),
            "have the types integer and text",
        ),
    ],
)
def test_tables_that_do_not_go_together(tables: tuple[Table, ...], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        Catalogue("clinic", tables, unit=UNIT)


def test_rows_as_units() -> None:
    rows = Table("visits", VISITS.fields)
    assert Catalogue("clinic", (rows, REGIONS)).rows_are_units
    assert Catalogue("clinic", (rows,), unit=ROW.replacing()).rows_are_units
    with pytest.raises(ArgumentError, match="open each table on its own"):
        Catalogue("clinic", (rows, Table("x", (ID,))))
    with pytest.raises(
        ArgumentError, match="cannot have an owner, a link or rows; leave them out"
    ):
        Catalogue("clinic", (VISITS,))
    with pytest.raises(
        ArgumentError, match="cannot have an owner, a link or rows; leave them out"
    ):
        Catalogue("clinic", (replace(rows, rows=3),))
    with pytest.raises(ArgumentError, match="hides the rows' own ids"):
        Catalogue("clinic", (Table("x", (Field("RowID", Type.INTEGER),)),))


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"population": 0}, "population must be a whole number of at least 1"),
        ({"population": 2.5}, "population must be"),
        ({"population": True}, "population must be"),
        ({"epsilon": 0}, "epsilon must be positive"),
        ({"epsilon": float("inf")}, "epsilon must be a finite number"),
        ({"epsilon": "3"}, "epsilon must be a number"),
        ({"delta": 1}, "delta must be at least 0 and below 1"),
        ({"delta": -0.1}, "delta must be"),
        ({"delta": float("nan")}, "delta must be a finite"),
        ({"analysts": {"alice": 0}}, "the share of 'alice'"),
        ({"analysts": {"alice": 1.5}}, "the share of 'alice'"),
        ({"analysts": {"": 0.5}}, "cannot be a name"),
        ({"version": 2026}, "write it in quotes"),
        ({"version": ""}, "write it in quotes"),
    ],
)
def test_numbers_that_cannot_be(facts: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        clinic(**facts)


@pytest.mark.parametrize(
    ("population", "delta"),
    [(1, 1e-3), (2500, 1e-7), (10_000, 1e-7), (10_001, 1e-8), (10**9, 1e-12)],
)
def test_the_usual_delta(population: int, delta: float) -> None:
    assert usual_delta(population) == delta
    assert usual_delta(population) * 1000 * population <= 1


def test_the_fingerprint() -> None:
    first = clinic()
    assert first.digest == clinic().digest
    same = clinic(
        replace(VISITS, source="elsewhere.csv", stored="x"),
        CODES,
        replace(REGIONS, fields=(replace(REGIONS.fields[0], provenance="a list"),)),
        book="b.db",
        analysts={"alice": 0.5},
        policy=Policy(1.0),
    )
    assert same.digest == first.digest


@pytest.mark.parametrize(
    "other",
    [
        clinic(version="2"),
        clinic(unit=UNIT.replacing()),
        clinic(unit=UNIT.replacing().with_facts(["patients"])),
        clinic(epsilon=1.0),
        clinic(delta=1e-9),
        clinic(population=7),
        clinic(VISITS, CODES),
        clinic(replace(VISITS, rows=3), CODES, REGIONS),
        clinic(
            replace(VISITS, fields=(*VISITS.fields, Field("x", Type.TEXT))),
            CODES,
            REGIONS,
        ),
        clinic(
            replace(
                VISITS, fields=(ID, replace(TEXT, keys=("A",)), *VISITS.fields[2:])
            ),
            CODES,
            REGIONS,
        ),
        clinic(
            replace(
                VISITS,
                fields=(*VISITS.fields[:3], Field("age", Type.INTEGER, Range(0, 111))),
            ),
            CODES,
            REGIONS,
        ),
    ],
)
def test_the_fingerprint_of_something_else(other: Catalogue) -> None:
    assert other.digest != clinic().digest


def test_the_fingerprint_tells_facts_apart() -> None:
    units = [UNIT, UNIT.replacing()]
    units += [
        UNIT.replacing().with_facts(facts) for facts in (["a"], ["b"], ["a", "b"])
    ]
    assert len({clinic(unit=unit).digest for unit in units}) == len(units)
