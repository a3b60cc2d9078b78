"""A book as JSON lines, for someone who trusts neither the book nor Dither: `recheck`
adds them up again.

The first line describes the book; then comes one line for each account, with its terms
and what it says is spent; then the log, with one line for each charge and a note for
everything else that happened. docs/ledger.md lists the fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dither.ledger.entry import Entry, canonical
from dither.ledger.recheck import FORMAT, Total, recheck
from dither.ledger.store import LAST

if TYPE_CHECKING:
    from dither.ledger.ledger import Ledger

__all__ = ["Total", "export", "recheck"]

TERMS = {
    "name": "name",
    "dataset": "dataset",
    "unit": "unit",
    "relation": "relation",
    "accounting": "accounting",
    "epsilon": "epsilon",
    "delta": "delta",
    "alpha": "order",
}
"""The columns of an account that are its terms, and their names in an export."""


def export(ledger: Ledger) -> Iterator[str]:
    """The whole book at one moment, line by line, without line ends."""
    with ledger.store.reading() as run:
        accounts = run(
            f"SELECT {', '.join(TERMS)}, pure_spent, loss_spent, delta_spent "
            "FROM account ORDER BY name"
        )
        seq, _, head = run(LAST)[0]
    yield canonical({"line": "book", "format": FORMAT, "lines": seq, "head": head})
    for row in accounts:
        yield canonical(
            {
                "line": "account",
                **dict(zip(TERMS.values(), row, strict=False)),
                "spent": row[len(TERMS) :],
            }
        )
    for entry in ledger.entries():
        if entry.seq > seq:  # written since
            return
        yield canonical(_charge(entry) if entry.kind == "charge" else _note(entry))


def _charge(entry: Entry) -> dict[str, Any]:
    return _place("charge", entry) | dict(entry.body)


def _note(entry: Entry) -> dict[str, Any]:
    return _place("note", entry) | {"kind": entry.kind, "body": entry.body}


def _place(line: str, entry: Entry) -> dict[str, Any]:
    return {
        "line": line,
        "number": entry.seq,
        "time": entry.time,
        "account": entry.account,
        "hash": entry.hash,
    }
