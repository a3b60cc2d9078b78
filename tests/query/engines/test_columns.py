"""Declared columns and the stored ones that they are read from."""

from __future__ import annotations

import pytest

from dither.errors import ArgumentError
from dither.query.catalogue.model import Field, Link, Table
from dither.query.catalogue.types import Type
from dither.query.engines.columns import (
    READABLE,
    check_id,
    check_readable,
    decimal_type,
    find_column,
    ids,
    public_keys,
    unique,
)

VISITS = Table("visits", (Field("id", Type.TEXT), Field("n", Type.REAL)), owner="id")


def test_columns_are_found_as_they_are_spelled_or_in_another_case() -> None:
    stored = {"ID": 1, "id": 2, "Age": 3}
    assert find_column(stored, VISITS, "id") == 2
    assert find_column(stored, VISITS, "age") == 3
    with pytest.raises(ArgumentError) as missing:
        find_column(stored, VISITS, "agee")
    assert (
        str(missing.value)
        == "the source of 'visits' has no column 'agee'; did you mean Age?"
    )


@pytest.mark.parametrize("stored", Type)
@pytest.mark.parametrize("declared", Type)
def test_what_a_column_may_be_declared_as(stored: Type, declared: Type) -> None:
    field = Field("x", declared)
    if declared in READABLE[stored]:
        check_readable(VISITS, field, stored)
        return
    with pytest.raises(ArgumentError) as refused:
        check_readable(VISITS, field, stored)
    words = f"holds values of type {stored}, not {declared}; declare the stored type"
    assert str(refused.value) == f"the column 'x' of 'visits' {words}"


def test_every_type_can_be_read_as_a_text_and_as_itself() -> None:
    assert all({type_, Type.TEXT} <= set(READABLE[type_]) for type_ in Type)


def test_ids_are_those_that_owners_are_found_by() -> None:
    assert ids(VISITS) == {"id"}
    field = Field("visit", Type.INTEGER)
    linked = Table("codes", (field,), link=Link("visit", "visits", "n"))
    assert ids(linked) == {"visit"}
    assert ids(Table("wards", (field,), public=True)) == set()


def test_reals_are_no_ids_as_texts() -> None:
    check_id(VISITS, Field("id", Type.INTEGER), real=True)
    check_id(VISITS, Field("id", Type.TEXT), real=False)
    with pytest.raises(ArgumentError, match="holds real numbers, which cannot be ids"):
        check_id(VISITS, Field("id", Type.TEXT), real=True)


def test_names_can_be_told_apart() -> None:
    assert unique("file", ["a", "b"]) == ["a", "b"]
    with pytest.raises(ArgumentError, match="has two columns named 'A'"):
        unique("file", ["a", "A"])


def test_public_keys_are_not_null() -> None:
    assert public_keys([("a",), (None,)], "ward", "wards.csv", Type.TEXT) == ["a"]
    with pytest.raises(ArgumentError) as unread:
        public_keys(None, "ward", "wards.csv", Type.DATE)
    words = (
        "the column 'ward' of wards.csv cannot be read as date; list the keys instead"
    )
    assert str(unread.value) == words


def test_decimals_that_fit_64_bits_are_integers() -> None:
    assert (decimal_type(18, 0), 10**18 < 2**63) == (Type.INTEGER, True)
    assert (decimal_type(19, 0), 10**19 > 2**63) == (Type.REAL, True)
    assert decimal_type(4, 2) is Type.REAL
