"""A private table in the shapes that other tools read: frames, Arrow, CSV, JSON.
Intervals travel with the values.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Protocol

from dither.details import Details
from dither.errors import ArgumentError, DitherError
from dither.ledger import Receipt
from dither.ledger.wire import to_json as guarantee_data
from dither.privacy import Guarantee
from dither.text import finite, missing
from dither.wording import CLAMPED, cost_of, paid

__all__ = ["NotInstalled", "to_arrow", "to_csv", "to_json", "to_pandas", "to_polars"]

SCHEMA = "dither.release/1"
MISSING, KEEP = "missing", "keep"
COST = "cost: "
"""Label of the cost in print."""


class Released(Protocol):
    """The part of a private table that is written down."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]: ...

    @property
    def guarantee(self) -> Guarantee: ...

    @property
    def receipt(self) -> Receipt | None: ...

    @property
    def notes(self) -> tuple[str, ...]: ...

    @property
    def replayed(self) -> bool: ...

    @property
    def confidence(self) -> float: ...

    def cells(self) -> Sequence[Sequence[tuple[Any, Any] | None]]: ...

    def is_key(self, place: int) -> bool: ...


class NotInstalled(DitherError, ImportError):
    """A package that this shape of table needs is not installed."""


def package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise NotInstalled(
            f"this needs {name}; install it with: pip install {name}"
        ) from error


def to_pandas(release: Released, untold: str = MISSING) -> Any:
    return package("pandas").DataFrame(dict(columns(release, untold)))


def to_polars(release: Released, untold: str = MISSING) -> Any:
    return package("polars").DataFrame(dict(columns(release, untold)), strict=False)


def to_arrow(release: Released, untold: str = MISSING) -> Any:
    return package("pyarrow").table(dict(columns(release, untold)))


def columns(
    release: Released, untold: str = MISSING
) -> Iterator[tuple[str, list[Any]]]:
    """Each column, and after each value column the ends of its intervals, under names
    that differ. A value without information is missing, or it is kept beside a
    column that marks it.
    """
    if untold not in (MISSING, KEEP):
        raise ArgumentError(
            "untold", f'must be "{MISSING}" or "{KEEP}", not {untold!r:.40}'
        )
    cells, taken = release.cells(), set(release.columns)
    told = release.told() if hasattr(release, "told") else None
    seen: set[str] = set()
    for place, name in enumerate(release.columns):
        own = name if name not in seen else unused(name, taken)
        seen.add(own)
        values = [row[place] for row in release.rows]
        sure = [told is None or told[at][place] for at in range(len(values))]
        if untold == MISSING:
            values = [v if one else None for v, one in zip(values, sure, strict=True)]
        yield own, values
        if not release.is_key(place):
            pairs = [row[place] or (None, None) for row in cells]
            yield unused(f"{own}_low", taken), [low for low, _ in pairs]
            yield unused(f"{own}_high", taken), [high for _, high in pairs]
            if untold == KEEP:
                yield unused(f"{own}_told", taken), sure


def unused(name: str, taken: set[str]) -> str:
    """The name, with a number where it is taken already."""
    found, count = name, 2
    while found in taken:
        found, count = f"{name}_{count}", count + 1
    taken.add(found)
    return found


def to_csv(
    release: Released, path: str | Path | None = None, untold: str = MISSING
) -> str | None:
    """The text, or None if it was written to a file."""
    table = dict(columns(release, untold))
    return csv_of(table, zip(*table.values(), strict=True), path)


def csv_of(
    names: Iterable[str], rows: Iterable[Sequence[Any]], path: str | Path | None = None
) -> str | None:
    """Rows as CSV: the text, or None if it was written to a file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([field(value) for value in row] for row in rows)
    if path is None:
        return text.getvalue()
    Path(path).write_text(text.getvalue(), encoding="utf-8", newline="")
    return None


def field(value: Any) -> Any:
    """A value as CSV holds it; NULL is empty."""
    if missing(value):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else value


def to_json(release: Released, indent: int | None = None) -> str:
    data = {
        "schema": SCHEMA,
        "columns": [
            {"name": name, "kind": "key" if release.is_key(place) else "value"}
            for place, name in enumerate(release.columns)
        ],
        "rows": rows(release),
        "confidence": release.confidence,
        "about": getattr(release, "about_values", None),
        "guarantee": guarantee_data(release.guarantee) | {"text": _promise(release)},
        "receipt": receipt_data(release.receipt),
        "replayed": release.replayed,
        **_paid(release),
        "notes": [note for note in release.notes if note != CLAMPED],
    }
    known = _details(release)
    if known is not None:
        data["details"] = known
    return json.dumps(data, indent=indent, allow_nan=False)


def _promise(release: Released) -> str:
    """The guarantee in words, as the release prints it if it is from one source."""
    sources: Sequence[Any] = getattr(release, "sources", ())
    return sources[0].promise if len(sources) == 1 else str(release.guarantee)


def _paid(release: Released) -> dict[str, Any]:
    """The cost as it is printed, the part of the account that the charge took, and the
    remaining budget in words; null if the release does not have them.
    """
    sources: Sequence[Any] = getattr(release, "sources", ())
    lines = paid(sources, replayed=release.replayed) if sources else []
    costs = [line.removeprefix(COST) for line in lines if line.startswith(COST)]
    taken = getattr(release.receipt, "taken", None)
    remaining = getattr(release, "remaining", "")
    share = None
    if release.replayed:
        share = 0.0
    elif taken is not None:
        share = max(taken.share, taken.delta)
        remaining = taken.remaining.in_words()
    return {
        "cost": "; ".join(costs) or cost_of(release.receipt),
        "share": share,
        "remaining": remaining or None,
    }


def _details(release: Released) -> dict[str, Any] | None:
    """What a report says beside the numbers, with what was done to them since."""
    making, after = getattr(release, "details", None), getattr(release, "after", ())
    if making is None and not after:
        return None
    lines: dict[str, Any] = (Details() if making is None else making()).to_dict()
    return lines | {"afterwards": [*lines["afterwards"], *after]}


def rows(release: Released) -> list[dict[str, list[Any]]]:
    """Values and the ends of their intervals; null if there is none, or if nothing is
    known. Rows with values that are missing for a reason, or give no information, have the
    reasons as `words`.
    """
    found: list[dict[str, list[Any]]] = []
    for row, cells in zip(release.rows, release.cells(), strict=True):
        pairs = [pair or (None, None) for pair in cells]
        lows, highs = ([finite(pair[end]) for pair in pairs] for end in (0, 1))
        found.append(
            {"values": [finite(value) for value in row], "low": lows, "high": highs}
        )
    reasons = release.reasons() if hasattr(release, "reasons") else ()
    for one, words in zip(found, reasons, strict=False):
        if any(words):
            one["words"] = list(words)
            one["values"] = [
                None if said else value
                for value, said in zip(one["values"], words, strict=True)
            ]
    return found


def receipt_data(receipt: Receipt | None) -> dict[str, Any] | None:
    if receipt is None:
        return None
    return {
        name: value
        for name, value in vars(receipt).items()
        if name not in ("guarantee", "disjoint", "taken")
    }
