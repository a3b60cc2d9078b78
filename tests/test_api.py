"""The reference of the API shows every public name, as the source has it."""

from __future__ import annotations

import enum

import pytest

import dither
from tools.api import ERRORS, described, entry, link, names, pages, places, signature
from tools.pages import outdated


def test_the_pages_are_made_from_the_source() -> None:
    assert outdated(pages()) == [], "run python tools/api.py"


def test_every_public_name_is_there() -> None:
    shown = {name for listed in names().values() for name in listed}
    assert shown == {*dither.__all__, "open", "sum"} - {"__version__"}
    assert {"explain", "audit", "learn-pate"} <= set(places().values())


def test_every_name_has_an_anchor_of_its_own() -> None:
    made = pages()
    listed = {f"dither.{name}" for name in names()[ERRORS]}  # on the pages of errors
    for name in places().keys() - listed:
        page = made[f"api/{places()[name]}.md"]
        assert page.count(f"## {name} {{ #{name} }}\n") == 1, name


def test_a_name_links_to_its_page() -> None:
    assert link("dither.Account") == "[`dither.Account`](ledger.md#dither.Account)"
    assert link("dither.Dataset.sql") == (
        "[`dither.Dataset.sql`](dither.md#dither.Dataset)"
    )
    assert link("other.Name") == "`other.Name`"


@pytest.mark.parametrize(
    "name", sorted({name for listed in names().values() for name in listed})
)
def test_every_public_name_says_what_it_is(name: str) -> None:
    value = getattr(dither, name)
    assert described(value if callable(value) else type(value))


def short(
    x: int, /, y: str = "a", *rest: float, z: object = object(), **more: bool
) -> None:
    """What it does.

    More about `it`, in
    two lines (rule R7); see docs/proofs/query.md.

    Guarantee: none.
    Why: it is a test.
    """


def test_a_function_is_shown_as_it_is_called() -> None:
    expected = (
        'f(x: int, /, y: str = "a", *rest: float, z: object = …, **more: bool) -> None'
    )
    assert signature("f", short) == expected
    assert signature("a" * 60, short).splitlines()[1] == "    x: int,"


def test_a_docstring_becomes_paragraphs() -> None:
    assert [line for line in described(short) if line] == [
        "What it does.",
        "More about `it`, in two lines; see [query](../proofs/query.md).",
        "**Guarantee:** none.",
        "**Why:** it is a test.",
    ]


class Base:
    """A base."""

    def one(self) -> int:
        """The first."""
        return 1


class Derived(Base):
    """Another."""

    @property
    def two(self) -> int:
        """The second."""
        return 2


class Colour(enum.Enum):
    """A colour."""

    RED = "red"


def test_members_of_a_base_are_described_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (Base, Derived, Colour):
        monkeypatch.setattr(kind, "__module__", "dither.made_up")
    shown: dict[tuple[type, str], str] = {}
    assert "- `one() -> int`: The first." in entry("d.Base", Base, shown)
    assert list(entry("d.Derived", Derived, shown))[-3:] == [
        "- `two`: The second.",
        "- The same as in `d.Base`: `one`",
        "",
    ]
    assert list(entry("d.Colour", Colour, shown))[-2:] == ["- `RED`: `'red'`", ""]
