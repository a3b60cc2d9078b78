"""Names: which are the same, which was meant, which can be used."""

from __future__ import annotations

import pytest

from dither.errors import ArgumentError
from dither.query.catalogue.names import (
    checked_name,
    clash,
    find,
    likely_ids,
    nameable,
    nearest,
    same,
)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["age", "patient_id", "ward"], ["patient_id"]),
        (
            ["visit_id", "CustomerNo", "email", "user"],
            ["CustomerNo", "email", "user", "visit_id"],
        ),
        (["year", "rownames", "tail_number", "paid", "grid", "keys", "users_seen"], []),
        (
            [f"k{number}_id" for number in range(9)],
            [f"k{number}_id" for number in range(5)],
        ),
    ],
)
def test_ids_by_their_names(names: list[str], found: list[str]) -> None:
    assert likely_ids(names) == found


def test_case_does_not_matter() -> None:
    assert same("Ward", "wARD")
    assert find("WARD", ["age", "ward"]) == "ward"
    assert find("bed", ["age", "ward"]) is None
    assert clash(["a", "b", "A"]) == "A"
    assert clash(["a", "b"]) is None


@pytest.mark.parametrize(
    ("name", "names", "words"),
    [
        ("warrd", ["age", "Ward"], "did you mean Ward?"),
        ("zzz", ["age", "ward"], "use one of age, ward"),
        ("zzz", [], "there are none to choose from"),
        ("zzz", list("abcdefghij"), "use one of a, b, c, d, e, f, g, h, …"),
    ],
)
def test_what_was_meant(name: str, names: list[str], words: str) -> None:
    assert nearest(name, names) == words


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\0b", "x" * 256, "\x1b[2J"])
def test_names_that_cannot_be_used(name: str) -> None:
    assert not nameable(name)
    with pytest.raises(ArgumentError, match="cannot be a name"):
        checked_name("table", name)


@pytest.mark.parametrize("name", [3, None, b"a"])
def test_what_is_no_text(name: object) -> None:
    with pytest.raises(ArgumentError, match="cannot be a name"):
        checked_name("table", name)


@pytest.mark.parametrize("name", ["a", "Größe", "two words", 'a"b', "drop table x; --"])
def test_names_that_can(name: str) -> None:
    assert checked_name("table", name) == name
