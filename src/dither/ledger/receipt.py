"""The receipt of a charge: what to keep outside the book."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dither.errors import ArgumentError
from dither.ledger.entry import Entry
from dither.ledger.left import Taken
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
    """The guarantee of each key's answer, if the charge was for disjoint keys."""
    taken: Taken | None = field(default=None, compare=False, repr=False)
    """The part of the account that the charge took, and the remaining budget right after
    it. Only the receipt that `charge` returns has it: books and files do not.
    """

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


def receipt_of(
    entry: Entry,
    book: str,
    guarantee: Guarantee | None = None,
    taken: Taken | None = None,
) -> Receipt:
    """The receipt of a line that is a charge; its guarantee is read from the line where
    it is not at hand.
    """
    body = entry.body
    parts = _disjoint(body["guarantee"])
    promise = guarantee or (Composed(parts) if parts else from_json(body["guarantee"]))
    about = (body["purpose"], book, entry.account, body["by"], entry.time, entry.hash)
    return Receipt(entry.seq, promise, *about, disjoint=parts, taken=taken)


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
        raise ArgumentError(
            "receipt",
            f"must be a Receipt, not {type(receipt).__name__}; pass one that a charge "
            "returned",
        )
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
            "receipt",
            "does not have a line number; pass the receipt as the charge returned it",
        )
    for guarantee in (receipt.guarantee, *receipt.disjoint):
        if not isinstance(guarantee, Guarantee):
            raise ArgumentError(
                "receipt",
                "does not have a guarantee; pass the receipt as the charge returned it",
            )


def check_text(argument: str, text: str, *, needed: bool = False) -> None:
    """Check that every book can store a string."""
    if text == "" and not needed:
        return
    if (
        not isinstance(text, str)
        or "\0" in text
        or text != text.encode(errors="replace").decode()
    ):
        raise ArgumentError(
            argument,
            "must be a string without null characters or broken Unicode; pass plain "
            "words",
        )
    if needed and not text:
        raise ArgumentError(
            argument,
            "must not be empty; pass a name or a few words, which the log keeps",
        )
