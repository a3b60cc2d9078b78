"""What an analyst can make the machine do, limited by public facts before anything is charged (rule R31)."""

from __future__ import annotations

from dataclasses import dataclass, fields

from dither.errors import ArgumentError

__all__ = ["KEY_LENGTH", "MOST_GROUPS", "MOST_NUMBERS", "PRUNED", "Limits"]

KEY_LENGTH = 1_000
"""A longer text is no private key, as NULL is none."""
PRUNED = 20
"""Keys are left out below a twentieth of the threshold at most, by which the threshold then rises."""
MOST_GROUPS = 1_000_000
"""Rows of one answer, before HAVING and LIMIT."""
MOST_NUMBERS = 5_000_000
"""Noisy numbers of one answer: groups times what is measured for each."""


@dataclass(frozen=True)
class Limits:
    """What the curator lets one question take, under [limits] in the catalogue.

    `seconds`: how long the engine may work on it. `memory` and `disk`: how many megabytes it may use (DuckDB: all
    questions at a time, besides tables that were copied into memory; PostgreSQL: a 64th of the memory for each sort or
    hash table, and its own `temp_file_limit`; Spark: as its cluster is set up). `fan_out`: how many rows joins may
    make of one row, by the sizes of public tables and the declared rows.
    """

    seconds: float = 600.0
    memory: int = 4_000
    disk: int = 20_000
    fan_out: int = 10_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            whole = isinstance(value, int) or (field.name == "seconds" and isinstance(value, float))
            if isinstance(value, bool) or not (whole and 0 < value < LARGEST):
                kind = "a number" if field.name == "seconds" else "a whole number"
                raise ArgumentError(field.name, f"must be {kind} above 0, not {value!s:.40}")


LARGEST = 10**12
