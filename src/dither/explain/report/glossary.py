"""The words in the margin of a report: those of the glossary that a report uses."""

from __future__ import annotations

__all__ = ["WORDS"]

WORDS: tuple[tuple[str, str], ...] = (
    (
        "unit",
        "what one individual is: a row, all rows with one `patient_id`, an edge, a "
        "node, a site; together with the neighbour relation",
    ),
    (
        "neighbours",
        "two datasets that differ in one unit: by *add/remove* (one has it, the other "
        "does not) or *replace* (its data is different)",
    ),
    ("guarantee", "what is promised about any one unit"),
    ("bound", "a public limit on a value"),
    (
        "cap",
        "a public fact: no unit has more rows than this (`rows`), or no unit's values "
        "add up to more (`total`)",
    ),
    (
        "interval",
        "a range that contains the true answer at a given rate, after noise and clipping; "
        "one-sided if no cap limits what clipping may hide",
    ),
    ("key", "the value of a group, public or private"),
    (
        "provenance",
        "who declared a public fact, and from what: the vertices of a graph, the box "
        "of a map, the panel of variants",
    ),
    ("curator", "the side that holds the data and is trusted with it"),
    ("analyst", "the side that asks and does not have to be trusted"),
    ("account", "one budget for one dataset and unit, kept in the ledger"),
    ("ledger", "the durable book of accounts"),
    ("charge", "one spend"),
    ("release", "a private result together with its guarantee"),
    ("receipt", "the line of a release in the ledger"),
)
"""As docs/glossary.md has them; a test compares."""
