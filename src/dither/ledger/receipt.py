"""The receipt of a charge: what to keep outside the book."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dither.errors import ArgumentError
from dither.ledger.entry import Entry
from dither.ledger.wire import from_json, to_json
from dither.privacy import Composed, Guarantee

__all__ = ["Receipt", "check_text", "promise_of", "receipt_of"]


@dataclass(frozen=True)
class Receipt:
    """The line of one charge: its number in the book, what it promised, for what and for whom.

    `head` is the hash of the log up to this line. Kept outside the book, a receipt shows if the book was cut or
    replaced by an older copy.
    """

    number: int
    guarantee: Guarantee
    purpose: str
    book: str
    account: str
    by: str | None
    time: str
    head: str
    disjoint: bool = False

    def __str__(self) -> str:
        return f"receipt {self.number} ({self.book})"

    def promise(self) -> dict[str, Any]:
        """The guarantee as the log writes it."""
        if self.disjoint and isinstance(self.guarantee, Composed):
            return {"kind": "disjoint", "parts": [to_json(part) for part in self.guarantee.parts]}
        return to_json(self.guarantee)


def receipt_of(entry: Entry, book: str, guarantee: Guarantee | None = None) -> Receipt:
    """The receipt of a line that is a charge; its guarantee is read from the line where it is not at hand."""
    body = entry.body
    promise = promise_of(body["guarantee"]) if guarantee is None else guarantee
    about = (body["purpose"], book, entry.account, body["by"], entry.time, entry.hash)
    return Receipt(entry.seq, promise, *about, disjoint=body["guarantee"]["kind"] == "disjoint")


def promise_of(body: Mapping[str, Any]) -> Guarantee:
    """What a line of the log promised; for disjoint keys, the promises of all of them."""
    return Composed([from_json(part) for part in body["parts"]]) if body["kind"] == "disjoint" else from_json(body)


def check_text(argument: str, text: str, *, needed: bool = False) -> None:
    """A text that every book can hold."""
    if text == "" and not needed:
        return
    if not isinstance(text, str) or "\0" in text or text != text.encode(errors="replace").decode():
        raise ArgumentError(argument, "must be a text without odd characters; pass plain words")
    if needed and not text:
        raise ArgumentError(argument, "is empty; say it in a few words, for whoever reads the log")
