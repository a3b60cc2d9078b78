"""How anybody checks a report against the book, and what no report can promise."""

from __future__ import annotations

import shlex
from typing import Any

from dither._version import __version__
from dither.explain.deployments import PUBLISHED, Deployments
from dither.explain.report.book import shown
from dither.explain.report.section import Section
from dither.ledger import Ledger, Receipt

__all__ = ["MEMORY", "limits", "placed", "verify"]

MEMORY = "this process only"
"""Where a book says it is that ends with its process: no command can look into it."""


def verify(receipts: tuple[Receipt, ...], ledger: Ledger | None) -> Section:
    """The receipts with their hashes, the head of the book, and the commands."""
    facts = [("code", f"dither {__version__}")]
    facts += [(f"receipt {one.number}", one.head) for one in receipts]
    anchors = " ".join(f"--anchor {one.number}:{one.head}" for one in receipts)
    data: dict[str, Any] = {
        "code": __version__,
        "receipts": [
            {"number": one.number, "head": one.head, "book": shown(one.book)}
            for one in receipts
        ],
    }
    if ledger is None or ledger.store.place == MEMORY:
        words = ("No durable ledger holds this release, so others cannot check it.",)
        return Section("verify", "How to verify", words, tuple(facts), data=data)
    number, digest = ledger.head
    place = shlex.quote(shown(ledger.store.place))
    facts.append(("head of the book", f"{number}:{digest}"))
    facts.append(("nothing changed", f"dither log verify {place} {anchors}".strip()))
    facts.append(
        (
            "adds up elsewhere",
            f"dither log export {place} | dither log recheck - {anchors}".strip(),
        )
    )
    words = (
        "Keep this page away from the ledger: its hashes show whether the ledger was cut "
        "or replaced since. The second command recomputes the total with another "
        "accountant. Run both in the folder or on the server of the ledger.",
    )
    data["head"] = {"number": number, "hash": digest}
    return Section("verify", "How to verify", words, tuple(facts), data=data)


LIMITS = (
    "It bounds what one unit's own data adds. It does not hide facts about everybody, "
    "which a release without that unit shows as well, nor a place or a group that is "
    "known to be hot.",
    "Correlated records need group privacy, which is a weaker guarantee.",
    "A failure after data was read, run time and memory lie outside the guarantee: an "
    "account freezes after a few such failures.",
)


def limits() -> Section:
    """The limits of the guarantee; every report states them (rule R5)."""
    return Section("limits", "What it does not promise", LIMITS)


def placed(epsilon: float | None) -> Section:
    """Published ε values of others, with one's own among them."""
    table = Deployments(epsilon)
    rows = tuple(
        (f"{one.who}: {one.what}", one.numbers, f"{one.unit}; {one.period}", one.model)
        for one in sorted(
            PUBLISHED, key=lambda one: (one.epsilon is None, one.epsilon or 0.0)
        )
    )
    return Section(
        "deployments",
        "What others have published",
        (*table.sentences, table.notes[0]),
        heading=("who and what", "ε and δ", "one unit; for how long", "model"),
        rows=rows,
        data=table.to_dict(),
    )
