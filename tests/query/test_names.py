"""Names: which are the same, which was meant, which can be used."""

from __future__ import annotations

import pytest

from dither.errors import ArgumentError
from dither.query.names import checked_name, clash, find, nameable, nearest, same


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
        ("zzz", ["age", "ward"], "there is age, ward"),
        ("zzz", [], "there is none"),
        ("zzz", list("abcdefghij"), "there is a, b, c, d, e, f, g, h, …"),
    ],
)
def test_what_was_meant(name: str, names: list[str], words: str) -> None:
    assert nearest(name, names) == words


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\0b", "x" * 256, "\x1b[2J"])
def test_names_that_cannot_be_used(name: str) -> None:
    assert not nameable(name)
    with pytest.raises(ArgumentError, match="is no name"):
        checked_name("table", name)


@pytest.mark.parametrize("name", [3, None, b"a"])
def test_what_is_no_text(name: object) -> None:
    with pytest.raises(ArgumentError, match="is no name"):
        checked_name("table", name)


@pytest.mark.parametrize("name", ["a", "Größe", "two words", 'a"b', "drop table x; --"])
def test_names_that_can(name: str) -> None:
    assert checked_name("table", name) == name
