"""Limits on the work that an analyst can give the machine, set by public facts before
anything is charged (rule R31).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from dither.errors import ArgumentError

__all__ = ["Limits"]

# The shape of a question. Together these keep every preview, answered or refused, below
# 0.2 CPU-seconds (`python -m bench preview`).

LETTERS = 20_000
WORDS = 2_500
DEEPEST = 24
"""Brackets within brackets: sqlglot's parser spends some 25 frames on each, of the
interpreter's 1,000.
"""
TALLEST = 100
"""Levels of the tree that is read, each of which costs the planner a few frames."""
TABLES = 20
"""Tables in one FROM."""
QUERIES = 50
"""SELECTs in one WHERE."""
PARTS = 200
"""Scans, filters, joins and so on, with every query named by WITH counted wherever it
is mentioned.
"""
COLUMNS = 1_000
"""Columns of one SELECT."""
ALL_COLUMNS = 8_000
"""Columns of all parts together."""
AGGREGATES = 60
"""Different aggregates of one SELECT."""
SOLVED = 16
"""Columns of an answer for which a cost can be found that reaches a wanted error."""
KEYS = 16
"""Keys of one GROUP BY."""
LARGEST = 5_000
"""Parts of one expression, written out through all SELECTs: engines write them out as
well.
"""
HIGHEST = 200
"""Levels of one expression, written out."""
LONGEST_TEXT = 300
"""Parts of one text that is put together."""
EFFORT = 60_000
"""Steps to compute the public values of one key."""
ALL_EFFORT = 100_000
"""Steps to compute the public values of all keys of a question."""
MOST_GROUPS = 400_000
"""Rows of one answer, before HAVING and LIMIT."""
MOST_NUMBERS = 2_000_000
"""Noisy numbers of one answer: groups times what is measured for each."""
KEY_LENGTH = 1_000
"""Longer strings and NULL are not private keys."""
PRUNED = 20
"""Private keys are left out below a twentieth of the threshold at most, by which the
threshold then rises.
"""
PUBLIC_ROWS = 10_000_000
"""Rows of public tables joined to each other."""
UNDECLARED = 100
"""Number of rows that a unit is assumed to have, for the fan-out of joins, if that is
not declared.
"""


@dataclass(frozen=True)
class Limits:
    """What the curator lets one question take, under [limits] in the catalogue.

    `seconds`: how long the engine may work on it. `memory` and `disk`: how many
    megabytes it may use (DuckDB: all questions at a time, besides tables that were
    copied into memory; PostgreSQL: a 64th of the memory for each sort or hash table,
    and its own `temp_file_limit`; Spark: as its cluster is set up). `fan_out`: how many
    rows joins may make of one row, by the sizes of public tables and the declared rows.
    """

    seconds: float = 600.0
    memory: int = 4_000
    disk: int = 20_000
    fan_out: int = 10_000

    @classmethod
    def of(cls, stated: Any) -> Limits:
        """Limits by their names, such as {"seconds": 60}; the usual ones if nothing is
        stated.
        """
        if not isinstance(stated, Mapping | None):
            raise ArgumentError(
                "limits",
                f'must be a dictionary by name, such as {{"seconds": 60}}, not '
                f"{stated!r:.40}",
            )
        known = [field.name for field in fields(cls)]
        for name in stated or {}:
            if name not in known:
                raise ArgumentError(
                    "limits",
                    f"the limit {name!r:.40} is unknown; use one of {', '.join(known)}",
                )
        return cls(**(stated or {}))

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            whole = isinstance(value, int) or (
                field.name == "seconds" and isinstance(value, float)
            )
            if isinstance(value, bool) or not (whole and 0 < value < LARGEST):
                kind = "a number" if field.name == "seconds" else "a whole number"
                raise ArgumentError(
                    field.name, f"must be {kind} above 0, not {value!s:.40}"
                )


LARGEST = 10**12
