"""Names of tables and columns: which may be used, which are the same, which was
probably meant.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from dither.errors import ArgumentError

__all__ = ["checked_name", "clash", "find", "likely_ids", "nameable", "nearest", "same"]

LONGEST = 255
COMPARED = 200
"""Names, and characters of a name, that are looked at to guess which was meant: that
takes time.
"""


def same(one: str, other: str) -> bool:
    """Whether two names mean the same thing: case does not matter in SQL."""
    return one.casefold() == other.casefold()


def find(name: str, names: Iterable[str]) -> str | None:
    """The name as it was declared."""
    return next((known for known in names if same(known, name)), None)


def nearest(name: str, names: Iterable[str]) -> str:
    """Way out of an error about an unknown name: the name that was probably meant, or
    the known names.
    """
    known = list(dict.fromkeys(names))
    folded = [one.casefold() for one in known[:COMPARED]]
    close = difflib.get_close_matches(name.casefold()[:COMPARED], folded, n=1)
    if close:
        return f"did you mean {known[folded.index(close[0])]}?"
    if not known:
        return "there are none to choose from"
    if len(known) == 1:
        return f"use {known[0]}"
    return f"use one of {', '.join(known[:8])}{', …' if len(known) > 8 else ''}"


PEOPLE = (
    "person|people|patient|user|customer|client|member|subject|participant|respondent|employee|worker|student|pupil"
    "|citizen|resident|individual|household|family|driver|rider|guest|owner|donor|voter|visitor|subscriber|account"
    "|device|session|imsi|imei|msisdn|ssn|nhs|mrn|email|mail|login|username|uid|guid|uuid"
)
BY_WORD = re.compile(
    rf"(^|_)({PEOPLE})s?(_?(id|key|no|nr|num|number|code|hash|uuid|name))?$"
)
BY_ENDING = re.compile(r"(^|_)(id|key|uuid|guid)$")
MOST_LIKELY = 5


def likely_ids(names: Iterable[str]) -> list[str]:
    """Columns that may say whose a row is, by their names alone: words for people
    first, then ids of any kind.
    """
    known = {name: _snake(name) for name in names}
    people = [name for name, plain in known.items() if BY_WORD.search(plain)]
    ids = [
        name
        for name, plain in known.items()
        if BY_ENDING.search(plain) and name not in people
    ]
    return [*people, *ids][:MOST_LIKELY]


def _snake(name: str) -> str:
    """A name as words in small letters: PatientID and "patient id" are patient_id."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[\W_]+", "_", parted).lower()


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
        raise ArgumentError(
            argument,
            f"{name!r:.60} cannot be a name; use one line of text, at most "
            f"{LONGEST} characters",
        )
    return name
