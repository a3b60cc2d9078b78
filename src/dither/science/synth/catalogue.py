"""Columns of a domain from what a dataset's catalogue declares: keys, bounds, booleans.
These are public already; nothing is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.privacy.numbers import whole
from dither.science.declared import LONGEST
from dither.science.synth.bins import numbers
from dither.science.synth.calendar import LONGEST_STEPS, STEPS, Dates, dates, starts_of
from dither.science.synth.columns import (
    Categories,
    Column,
    booleans,
    categories,
)
from dither.science.synth.limits import check_size

if TYPE_CHECKING:
    from dither.query.catalogue.model import Field, Table

__all__ = ["BINS", "columns_of", "table_of"]

BINS = 16
"""Bins of a number or date between its bounds, where none are stated."""
WAY_OUT = "leave it out with columns=[…], or pass domain="
EPOCH = date(1970, 1, 1)


def table_of(dataset: Any, name: str | None) -> Table:
    """A private table by its name, or the only one."""
    if not isinstance(dataset, Dataset):
        kind = type(dataset).__name__
        raise ArgumentError(
            "dataset",
            f"must come from dither.open, and this is a {kind}, which declares no columns; "
            "write the domain down: Domain({…})",
        )
    tables = {table.name: table for table in dataset.catalogue.private}
    if name is None and len(tables) == 1:
        return next(iter(tables.values()))
    if name not in tables:
        raise ArgumentError("table", f"must be one of {', '.join(map(repr, tables))}")
    return tables[name]


def columns_of(
    dataset: Dataset,
    table: str | None,
    columns: Sequence[str] | None,
    bins: int | Mapping[str, Any],
    missing: bool,
) -> tuple[dict[str, Column], str | None]:
    """The declared columns of a table by name, and who declared them from what."""
    found = table_of(dataset, table)
    fields = _fields(found, columns)
    _check_bins(bins, [field.name for field in fields])
    named = {field.name: _column(field, bins, missing) for field in fields}
    return named, _provenance(fields)


def _check_bins(bins: Any, names: Sequence[str]) -> None:
    stated = bins if isinstance(bins, Mapping) else ()
    unknown = [name for name in stated if name not in names]
    if unknown:
        listed = ", ".join(map(repr, list(names)[:12]))
        raise ArgumentError(
            "bins",
            f"are declared for {unknown[0]!r:.60}, which is not a column of the domain; "
            f"use one of {listed}",
        )


def _fields(table: Table, columns: Any) -> list[Field]:
    """The named columns, or all but ids, which say whose rows these are."""
    if columns is None:
        link = None if table.link is None else table.link.column
        ids = {table.owner, link, *table.linked}
        return [field for field in table.fields if field.name not in ids]
    listed = isinstance(columns, list | tuple) and columns
    if not listed or not all(isinstance(name, str) for name in columns):
        raise ArgumentError("columns", 'must be a list of names, such as ["age"]')
    return [table.field(name) for name in columns]


def _provenance(fields: Sequence[Field]) -> str | None:
    said = dict.fromkeys(field.provenance for field in fields if field.provenance)
    words = "; ".join(["the dataset's catalogue", *said])
    return words if len(words) <= LONGEST else "the dataset's catalogue"


def _column(field: Field, bins: Any, missing: bool) -> Column:
    stated = bins.get(field.name, BINS) if isinstance(bins, Mapping) else bins
    if field.keys is not None:
        return _of_keys(field)
    if field.type == "boolean":
        return booleans(missing=missing)
    if not field.range.bounded:
        what = "keys" if field.type == "text" else "bounds or keys"
        raise ArgumentError(
            field.name,
            f"the column {field.name!r} has no declared {what}; declare them when you open "
            f"the dataset, {WAY_OUT}",
        )
    if isinstance(stated, list | tuple):
        return _of_edges(field, stated, missing)
    most = whole("bins", stated, "pass how many bins a column has, such as 16")
    check_size("bins", most)
    return _of_bounds(field, most, missing)


def _of_keys(field: Field) -> Categories:
    assert field.keys is not None
    values = [key for key in field.keys if key is not None]
    if field.type not in ("text", "integer", "boolean") or not values:
        raise ArgumentError(
            field.name,
            f"the column {field.name!r} has keys that cannot be categories ({field.type}); "
            f"{WAY_OUT}",
        )
    missing = len(values) < len(field.keys)
    # SQL tells "7" and "007" apart, and what type a column has is declared there
    return categories(values, missing=missing, exact=field.type == "text")


def _of_edges(field: Field, edges: Sequence[Any], missing: bool) -> Column:
    low, high = field.range.low, field.range.high
    assert low is not None
    assert high is not None
    if field.type in ("date", "timestamp"):
        days = dates(edges=edges, missing=missing)
        inside = _day(field, low) <= days.starts[0] and days.end <= _day(field, high)
        return _within(field, days, inside)
    found = numbers(edges, whole=field.type == "integer", missing=missing)
    return _within(field, found, low <= found.edges[0] and found.edges[-1] <= high)


def _within(field: Field, column: Column, inside: bool) -> Column:
    """Values beyond the bounds count at them, so bins there would stay empty, and noise
    would put rows into them.
    """
    if not inside:
        raise ArgumentError(
            "bins",
            f"must lie within the bounds that the dataset declares for {field.name!r}; "
            "pass edges within them",
        )
    return column


def _day(field: Field, end: float) -> date:
    """The day of a bound, which counts days, or microseconds."""
    length = 1 if field.type == "date" else 86_400_000_000
    return EPOCH + timedelta(days=int(end // length))


def _of_bounds(field: Field, bins: int, missing: bool) -> Column:
    low, high = field.range.low, field.range.high
    assert low is not None
    assert high is not None
    if field.type in ("date", "timestamp"):
        return _days(_day(field, low), _day(field, high), bins, missing)
    if field.type == "integer":
        return _integers(int(low), int(high), bins, missing)
    if low == high:
        raise ArgumentError(
            field.name,
            f"the column {field.name!r} has equal bounds, and needs an interval; {WAY_OUT}",
        )
    edges = [low + (high - low) * (place / bins) for place in range(bins)]
    return numbers(_rising([*edges, high]), missing=missing)


def _rising(edges: list[float]) -> list[float]:
    """Without those that a float cannot tell apart."""
    return [edges[0], *(high for low, high in pairwise(edges) if high > low)]


def _integers(low: int, high: int, bins: int, missing: bool) -> Column:
    """Bins of as many numbers each as can be; a few numbers are categories."""
    count = high - low + 1
    if count <= bins:
        return categories(list(range(low, high + 1)), missing=missing)
    starts = [low + count * place // bins for place in range(bins)]
    return numbers([*starts, high], whole=True, missing=missing)


def _days(first: date, last: date, bins: int, missing: bool) -> Dates:
    """The shortest days, weeks, months, quarters or years that fit; else equal runs."""
    count = (last - first).days + 1
    for by in STEPS:
        if count // LONGEST_STEPS[by] <= bins:
            starts = starts_of(first, last, by)
            if len(starts) <= bins:
                return Dates(tuple(starts), last, missing)
    runs = [first + timedelta(days=count * place // bins) for place in range(bins)]
    return Dates(tuple(runs), last, missing)
