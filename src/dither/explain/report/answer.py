"""What a report knows of a release: from the release itself, from the file that it was
written to, or from its receipt alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dither.details import Details, mechanism_in_words
from dither.errors import ArgumentError
from dither.explain.report.section import Section
from dither.ledger import Receipt
from dither.ledger.wire import from_json
from dither.privacy import Composed, Guarantee
from dither.privacy.numbers import confidence_level
from dither.release import Around, Inside, Release, Source
from dither.table import TableRelease
from dither.text import cell, clean, level
from dither.wording import CLAMPED

__all__ = ["Released", "of_file", "of_receipt", "of_release"]

SHOWN = 24
"""Number of rows that a report prints; a longer answer is published next to it."""
UNSAID = "The notes are all that the release says about this."
UNKNOWN = (
    "A ledger does not store this; make the report from the release itself, or from the "
    "file that `dither query --json` wrote."
)
FILED = (
    "These numbers, and the lines on mechanism, bounds and error, come from the file: a "
    "ledger confirms the charge only."
)

PRODUCTS = {
    "dither.learn": "Machine-learning model",
    "dither.science.synth": "Synthetic data",
}
AFTERWARDS = "Done to the noisy numbers since"
NOTHING = {
    "error": "The intervals are all that has to be known.",
    "afterwards": "Nothing.",
}


@dataclass(frozen=True)
class Released:
    """A release, as far as it is known. `heading` and `rows` are its numbers in words;
    `more` is how many rows are not shown; `filed` says that a file holds them.
    """

    what: str
    sources: tuple[Source, ...]
    heading: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    more: int = 0
    confidence: float = 0.95
    notes: tuple[str, ...] = ()
    details: Details | None = None
    after: tuple[str, ...] = ()
    replayed: bool = False
    local: bool = False
    filed: bool = False
    unknown: str = UNSAID
    product: str = "Summary statistics"

    @property
    def guarantee(self) -> Guarantee:
        found = [source.guarantee for source in self.sources]
        return found[0] if len(found) == 1 else Composed(tuple(found))

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        return tuple(one.receipt for one in self.sources if one.receipt is not None)

    @property
    def known(self) -> Details:
        return self.details or Details()

    @property
    def done(self) -> tuple[str, ...] | None:
        """Post-processing of the noisy numbers; None if it is not recorded."""
        if self.details is None and self.unknown == UNKNOWN:
            return None
        return (*self.known.afterwards, *self.after)

    def numbers(self) -> Iterator[Section]:
        """The numbers with their intervals, if there are any."""
        if self.rows:
            yield self._numbers()

    def sections(self) -> Iterator[Section]:
        """The noise, what was declared, and what came after."""
        known = self.known
        for name, title, lines in (
            ("mechanism", "Mechanism", known.mechanism),
            ("declared", "Bounds and who declared them", known.declared),
            ("error", "Error and clipping", self.notes),
            ("afterwards", AFTERWARDS, self.done or ()),
        ):
            yield Section(
                name, title, lines or (self._nothing(name),), data={"lines": lines}
            )

    def _nothing(self, name: str) -> str:
        """Text for a receipt that has no line."""
        if self.unknown == UNKNOWN and self.details is None:
            return UNKNOWN
        return NOTHING.get(name, self.unknown)

    def _numbers(self) -> Section:
        words = [
            f"Each {level(self.confidence)} interval holds the true answer for values "
            "that are clamped to their declared bounds."
        ]
        words += [f"{self.more:,} more rows are not shown."] if self.more else []
        words += [FILED] if self.filed else []
        return Section(
            "numbers",
            "What was released",
            tuple(words),
            heading=self.heading,
            rows=self.rows,
            data={"confidence": self.confidence, "more": self.more},
        )


def of_release(release: Any) -> Released:
    """A release of any room."""
    if isinstance(release, TableRelease):
        return _of_table(release)
    if not isinstance(release, Release):
        kind = type(release).__name__
        raise ArgumentError(
            "release", f"must be a release, not {kind}; pass the answer to a question"
        )
    heading, rows, more = _entries(release)
    details, spread = release.details, release.spread
    if isinstance(spread, Inside):
        spread = spread.inner
    known = (
        (mechanism_in_words(spread.mechanism),) if isinstance(spread, Around) else ()
    )
    return Released(
        release.what,
        release.sources,
        heading,
        rows,
        more,
        notes=release.notes,
        details=Details(mechanism=known) if details is None else details(),
        after=release.after,
        local=_room(release) == "dither.local",
        product=PRODUCTS.get(_room(release), "Summary statistics"),
    )


def _room(release: Release) -> str:
    """The room, or the part of the science room, that a release comes from."""
    parts = type(release).__module__.split(".")
    return ".".join(parts[: 3 if "science" in parts else 2])


def _of_table(table: TableRelease) -> Released:
    first = (table.first,) if table.first else ()
    receipt = table.receipt
    return Released(
        receipt.purpose if receipt else ", ".join(table.columns),
        table.sources,
        table.columns,
        tuple(map(tuple, table.shown(SHOWN))),
        max(0, len(table.rows) - SHOWN),
        table.confidence,
        (*first, *table.notes),
        None if table.details is None else table.details(),
        table.after,
        table.replayed,
    )


def _entries(
    release: Release,
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], int]:
    """The numbers of a release; none if it holds something else, such as a model."""
    value = release.value
    flat = np.ndim(value) < 2 if isinstance(value, np.ndarray) else True
    if not flat or not np.issubdtype(np.asarray(value).dtype, np.number):
        return (), (), 0
    found = release.rows()
    rows = tuple(
        (
            str(key) or release.what,
            nothing or cell(one, None if low is None else (low, high)),
        )
        for (key, one, low, high), nothing in zip(
            found[:SHOWN], release.reasons(), strict=False
        )
    )
    return ("entry", release.what), rows, max(0, len(found) - SHOWN)


def of_receipt(receipt: Receipt) -> Released:
    """The facts that a receipt holds."""
    source = Source(receipt.guarantee, receipt)
    return Released(receipt.purpose or "a release", (source,), unknown=UNKNOWN)


def of_file(text: str) -> Released:
    """The file that `to_json` or `dither query --json` wrote. It may come from anywhere:
    its receipt is looked up, and its numbers are shown as they are.
    """
    data = _parsed(text)
    try:
        about = data["receipt"]
        guarantee = from_json(data["guarantee"])
        receipt = _receipt(guarantee, about) if about else None
        names = tuple(str(one["name"]) for one in data["columns"])
        rows = tuple(_cells(data["columns"], one) for one in data["rows"][:SHOWN])
        more = max(0, len(data["rows"]) - SHOWN)
        confidence = float(confidence_level("confidence", data["confidence"]))
        clamped = (CLAMPED,) if data.get("about") == CLAMPED else ()
        notes = tuple(dict.fromkeys((*clamped, *map(str, data["notes"]))))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ArgumentError("release", f"cannot be read; {WAY_OUT}") from error
    what = receipt.purpose if receipt and receipt.purpose else ", ".join(names)
    details = Details.of(data["details"]) if "details" in data else None
    source = Source(guarantee, receipt)
    return Released(
        what,
        (source,),
        names,
        rows,
        more,
        confidence,
        notes,
        details,
        replayed=bool(data.get("replayed")),
        filed=True,
    )


def _receipt(guarantee: Guarantee, about: Mapping[str, Any]) -> Receipt:
    found = Receipt(guarantee=guarantee, **about)
    if not isinstance(found.book, str) or not isinstance(found.account, str):
        raise TypeError("book and account must be strings")
    return found


WAY_OUT = "pass the file that `dither query --json` or release.to_json() wrote"


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, Mapping) or data.get("schema") != "dither.release/1":
        raise ArgumentError("release", f"the file is not a release; {WAY_OUT}")
    return data


def _cells(columns: Sequence[Any], row: Mapping[str, Any]) -> tuple[str, ...]:
    words = row.get("words") or [None] * len(columns)
    found = zip(columns, row["values"], row["low"], row["high"], words, strict=True)
    return tuple(
        clean(str(said or value))
        if one["kind"] == "key" or said
        else cell(value, None if low is None and high is None else _open(low, high))
        for one, value, low, high, said in found
    )


def _open(low: float | None, high: float | None) -> tuple[float, float]:
    """The ends; null is an open one."""
    return -np.inf if low is None else low, np.inf if high is None else high
