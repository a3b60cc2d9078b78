"""The lines below the numbers of a release, a preview or an account: what is
guaranteed, what it costs and what remains. They are the same for all kinds.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dither.errors import ArgumentError
from dither.ledger import Account, Receipt
from dither.privacy import ApproxDP, Composed, Guarantee, PureDP, Unit
from dither.text import clean, level

__all__ = [
    "CLAMPED",
    "REFUSED",
    "UNCHARGED",
    "Foreseen",
    "Paying",
    "cost_of",
    "entitled",
    "foreseen",
    "foretold",
    "in_html",
    "in_markdown",
    "literal",
    "noted",
    "paid",
    "part_of",
    "promised",
    "table_in_markdown",
]

CLAMPED = "values are clamped to their declared bounds"
"""The note that says what a number is about. It is printed before the guarantee."""
UNCHARGED = "not charged to any account"
REPEATED = "nothing, this is the stored answer"
NOTHING = "nothing would be charged"
REFUSED = f"this does not fit into the remaining budget; {NOTHING}"
BARRED = (
    "there is room for this, but the policy of the account limits one charge, or the "
    "analyst is not allowed to ask"
)
ACTIVE = re.compile(r"[\\`*_\[\]<>|~&#$]")
"""Characters that mean something in Markdown."""
SEVERAL = 3
"""Number of guarantees that are printed one by one if they do not add up to an ε."""


class Paying(Protocol):
    """One use of a mechanism, in words."""

    @property
    def guarantee(self) -> Guarantee: ...

    @property
    def receipt(self) -> Receipt | None: ...

    @property
    def promise(self) -> str: ...

    @property
    def cost(self) -> str: ...


def paid(
    sources: Sequence[Paying], *, replayed: bool = False, promise: str = ""
) -> list[str]:
    """The guarantee, the cost and the remaining budget of a release. `promise` is the
    guarantee in words if the sources do not say it.
    """
    promises = [promise] if promise else _promises(sources)
    lines = [f"guarantee: {one}" for one in promises]
    if replayed:
        numbers = (f" of {one.receipt}" if one.receipt else "" for one in sources)
        return [*lines, *(f"cost: {REPEATED}{number}" for number in numbers)]
    costs = dict.fromkeys(f"cost: {source.cost}" for source in sources)
    left = _remaining(sources)
    return [*lines, *costs, *([f"remaining: {left}"] if left else [])]


def cost_of(receipt: Receipt | None) -> str:
    """The part of its account that a charge took, and its receipt."""
    if not isinstance(receipt, Receipt):
        return UNCHARGED if receipt is None else str(receipt)
    taken = receipt.taken
    if taken is None:
        return f"charged to the account {clean(receipt.account)}, {receipt}"
    part = part_of(receipt.account, taken.in_words())
    return f"{part}, {receipt}"


def part_of(account: str, part: str) -> str:
    """A part of "the account" with the name of the account."""
    return part.replace("the account", f"the account {clean(account)}", 1)


def _remaining(sources: Sequence[Paying]) -> str:
    """The remaining budget right after the only charge, if its receipt has it."""
    receipts = [source.receipt for source in sources]
    taken = getattr(receipts[0], "taken", None) if len(receipts) == 1 else None
    return "" if taken is None else str(taken.remaining.in_words())


def _promises(sources: Sequence[Paying]) -> list[str]:
    """The guarantees of the sources together, one for each unit that they protect."""
    if len(sources) == 1:
        return [sources[0].promise]
    by_unit: dict[Unit, list[Guarantee]] = {}
    for source in sources:
        by_unit.setdefault(source.guarantee.unit, []).append(source.guarantee)
    return [_together(parts) for parts in by_unit.values()]


def _together(parts: Sequence[Guarantee]) -> str:
    if len(parts) == 1:
        return str(parts[0])
    if len(parts) > SEVERAL or all(isinstance(part, PureDP) for part in parts):
        return str(Composed(parts))
    measures = " and ".join(part.measure for part in parts)
    return f"{measures} together, protects {parts[0].unit}"


def promised(
    guarantee: Guarantee, delta: float = 0.0, epsilon: float | None = None
) -> str:
    """A guarantee and the unit that it protects. If it is neither pure nor (ε, δ), its ε
    at `delta` comes first, if there is one; `epsilon` is that ε if it is known.
    """
    if not delta or isinstance(guarantee, PureDP | ApproxDP):
        return str(guarantee)
    try:
        found = guarantee.epsilon_at(delta) if epsilon is None else epsilon
    except ArgumentError:
        return str(guarantee)
    _, _, protects = str(guarantee).partition(f"{guarantee.measure}, ")
    return f"ε = {found:.4g} at δ = {delta:g}, {protects}; by {guarantee.measure}"


@dataclass(frozen=True)
class Foreseen:
    """The cost of a charge to its account now, and the budget that would remain after it,
    or that remains now if the charge would be refused or is free.
    """

    share: float | None = None
    cost: str = UNCHARGED
    remaining: str = ""
    refused: str = ""
    """The reason why the charge would be refused, if it would be."""


def foreseen(
    account: Any, guarantee: Guarantee, by: str | None, *, charged: bool = True
) -> Foreseen:
    """The charge of an account for a guarantee. Nothing is spent. `charged` is false if
    nothing would be charged in the end.
    """
    if not isinstance(account, Account):
        return Foreseen()
    left = account.remaining_for(by)
    taken = left.taking(guarantee)
    if taken is None:
        return Foreseen(cost=f"charged to the account {clean(account.name)}")
    words = (taken.remaining if charged else left).in_words()
    share = max(taken.share, taken.delta)  # as `share=` counts it
    cost = part_of(account.name, taken.in_words())
    refused = ""
    if account.frozen:
        refused = f"the account is frozen ({clean(account.frozen)}); {NOTHING}"
    elif not charged and left.has_room_for(guarantee):
        refused = f"{BARRED}; {NOTHING}"
    return Foreseen(share, cost, words, refused)


def foretold(
    cost: str, remaining: str, *, affordable: bool, refused: str = ""
) -> list[str]:
    """The lines of a preview on what it costs and what remains after it. `refused` is
    the reason of a refusal if it is not the size of the charge.
    """
    if not affordable:
        left = [f"remaining: {remaining}"] if remaining else []
        return [f"cost: {cost}", f"refused: {refused or REFUSED}", *left]
    after = [f"remaining after: {remaining}"] if remaining else []
    return [f"cost: {cost}", *after]


def noted(notes: Sequence[str]) -> list[str]:
    """The notes of a release, one line for each."""
    return [f"note: {clean(note)}" for note in notes if note != CLAMPED]


def entitled(what: str, confidence: float = 0.95) -> str:
    """The title over several numbers with their intervals."""
    return f"{what} ({level(confidence)} intervals)"


def in_markdown(answer: str, lines: Sequence[str]) -> str:
    """An answer in Markdown, and the lines below it as a list."""
    return "\n".join([answer, "", *(f"- {literal(line)}" for line in lines), ""])


def table_in_markdown(
    head: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int]
) -> str:
    """A table in Markdown; the columns in `right` are aligned to the right."""
    marks = ["---:" if place in right else "---" for place in range(len(head))]
    cells = [[literal(text) for text in row] for row in (head, *rows)]
    lines = [cells[0], marks, *cells[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def literal(text: str) -> str:
    """Text that Markdown shows as it is: a key may contain any character."""
    return ACTIVE.sub(r"\\\g<0>", text)


def in_html(lines: Sequence[str]) -> str:
    """Lines for a notebook."""
    return "<br>".join(html.escape(line) for line in lines)
