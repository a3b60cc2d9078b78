"""How a book writes which neighbours a promise is about: `add/remove`, `replace`, or
`replace given ["total of each state"]` with the exact facts that they agree on.

Plain data only, for `transitions` and anyone who follows an exported book.
"""

from __future__ import annotations

import json

from dither.errors import LedgerError
from dither.ledger.entry import canonical

__all__ = ["bare", "facts_in", "relation_text"]

BARE = ("add/remove", "replace")
GIVEN = "replace given "
MOST, LONGEST = 20, 100
"""Largest number of facts, and of characters in one."""


def relation_text(relation: str, given: tuple[str, ...]) -> str:
    """The text of a relation and its facts, in the one order that they have."""
    return f"{GIVEN}{canonical(list(given))}" if given else relation


def bare(text: str) -> str:
    """The relation without its facts; `LedgerError` where no book writes this text."""
    return "replace" if facts_in(text) else text


def facts_in(text: str) -> tuple[str, ...]:
    """The facts of a string; `LedgerError` if no book writes it."""
    if text in BARE:
        return ()
    found = _listed(text)
    if not found or relation_text("replace", found) != text:
        raise LedgerError(
            f"the ledger describes neighbours as {text!r:.60}, which Dither never writes, "
            "so it was changed; restore it from a backup"
        )
    return found


def _listed(text: str) -> tuple[str, ...]:
    """The facts in a string, if they are such as a unit has; none otherwise."""
    longest = len(GIVEN) + MOST * (6 * LONGEST + 3) + 2
    if not isinstance(text, str) or not text.startswith(GIVEN) or len(text) > longest:
        return ()
    try:
        found = json.loads(text.removeprefix(GIVEN))
    except (ValueError, RecursionError):
        return ()
    if not isinstance(found, list) or not 0 < len(found) <= MOST:
        return ()
    plain = all(isinstance(one, str) and _plain(one) for one in found)
    return tuple(found) if plain and found == sorted(set(found)) else ()


def _plain(fact: str) -> bool:
    fits = 0 < len(fact) <= LONGEST
    return fits and fact.isprintable() and fact == fact.strip()
