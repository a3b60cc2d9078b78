"""Who takes part in the race, how each is asked, and what is said about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bench import query

__all__ = [
    "BY_HAND",
    "CASES",
    "ENTRANTS",
    "HEATS",
    "LARGE",
    "LIMIT_SECONDS",
    "NOTES",
    "SMALL",
    "Entrant",
]

LARGE, SMALL = 10_000_000, 1_000_000
LIMIT_SECONDS = 900
HANDMADE = ("grouped count", "private keys")
BY_HAND = tuple(
    replace(case, name=f"{case.name}, by hand")
    for case in query.CASES
    if case.name in HANDMADE
)
"""What an expert would do with OpenDP's faster way, knowing the data."""
CASES = (*query.CASES, *BY_HAND)


@dataclass(frozen=True)
class Entrant:
    """A system: its environment (None: this one), its script, and how it is to be
    asked.
    """

    peer: str | None
    script: str
    repeats: int = 3
    database: bool = False
    """It reads PostgreSQL, not a file."""
    together: bool = False
    """One process for all questions, because it starts slowly."""
    options: Mapping[str, str] = field(default_factory=dict)
    """What its script is told besides."""


ENTRANTS: Mapping[str, Entrant] = {
    "dither": Entrant(None, "query_dither"),
    "DuckDB": Entrant(None, "query_duckdb"),
    "OpenDP": Entrant("opendp-polars", "query_opendp", options={"keep": "sample"}),
    "OpenDP, first rows": Entrant(
        "opendp-polars", "query_opendp", options={"keep": "first"}
    ),
    "PipelineDP": Entrant("pipeline-dp", "query_pipelinedp"),
    "SmartNoise, pandas": Entrant("smartnoise-sql", "query_smartnoise"),
    "SmartNoise, PostgreSQL": Entrant(
        "smartnoise-sql-postgres", "query_smartnoise", database=True
    ),
    "Qrlew, PostgreSQL": Entrant("qrlew", "query_qrlew", database=True),
    "PostgreSQL": Entrant(None, "query_postgres", database=True),
    "Tumult": Entrant("tmlt.analytics", "query_tumult", repeats=2, together=True),
    "DPSQL+": Entrant("dpsql-plus", "query_dpsql"),
}
HEATS = (
    (SMALL, ("dither", "DuckDB", "OpenDP", "OpenDP, first rows")),
    (SMALL, ("PipelineDP",)),
    (SMALL, ("SmartNoise, pandas",)),
    (SMALL, ("PostgreSQL", "SmartNoise, PostgreSQL", "Qrlew, PostgreSQL")),
    (SMALL, ("DPSQL+",)),
    (LARGE, ("dither", "DuckDB", "OpenDP", "OpenDP, first rows")),
    (SMALL, ("Tumult",)),
)
"""Those of a heat take turns; heats follow each other."""

NOTES = (
    "The table is that of `query`, at two sizes. Every answer has ε "
    "= 1 at δ = 1e-6 for all rows of a user, and "
    "amounts are cut to 0 to 500.",
    "Systems that want to be told how much one user may count for "
    "were told 50 rows, or for groups 15 groups with 5 "
    "rows in each. SmartNoise takes only the 50 rows; Qrlew the 50 "
    "rows and the 15 groups. Dither was told nothing.",
    "CPU-seconds are those of the asking process, of what it "
    "started, and of the database server. The median of three "
    "answers (Tumult: two) of a process that did nothing else; "
    "Tumult's process answered all questions.",
    "Memory is the most a process had, added up over the asking "
    "process, what it started and its server process.",
    "Not counted: reading rows into memory (PipelineDP, SmartNoise "
    "on pandas) and loading PostgreSQL. Dither, DuckDB, "
    "OpenDP and Tumult read a file in every answer.",
    "Errors are taken from what DuckDB says without privacy; for "
    "private keys, over the keys that were named.",
    "OpenDP keeps a sample of a user's rows, which is its default, "
    "or the first rows, which is faster and right only "
    "if the order of rows says nothing. Of groups it keeps the "
    "first: its sample fails on a text key.",
    "Grouped count, by hand: OpenDP told 30 groups with 5 rows in "
    "each, which one picks who knows the data. Once.",
    "Private keys, by hand: OpenDP asked twice, names by one row a "
    "user and city, then counts, with Gaussian noise, "
    "each at half of the ρ that ε and δ allow. Once.",
)
