"""The receipt of a charge: what to keep outside the book."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dither.errors import ArgumentError
from dither.ledger.entry import Entry
from dither.ledger.wire import from_json, to_json
from dither.privacy import Composed, Guarantee

__all__ = ["Receipt", "check_receipt", "check_text", "receipt_of"]


@dataclass(frozen=True)
class Receipt:
    """The line of one charge: its number in the book, what it promised, for what and
    for whom.

    `head` is the hash of the log up to this line. Kept outside the book, a receipt
    shows if the book was cut or replaced by an older copy.
    """

    number: int
    guarantee: Guarantee
    purpose: str
    book: str
    account: str
    by: str | None
    time: str
    head: str
    disjoint: tuple[Guarantee, ...] = ()
    """What each key's answer promised, where the charge was for disjoint keys."""

    def __str__(self) -> str:
        return f"receipt {self.number} ({self.book})"

    def promise(self) -> dict[str, Any]:
        """The guarantee as the log writes it."""
        if self.disjoint:
            return {
                "kind": "disjoint",
                "parts": [to_json(part) for part in self.disjoint],
            }
        return to_json(self.guarantee)


def receipt_of(entry: Entry, book: str, guarantee: Guarantee | None = None) -> Receipt:
    """The receipt of a line that is a charge; its guarantee is read from the line where
    it is not at hand.
    """
    body = entry.body
    parts = _disjoint(body["guarantee"])
    promise = guarantee or (Composed(parts) if parts else from_json(body["guarantee"]))
    about = (body["purpose"], book, entry.account, body["by"], entry.time, entry.hash)
    return Receipt(entry.seq, promise, *about, disjoint=parts)


def _disjoint(body: Mapping[str, Any]) -> tuple[Guarantee, ...]:
    return (
        tuple(from_json(part) for part in body["parts"])
        if body["kind"] == "disjoint"
        else ()
    )


def check_receipt(receipt: Any) -> None:
    """A receipt may come from anywhere: a file, another machine, somebody who made it
    up.
    """
    if not isinstance(receipt, Receipt):
        raise ArgumentError("receipt", f"must be one, not {type(receipt).__name__}")
    for name in ("head", "time"):
        check_text(f"receipt.{name}", getattr(receipt, name), needed=True)
    check_text("receipt.purpose", receipt.purpose)
    if receipt.by is not None:
        check_text("receipt.by", receipt.by, needed=True)
    if (
        isinstance(receipt.number, bool)
        or not isinstance(receipt.number, int)
        or not 0 < receipt.number < 1 << 62
    ):
        raise ArgumentError(
            "receipt", "has no line number; pass receipts as they were given"
        )
    for guarantee in (receipt.guarantee, *receipt.disjoint):
        if not isinstance(guarantee, Guarantee):
            raise ArgumentError(
                "receipt", "promises nothing; pass receipts as they were given"
            )


def check_text(argument: str, text: str, *, needed: bool = False) -> None:
    """A text that every book can hold."""
    if text == "" and not needed:
        return
    if (
        not isinstance(text, str)
        or "\0" in text
        or text != text.encode(errors="replace").decode()
    ):
        raise ArgumentError(
            argument, "must be a text without odd characters; pass plain words"
        )
    if needed and not text:
        raise ArgumentError(
            argument, "is empty; say it in a few words, for whoever reads the log"
        )
