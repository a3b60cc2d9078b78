"""Names of tables and columns: which may be used, which are the same, which was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from dither.errors import ArgumentError

__all__ = ["checked_name", "clash", "find", "nameable", "nearest", "same"]

LONGEST = 255
COMPARED = 200
"""Names, and characters of a name, that are looked at to guess which was meant: that takes time."""


def same(one: str, other: str) -> bool:
    """Whether two names mean the same thing: case does not matter in SQL."""
    return one.casefold() == other.casefold()


def find(name: str, names: Iterable[str]) -> str | None:
    """The name as it was declared."""
    return next((known for known in names if same(known, name)), None)


def nearest(name: str, names: Iterable[str]) -> str:
    """The rest of a sentence about an unknown name: the one that was probably meant, or the names there are."""
    known = list(dict.fromkeys(names))
    folded = [one.casefold() for one in known[:COMPARED]]
    close = difflib.get_close_matches(name.casefold()[:COMPARED], folded, n=1)
    if close:
        return f"did you mean {known[folded.index(close[0])]}?"
    if not known:
        return "there is none"
    return f"there is {', '.join(known[:8])}{', …' if len(known) > 8 else ''}"


def clash(names: Iterable[str]) -> str | None:
    """The first name that another one means as well."""
    seen: set[str] = set()
    for name in names:
        if name.casefold() in seen:
            return name
        seen.add(name.casefold())
    return None


def nameable(name: str) -> bool:
    """Whether a name can be written in SQL and shown on a line."""
    return bool(name.strip()) and name.isprintable() and len(name) <= LONGEST


def checked_name(argument: str, name: object) -> str:
    """A name that can be used, or an `ArgumentError`."""
    if not isinstance(name, str) or not nameable(name):
        raise ArgumentError(argument, f"{name!r:.60} is no name; use one line of text, at most {LONGEST} characters")
    return name
