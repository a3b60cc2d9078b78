"""Neighbouring databases, as hostile as rows can be: what one unit brings, beside what
others bring.

A `World` is what all other units bring, and several versions of what one more unit
brings. No version against one is a pair of neighbours for add/remove; two versions are
a pair for replace.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random  # allowed: it chooses test data, and its seeds are fixed
from typing import Any

from dither.query.catalogue.model import Catalogue
from dither.query.catalogue.types import Type
from tests.neighbours.neighbour_place import FACTS, IDS, ROWS

__all__ = ["HIGH", "LOW", "NAMES", "World", "world"]

LONG = [
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "4611686018427387904",
    "-72057594037927937",
]
NO_NUMBERS = [None, "", "abc", "1e5", "3.7", " 12 ", "nan", "0x10"]
REALS = [
    math.nan,
    math.inf,
    -math.inf,
    None,
    0.0,
    -0.0,
    1e308,
    -1e308,
    5e-324,
    -5e-324,
    2.3e-308,
    1 / 3,
    7.3,
    -2.5,
    1e15,
]
TEXTS = [
    "x",
    "X",
    "x ",
    " x",
    "é",
    "e\u0301",
    "ß",
    "SS",
    "",
    None,
    "a%_\\b",
    "'; --",
    "\U0001f600",
    "12",
    "2020-02-02",
    "y" * 300,
]
DATES = [
    None,
    "2020-02-30",
    "x",
    "0001-01-01",
    "9999-12-31",
    "infinity",
    "-infinity",
    "0044-03-15 (BC)",
    "294000-01-01",
]
TIMES = [
    *DATES,
    "1969-12-31 23:59:59.999999",
    "2020-02-29 12:34:56+05",
    "2020-03-29 01:30:00",
    "290000-01-01 00:00:00",
]

COMMON: dict[str, Sequence[Any]] = {
    "ward": ["A", "B", "a"],
    "day": ["2020-01-01", "2020-01-31", "2020-02-29", "2020-03-31"],
    "at": ["2020-01-01 00:00:00", "2020-02-29 12:34:56.789", "2021-12-31 23:59:59"],
    "cost": ["-20", "0", "1", "7", "100"],
    "big": ["0", "1", "-3", "1000000"],
    "score": [-2.5, 0.0, 1.25, 7.3, 0.1],
    "raw": [0.5, -1.0, 1000.0, 0.0],
    "ok": ["true", "false"],
    "note": ["x", "y", "z", "x"],
    "sex": ["F", "M"],
    "city": ["Rome", "Oslo", "Lima"],
    "weight": [0.1, 0.7, 0.3],
    "code": ["I10", "J45", "Z00"],
    "grade": ["1", "3", "5"],
}
ODD: dict[str, Sequence[Any]] = {
    "ward": [None, "A ", "b", "\uff21", "C"],
    "day": DATES,
    "at": TIMES,
    "cost": ["101", "-21", *LONG, *NO_NUMBERS],
    "big": [*LONG, *NO_NUMBERS],
    "score": REALS,
    "raw": REALS,
    "ok": [None, "maybe", "t", "1"],
    "note": TEXTS,
    "sex": [None, "f", "F ", "X"],
    "city": TEXTS,
    "weight": REALS,
    "code": TEXTS,
    "grade": ["0", "6", *LONG, *NO_NUMBERS],
}
NAMES = [
    ["Ann", "ann", "Ann ", " Ann", "ANN", "\uff21nn"],
    ["\u00e9", "e\u0301", "\u00c9", "\u00e9 ", "e"],
    ["\u00df", "ss", "SS", "\u1e9e", "a\u0000b", "a"],
    ["", " ", "0", "00", "null", "None"],
]
"""Ids that are different, and that a careless comparison takes for the same."""
HIGH = [["7", "07", " 7", "7.4"], ["8", "7.6"], ["9"], ["9223372036854775807"]]
LOW = [["0", "-0", "+0"], ["-1", "-01"], ["-7"], ["-9223372036854775808"]]
"""Numbers have several spellings. One table clips all ids above to 7, and all below to
0.
"""
OWNERLESS: dict[Type, list[str | None]] = {
    Type.TEXT: [None],
    Type.INTEGER: [None, "", "seven", "9223372036854775808", "nan"],
}
SHARED_VISIT = "999"
"""A parent key that two of the other units have, and sometimes this one too: rows
linked to it have no owner.
"""

Rows = dict[str, list[list[Any]]]
"""For each table its rows, each a list of stored values."""


@dataclass(frozen=True)
class World:
    """What all other units bring, and what the one unit brings in each version."""

    catalogue: Catalogue
    others: Rows
    versions: Sequence[Rows]


def world(
    random: Random, catalogue: Catalogue, versions: int = 3, *, dense: bool = False
) -> World:
    """Up to five other units, ownerless rows, and versions of one more unit; some of it
    heavy, some of it nothing.

    If it is dense, there are others, and everyone has rows in all tables.
    """
    if catalogue is ROWS:
        others: Rows = {
            "visits": [
                _facts(random)
                for _ in range(random.choice([3, 8, 20] if dense else [0, 1, 3, 8]))
            ]
        }
        return World(
            catalogue, others, [{"visits": [_facts(random)]} for _ in range(versions)]
        )
    mine, *ids = _ids(random, catalogue, dense)
    units = [
        _unit(random, spellings, 1000 * place, dense)
        for place, spellings in enumerate(ids, 1)
    ]
    if len(ids) > 1 and (dense or random.random() < 0.5):
        units += [_shared(random, spellings) for spellings in ids[:2]]
    units += [
        _unit(random, OWNERLESS[catalogue.tables[0].fields[0].type], 500_000, dense)
    ]
    units += [{"codes": [[None, "I10", "3"], ["777", "I10", "3"]]}]
    return World(
        catalogue,
        _joined(units),
        [_version(random, mine, dense) for _ in range(versions)],
    )


def _ids(random: Random, catalogue: Catalogue, dense: bool) -> list[list[str]]:
    """The spellings of some ids, most of them alike."""
    classes = (
        [[[name] for name in alike] for alike in NAMES]
        if catalogue is IDS
        else [HIGH, LOW]
    )
    pool = (
        random.choice(classes)
        if random.random() < 0.8
        else [one for alike in classes for one in alike]
    )
    return random.sample(pool, random.choice([3, 4] if dense else [1, 2, 3, 4]))


def _joined(parts: Iterable[Rows]) -> Rows:
    found: Rows = {"people": [], "visits": [], "codes": []}
    for part in parts:
        for table, rows in part.items():
            found[table].extend(rows)
    return found


def _shared(random: Random, ids: Sequence[str | None]) -> Rows:
    """A visit with a key that others have too, and rows that are linked to it."""
    codes = [
        [SHARED_VISIT, *_row(random, "code", "grade")]
        for _ in range(random.choice([0, 1, 5]))
    ]
    return {"visits": [[SHARED_VISIT, ids[0], *_facts(random)]], "codes": codes}


def _version(random: Random, ids: Sequence[str | None], dense: bool) -> Rows:
    found = _unit(random, ids, 0, dense)
    return _joined([found, *([_shared(random, ids)] if random.random() < 0.3 else [])])


def _unit(random: Random, ids: Sequence[str | None], first: int, dense: bool) -> Rows:
    """What one unit brings. Its visits have keys of their own, which are sometimes
    there twice.
    """
    people, visits, codes = (
        random.choice(counts[1 if dense else 0 :]) for counts in COUNTS
    )
    persons = [
        [random.choice(ids), *_row(random, "sex", "city", "weight")]
        for _ in range(people)
    ]
    rows = [
        [str(first + n), random.choice(ids), *_facts(random)] for n in range(visits)
    ]
    if rows and random.random() < 0.3:
        rows += [
            [str(first + 100 + n), *rows[0][1:]]
            for n in range(random.choice([20, 100]))
        ]
    if rows and random.random() < 0.2:
        rows.append(list(rows[-1]))
    keys = [row[0] for row in rows] or [str(first)]
    linked = [
        [random.choice(keys), *_row(random, "code", "grade")] for _ in range(codes)
    ]
    return {"people": persons, "visits": rows, "codes": linked}


COUNTS = ((0, 1, 1, 1, 3), (0, 1, 2, 5, 9), (0, 1, 4, 30))
"""How many people, visits and codes a unit has."""


def _facts(random: Random) -> list[Any]:
    return _row(random, *(one.name for one in FACTS))


def _row(random: Random, *columns: str) -> list[Any]:
    odd = random.choice([0.0, 0.1, 0.5])
    return [
        random.choice(ODD[name] if random.random() < odd else COMMON[name])
        for name in columns
    ]
