"""What a question declares to be public, and where that comes from (rule R6)."""

from __future__ import annotations

from dither.errors import ArgumentError
from dither.text import clean

__all__ = ["note"]

LONGEST = 200


def note(what: str, provenance: str | None) -> str:
    """The line of a release that says what was declared and from what source, such as
    note("2,000 vertices", "the enrolment list of 2024").
    """
    if provenance is None:
        return f"{what}: declared, source not stated"
    words = provenance.strip() if isinstance(provenance, str) else ""
    if not words or len(words) > LONGEST:
        raise ArgumentError(
            "provenance",
            f"must name the source of the public facts in 1 to {LONGEST} characters; "
            'pass one such as "the enrolment list of 2024"',
        )
    return f"{what}: declared, from {clean(words)}"
