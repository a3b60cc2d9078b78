"""Tables as they are shown: what was declared."""

from __future__ import annotations

from datetime import date

import pytest

from dither.errors import DitherError
from dither.privacy import Unit
from dither.query.catalogue.model import Catalogue, Field, Link, Table
from dither.query.catalogue.tables import Tables
from dither.query.catalogue.types import ANY, Type
from dither.query.catalogue.values import bounds_of

AGE = bounds_of("age", 0, 110, Type.INTEGER)
DAY = bounds_of("day", date(2020, 1, 1), None, Type.DATE)
VISITS = Table(
    "visits",
    (
        Field("id", Type.TEXT),
        Field("visit", Type.INTEGER),
        Field("age", Type.INTEGER, AGE, total=500),
        Field("day", Type.DATE, DAY),
        Field("ward", Type.TEXT, ANY, tuple("ABCDEFGHI")),
    ),
    owner="id",
    rows=1,
)
CODES = Table(
    "codes",
    (Field("visit", Type.INTEGER), Field("ok", Type.BOOLEAN, keys=(True, None))),
    link=Link("visit", "visits", "visit"),
)
WARDS = Table("wards", (Field("ward", Type.TEXT),), public=True)
TABLES = Tables(Catalogue("clinic", (VISITS, CODES, WARDS), unit=Unit("id")))


def test_they_are_found_by_name() -> None:
    assert (list(TABLES), len(TABLES)) == (["visits", "codes", "wards"], 3)
    assert TABLES["VISITS"] == VISITS
    with pytest.raises(DitherError):
        TABLES["nothing"]


def test_what_is_shown() -> None:
    lines = [" ".join(line.split()) for line in str(TABLES).splitlines() if line]
    assert lines == [
        "visits (private, owner id, at most 1 row per unit)",
        "id text",
        "visit integer",
        "age integer from 0 to 110, at most 500 in total per unit",
        "day date from 2020-01-01 to any",
        "ward text keys A, B, C, D, E, F, G, H, … (9 in total)",
        "codes (private, owner through visit = visits.visit)",
        "visit integer",
        "ok boolean keys True, NULL",
        "wards (public)",
        "ward text",
    ]


def test_exact_facts_are_shown() -> None:
    unit = Unit("id").replacing().with_facts(["visits of each ward", "all visits"])
    shown = str(Tables(Catalogue("clinic", (VISITS, CODES, WARDS), unit=unit)))
    facts = "published exactly, and not protected: all visits, visits of each ward"
    assert shown == f"{TABLES}\n\n{facts}"
