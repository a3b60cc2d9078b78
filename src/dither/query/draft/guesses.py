"""Guesses from names, types and values of columns: the unit, the type of strings, bounds
and units of measure.

Bounds come from names alone: those of values would be facts about single rows (rule
R6). All are marked as guesses wherever they are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dither.query.catalogue.types import Type
from dither.query.draft.values import Values

__all__ = ["LIKELY", "Guess", "guess", "likely_link", "named_like_an_id", "units"]

PEOPLE = (
    *(
        "patient",
        "person",
        "people",
        "individual",
        "citizen",
        "resident",
        "household",
        "family",
        "subject",
        "subj",
    ),
    *(
        "participant",
        "respondent",
        "donor",
        "voter",
        "taxpayer",
        "mother",
        "nurse",
        "doctor",
        "physician",
        "author",
    ),
    *(
        "user",
        "customer",
        "cust",
        "client",
        "member",
        "subscriber",
        "buyer",
        "visitor",
        "guest",
        "player",
        "reviewer",
    ),
    *(
        "employee",
        "emp",
        "worker",
        "student",
        "pupil",
        "owner",
        "tenant",
        "borrower",
        "account",
        "card",
        "cardholder",
    ),
    *(
        "passenger",
        "traveller",
        "traveler",
        "driver",
        "vehicle",
        "plane",
        "aircraft",
        "tail",
        "device",
        "nhs",
    ),
    *(
        "ssn",
        "mrn",
        "email",
        "phone",
        "msisdn",
        "imei",
        "imsi",
        "passport",
        "login",
        "username",
    ),
)
ALONE = (
    "ssn",
    "mrn",
    "email",
    "phone",
    "msisdn",
    "imei",
    "imsi",
    "passport",
    "login",
    "username",
)
"""Words that are ids by themselves."""
IDS = (
    *("id", "ids", "no", "nr", "num", "number", "key", "code"),
    *("uuid", "guid", "identifier", "pseudonym", "hash", "token"),
)
SURE_IDS = ("id", "uuid", "guid", "identifier", "pseudonym")
ROWS = re.compile(
    r"(row|line|record|obs|observation|unnamed|index|idx|seq|sequence|year|month|day|date|time|zip|post)"
)
SURE, LIKELY, POSSIBLE = 3, 2, 1
ID_TYPES = (None, Type.TEXT, Type.INTEGER)


@dataclass(frozen=True)
class Guess:
    """How a column may be read: type, bounds, and what its numbers are measured in."""

    type: Type | None = None
    low: Any = None
    high: Any = None
    measure: str = ""


WHOLE, REAL = Type.INTEGER, Type.REAL
KNOWN: tuple[tuple[str, Guess], ...] = (
    ("age", Guess(WHOLE, 0, 120, "years")),
    ("birth year|year of birth|yob", Guess(WHOLE, 1900, 2030, "calendar years")),
    ("year", Guess(WHOLE, 1900, 2100, "calendar years")),
    ("month", Guess(WHOLE, 1, 12, "months of the year")),
    ("weekday|day of week|dow", Guess(WHOLE, 0, 7, "days of the week")),
    ("hour|hour of day", Guess(WHOLE, 0, 24, "hours of the day")),
    ("minute", Guess(WHOLE, 0, 59, "minutes of the hour")),
    ("percent|pct|percentage", Guess(REAL, 0, 100, "%")),
    ("share|fraction|probability|proportion", Guess(REAL, 0, 1)),
    ("ratio", Guess(REAL)),
    ("latitude|lat", Guess(REAL, -90, 90, "degrees")),
    ("longitude|lon|lng", Guess(REAL, -180, 180, "degrees")),
    ("height cm", Guess(REAL, 0, 250, "cm")),
    ("height m", Guess(REAL, 0, 2.5, "m")),
    ("weight kg", Guess(REAL, 0, 400, "kg")),
    ("bmi", Guess(REAL, 0, 100, "kg/m²")),
    ("systolic|sbp|diastolic|dbp|blood pressure", Guess(REAL, 0, 300, "mmHg")),
    ("heart rate|pulse", Guess(REAL, 0, 300, "per minute")),
    ("date of birth|dob|birthday|birthdate|date", Guess(Type.DATE)),
    ("timestamp|datetime", Guess(Type.TIMESTAMP)),
    (
        "price|cost|amount|salary|income|wage|revenue|fee|charge|balance|fare|total|value",
        Guess(REAL),
    ),
    (
        "distance|weight|height|length|duration|temperature|score|rating|delay|speed|area|volume",
        Guess(REAL),
    ),
    ("days", Guess(WHOLE, measure="days")),
    ("hours", Guess(REAL, measure="hours")),
    ("minutes|mins", Guess(REAL, measure="minutes")),
    ("seconds|secs", Guess(REAL, measure="seconds")),
    (
        "count|quantity|qty|children|visits|items|population|beds|seats|rooms",
        Guess(WHOLE),
    ),
)
"""Names, or the last words of names, and what they stand for. The first that fits is
taken.
"""
ALL_OF_IT = ("month", "hour", "minute")
"""Names that mean something else at the end of another: time_hour is a time."""

MEASURES = {
    **{
        "kg": "kg",
        "g": "g",
        "cm": "cm",
        "mm": "mm",
        "km": "km",
        "miles": "miles",
        "mi": "miles",
        "lbs": "pounds",
    },
    **{
        "eur": "euros",
        "usd": "dollars",
        "gbp": "pounds sterling",
        "chf": "francs",
        "kwh": "kWh",
        "ml": "ml",
    },
    **{
        "pct": "%",
        "percent": "%",
        "years": "years",
        "months": "months",
        "ms": "milliseconds",
    },
    **{"celsius": "°C", "fahrenheit": "°F", "mmhg": "mmHg"},
}
"""The last word of a name that says what is measured."""


def words(name: str) -> list[str]:
    """The words of a name, however they are joined: patient_id, PatientID, "Patient
    id".
    """
    parts = re.findall(
        r"[^\W\d_]+|\d+",
        re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name),
    )
    return [part.casefold() for part in parts]


def strength(name: str, type_: Type | None) -> int:
    """Score of a column that may identify the owner of a row; 0 if it hardly does."""
    found = words(name)
    joined = "".join(found)
    if type_ not in ID_TYPES or not joined or ROWS.match(joined):
        return 0
    ending = "|".join(sorted(IDS, key=len, reverse=True))
    whose = "|".join(sorted(PEOPLE, key=len, reverse=True))
    if joined in ALONE or re.fullmatch(rf"(?:\w*?)(?:{whose})s?(?:{ending})", joined):
        return SURE
    if joined in PEOPLE or joined.removesuffix("s") in PEOPLE:
        return LIKELY
    return POSSIBLE if found[-1] in SURE_IDS else 0


def units(schemas: Iterable[Mapping[str, Type | None]]) -> dict[str, int]:
    """The columns that may be the unit, most likely first, with how likely each is: the
    more tables have one, the more.

    A column that is certain in one table wins over one that is merely in more tables.
    """
    found: dict[str, tuple[int, int]] = {}
    spelled: dict[str, str] = {}
    for schema in schemas:
        for name, type_ in schema.items():
            there = strength(name, type_)
            if there:
                key = name.casefold()
                spelled.setdefault(key, name)
                best, tables = found.get(key, (0, 0))
                found[key] = max(best, there), tables + 1
    ranked = sorted(found, key=lambda key: found[key], reverse=True)
    return {spelled[key]: found[key][0] for key in ranked}


def guess(name: str, type_: Type | None, values: Values | None = None) -> Guess:
    """What a column may hold. A type that the source states is never guessed again;
    None is a column of strings, whose values decide about the type.
    """
    named = _named(name, type_)
    if type_ is not None or values is None or values.number == 0:
        return named
    found = values.type(named.type, id=named_like_an_id(name))
    if found is None or not found.numeric or not (named.type and named.type.numeric):
        return Guess(found)
    return replace(named, type=found)


def _named(name: str, type_: Type | None) -> Guess:
    """Guess from the name alone."""
    found = words(name)
    if type_ is None and found and found[0] in ("is", "has") and len(found) > 1:
        return Guess(Type.BOOLEAN)
    if type_ is None and len(found) > 1 and found[-1] == "at":
        return Guess(Type.TIMESTAMP)
    known = _known(found) or _measured(found)
    if known is None:
        return Guess(type_)
    if type_ is not None and not (type_.numeric and known.type in (WHOLE, REAL)):
        return Guess(type_)
    return replace(known, type=type_ or known.type)


def _measured(found: list[str]) -> Guess | None:
    """What is measured in the unit that a name ends with. Known bounds are for another:
    0 to 120 is not an age_months.
    """
    measure = MEASURES.get(found[-1], "") if len(found) > 1 else ""
    known = _known(found[:-1]) or Guess(REAL)
    return Guess(known.type, measure=measure) if measure else None


def _known(found: list[str]) -> Guess | None:
    """The first entry that names all of the words or the last of them."""
    for names, meant in KNOWN:
        for name in names.split("|"):
            wanted = name.split()
            if found == wanted or (
                name not in ALL_OF_IT and found[-len(wanted) :] == wanted
            ):
                return meant
    return None


def named_like_an_id(name: str) -> bool:
    """Whether a name ends like an id's."""
    found = words(name)
    return bool(found) and found[-1] in SURE_IDS


def likely_link(column: str, table: str) -> bool:
    """Whether a column is named after a table: visit_id after visits."""
    found = words(column)
    if len(found) < 2 or found[-1] not in IDS:
        return False
    named = "".join(words(table))
    whose = "".join(found[:-1])
    return named.removesuffix("s") == whose.removesuffix("s")
