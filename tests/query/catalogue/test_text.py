"""Catalogues written as text, so that they are read again as they are."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dither.ledger import Policy
from dither.privacy import Unit
from dither.query.catalogue.file import dump_catalogue
from dither.query.catalogue.model import Catalogue, Field, Link, Table
from dither.query.catalogue.types import Range, Type
from dither.query.catalogue.values import bounds_of
from dither.query.load import parse_catalogue

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(
    lambda text: text != "?"
)
NAMES = st.text(
    st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8
).filter(lambda name: name != "?")
NUMBERS = st.floats(-1e100, 1e100)
DATES = st.dates()
TIMES = st.datetimes()
WHO = NAMES.filter(lambda name: name != "row")
GIVEN = st.text(min_size=1, max_size=100).filter(
    lambda fact: fact.isprintable() and fact == fact.strip()
)
UNITS = st.builds(Unit, WHO, st.sampled_from(["add/remove", "replace"])) | st.builds(
    Unit, WHO, st.just("replace"), st.lists(GIVEN, max_size=4)
)


@st.composite
def fields(draw: st.DrawFn, name: str) -> Field:
    type_, values = draw(
        st.sampled_from(
            [
                (Type.INTEGER, st.integers(-(2**56), 2**56)),
                (Type.REAL, NUMBERS),
                (Type.DATE, DATES),
                (Type.TIMESTAMP, TIMES),
                (Type.TEXT, TEXTS),
                (Type.BOOLEAN, st.booleans()),
            ]
        )
    )
    keys: list[Any] | None = draw(
        st.none() | st.lists(values, min_size=1, max_size=4, unique=True)
    )
    range_ = Range()
    if type_ not in (Type.TEXT, Type.BOOLEAN) and keys is None:
        low, high = sorted([draw(values), draw(values)])
        range_ = bounds_of(
            "x",
            draw(st.sampled_from([low, None])),
            draw(st.sampled_from([high, None])),
            type_,
        )
    if keys is not None and draw(st.booleans()):
        keys = [*keys, None]
    return Field(
        name, type_, range_, None if keys is None else tuple(keys), draw(TEXTS)
    )


@st.composite
def catalogues(draw: st.DrawFn) -> Catalogue:
    names = draw(st.lists(NAMES, min_size=2, max_size=4, unique_by=str.casefold))
    owner = Field("the id", draw(st.sampled_from([Type.INTEGER, Type.TEXT])))
    columns = [name for name in names if name.casefold() != "the id"]
    first = (owner, *(draw(fields(name)) for name in columns))
    tables = [
        Table(
            names[0],
            first,
            owner="the id",
            rows=draw(st.none() | st.integers(1, 99)),
            source=draw(NAMES),
        )
    ]
    if draw(st.booleans()):
        tables.append(
            Table(
                names[1],
                (owner,),
                link=Link("the id", names[0], "the id"),
                stored=draw(TEXTS),
            )
        )
    else:
        tables.append(Table(names[1], (), public=True))
    return Catalogue(
        draw(NAMES),
        tuple(tables),
        unit=draw(UNITS),
        population=draw(st.none() | st.integers(1, 10**12)),
        epsilon=draw(st.none() | st.floats(1e-3, 1e3)),
        delta=draw(st.floats(0, 0.5)),
        analysts=draw(st.dictionaries(NAMES, st.floats(0.01, 1), max_size=2)),
        policy=Policy(
            draw(st.none() | st.floats(0.1, 9)),
            draw(st.none() | st.floats(1, 99)),
            draw(st.integers(1, 9)),
        ),
        version=draw(NAMES),
        book=draw(st.none() | NAMES),
    )


@given(catalogues())
def test_written_and_read(catalogue: Catalogue) -> None:
    assert parse_catalogue(dump_catalogue(catalogue)) == catalogue


def test_odd_texts_are_written_so_that_they_are_read_again() -> None:
    odd = ('"', "\\", "\x7f", "\n", "\x00", "\u2028", "'''", "é", "🙂", "")
    field = Field("a.b 'c\"", Type.TEXT, keys=odd, provenance="\x7f\r\n")
    times = Field(
        "t",
        Type.TIMESTAMP,
        keys=(datetime(1, 1, 1), datetime(2024, 1, 1, 0, 0, 0, 5)),
    )
    catalogue = Catalogue("x", (Table("a.b", (field, times)),))
    assert parse_catalogue(dump_catalogue(catalogue)) == catalogue
