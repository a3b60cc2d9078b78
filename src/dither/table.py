"""A private table with its guarantee: what a question in SQL is answered with.

Its rows, intervals and notes are safe to publish, and what is done to them afterwards
costs nothing more.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.details import Details
from dither.errors import ArgumentError
from dither.frames import MISSING
from dither.ledger import Receipt
from dither.privacy import Composed, Guarantee
from dither.privacy.numbers import fraction
from dither.release import (
    NOISE,
    TRUTH,
    Constant,
    Ends,
    Release,
    Source,
    check_of,
    stretched,
)
from dither.text import (
    aligned,
    cell,
    clean,
    closes,
    level,
    missing,
    quantity,
    told,
    told_nothing,
)
from dither.wording import in_markdown, literal, noted, paid, table_in_markdown

if TYPE_CHECKING:
    from dither.chart import Chart
    from dither.explain.report import Report
    from dither.ledger import Account, Ledger

__all__ = ["TableRelease", "check_confidence"]

SHOWN = 40

Cells = Sequence[Sequence[tuple[Any, Any] | None]]


def check_confidence(confidence: float) -> float:
    """A probability that an interval can have."""
    if (
        not 0
        < fraction("confidence", confidence, "pass a probability such as 0.95")
        <= 1 - Fraction(1, 10**9)
    ):
        raise ArgumentError(
            "confidence",
            "must lie strictly between 0 and 1; pass a probability such as 0.95",
        )
    return float(confidence)


@dataclass(frozen=True)
class ColumnSpread:
    """Where the true values of one column lie. A cell about which nothing is known lies
    anywhere.
    """

    spread: Callable[[float], Cells]
    place: int
    single: bool

    def ends(self, confidence: float) -> Ends:
        found = [
            row[self.place] or (-np.inf, np.inf) for row in self.spread(confidence)
        ]
        found = [
            (-np.inf, np.inf) if low is None else (low, high) for low, high in found
        ]
        if self.single:
            return found[0]
        return np.array([low for low, _ in found]), np.array(
            [high for _, high in found]
        )


@dataclass(frozen=True, eq=False)
class TableRelease:
    """A private table: rows with what they cost and how far off their values may be.

    `spread` gives, for a confidence, the ends of each cell's interval, row by row, or
    None where there is none. `keys` names the columns that hold keys; where it is not
    given, those are the columns without any interval. Intervals hold the true answer
    (over values within their declared bounds), one by one; `noise` are those of the
    noise alone. `first` is what must be read before the numbers. `clipped` says whether
    values were held within declared bounds. `details` says what was done, for a report,
    and `after` what was done to the released numbers since.
    `words` are shown, row by row, for cells whose value is missing for a reason.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    sources: tuple[Source, ...]
    spread: Callable[[float], Cells]
    notes: tuple[str, ...] = ()
    replayed: bool = False
    confidence: float = 0.95
    keys: tuple[str, ...] | None = None
    noise: Callable[[float], Cells] | None = None
    first: str = ""
    clipped: bool = True
    details: Callable[[], Details] | None = None
    after: tuple[str, ...] = ()
    remaining: str = ""
    """The remaining budget in words, if the receipt does not have it: that of a stored
    answer is of the time when it was first given.
    """
    words: tuple[tuple[str | None, ...], ...] = ()
    known: Callable[[], Cells] | None = None
    """The range of each cell that was public before: a cell whose interval holds all of
    it gives no information.
    """

    @property
    def guarantee(self) -> Guarantee:
        """What all that went into this table promises together."""
        guarantees = [source.guarantee for source in self.sources]
        return guarantees[0] if len(guarantees) == 1 else Composed(tuple(guarantees))

    @property
    def receipt(self) -> Receipt | None:
        """The receipt, if this came from one charge."""
        return self.sources[0].receipt if len(self.sources) == 1 else None

    def cells(self, confidence: float | None = None, *, of: str = TRUTH) -> Cells:
        """The interval of each cell, row by row; None where there is none. That of the
        true answer holds the cell's value, at every confidence.
        """
        rate = check_confidence(self.confidence if confidence is None else confidence)
        if check_of(of) == NOISE and self.noise is not None:
            return self.noise(rate)
        return [
            [
                None if ends is None else stretched(ends, value)
                for value, ends in zip(values, row, strict=True)
            ]
            for values, row in zip(self.rows, self.spread(rate), strict=True)
        ]

    def told(self) -> list[list[bool]]:
        """For each cell, whether its interval tells more than what was public before."""
        if self.known is None or not self.rows:
            return [[True] * len(self.columns) for _ in self.rows]
        cells, known = self.cells(), self.known()
        flat = told(
            [ends for row in cells for ends in row],
            lambda: [ends for row in self.cells(of=NOISE) for ends in row],
            [ends for row in known for ends in row],
        )
        width = len(self.columns)
        return [flat[at : at + width] for at in range(0, len(flat), width)]

    def reasons(self) -> list[list[str | None]]:
        """For each cell whose value is missing or gives no information, the reason in words."""
        none: list[Any] = [[None] * len(self.columns)] * len(self.rows)
        known = none if self.known is None else self.known()
        return [
            [
                said or (None if sure or ends is None else told_nothing(ends))
                for said, sure, ends in zip(*row, strict=True)
            ]
            for row in zip(self.words or none, self.told(), known, strict=True)
        ]

    def is_key(self, place: int) -> bool:
        """Whether a column, by its place, holds keys."""
        return place in self._key_places()

    def _key_places(self) -> tuple[int, ...]:
        if self.keys is not None:
            return tuple(
                place for place, name in enumerate(self.columns) if name in self.keys
            )
        cells = self.spread(self.confidence)
        return tuple(
            place
            for place in range(len(self.columns))
            if all(row[place] is None for row in cells)
        )

    def _value_places(self) -> tuple[int, ...]:
        keys = self._key_places()
        found = tuple(place for place in range(len(self.columns)) if place not in keys)
        return found or (
            tuple(range(len(self.columns))) if len(self.columns) == 1 else ()
        )

    @property
    def value(self) -> Any:
        """The one value, where there is just one beside the keys."""
        places = self._value_places()
        if len(self.rows) != 1 or len(places) != 1:
            raise ArgumentError(
                "value",
                "needs a table with one row and one value column; this one has "
                f"{len(self.rows)} and {len(places)}: use .rows, or release['column']",
            )
        return self.rows[0][places[0]]

    def interval(self, confidence: float | None = None, *, of: str = TRUTH) -> Any:
        """The ends of the one value's interval; for more than one, a list of rows with
        a pair or None for each cell.

        It holds the true answer; of="noise" gives the interval of the noise alone,
        without what clipping hid.
        """
        cells, places = self.cells(confidence, of=of), self._value_places()
        if len(self.rows) == 1 and len(places) == 1:
            return cells[0][places[0]]
        return [list(row) for row in cells]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def _place(self, name: str) -> int:
        if name in self.columns:
            return self.columns.index(name)
        near = get_close_matches(str(name), self.columns, 1)
        way_out = (
            f"did you mean {near[0]!r}?"
            if near
            else f"name one of: {', '.join(map(repr, self.columns))}"
        )
        raise ArgumentError("column", f"there is no column {name!r}; {way_out}")

    def __getitem__(self, name: str) -> Release:
        """One column as a release: free arithmetic that carries intervals. A number
        where the table is one row.
        """
        place = self._place(name)
        keys = self._key_places()
        single = len(self.rows) == 1 and not keys
        values = numbers(name, [row[place] for row in self.rows])
        value = values.tolist()[0] if single else values
        exact = self.keys is not None and place in keys
        spread = Constant(value) if exact else ColumnSpread(self.spread, place, single)
        noise = (
            None
            if exact or self.noise is None
            else ColumnSpread(self.noise, place, single)
        )
        names = None if single else self._names(keys)
        limits = self._limits(place, single)
        return Release(
            name,
            value,
            self.sources,
            spread,
            names,
            self.notes,
            noise=noise,
            limits=limits,
        )

    def _limits(self, place: int, single: bool) -> Ends | None:
        """The public limits of a column's values; None if there are none, or if one of its
        intervals is open.
        """
        known = [] if self.known is None else [row[place] for row in self.known()]
        closed = [closes(row[place]) for row in self.spread(self.confidence)]
        ends = [pair for pair in known if pair is not None and None not in pair]
        if not known or len(ends) < len(known) or not all(closed):
            return None
        if single:
            return ends[0]
        return np.array([low for low, _ in ends]), np.array([high for _, high in ends])

    def _names(self, keys: Sequence[int]) -> tuple[Any, ...] | None:
        """The name of the rows: their key, or all their keys together."""
        if not keys:
            return None
        return tuple(
            row[keys[0]] if len(keys) == 1 else tuple(row[place] for place in keys)
            for row in self.rows
        )

    def round(self, digits: int = 0) -> TableRelease:
        """The values rounded to that many digits; keys and intervals stay as they are."""
        keys = self._key_places()
        rows = tuple(
            tuple(
                value if place in keys else rounded(value, digits)
                for place, value in enumerate(row)
            )
            for row in self.rows
        )
        return replace(
            self,
            rows=rows,
            keys=tuple(self.columns[place] for place in keys),
            after=(*self.after, f"rounded to {digits} digits"),
        )

    def at(self, confidence: float) -> TableRelease:
        """The same table, shown and exported with intervals of this confidence."""
        return replace(self, confidence=check_confidence(confidence))

    def to_pandas(self, *, untold: str = MISSING) -> Any:
        """A pandas frame: each column, and beside each value column its
        `_low` and `_high`. Values without information are missing; untold="keep" keeps
        them, and columns `_told` are false for them.
        """
        from dither import frames

        return frames.to_pandas(self, untold)

    def to_polars(self, *, untold: str = MISSING) -> Any:
        """A Polars frame: each column, and beside each value column its
        `_low` and `_high`. Values without information are missing; untold="keep" keeps
        them, and columns `_told` are false for them.
        """
        from dither import frames

        return frames.to_polars(self, untold)

    def to_arrow(self, *, untold: str = MISSING) -> Any:
        """An Arrow table: each column, and beside each value column its
        `_low` and `_high`. Values without information are missing; untold="keep" keeps
        them, and columns `_told` are false for them.
        """
        from dither import frames

        return frames.to_arrow(self, untold)

    def to_csv(
        self, path: str | Path | None = None, *, untold: str = MISSING
    ) -> str | None:
        """CSV text, or a file of it: each column, and beside each value column its
        `_low` and `_high`. Values without information are missing; untold="keep" keeps
        them, and columns `_told` are false for them.
        """
        from dither import frames

        return frames.to_csv(self, path, untold)

    def to_markdown(self) -> str:
        """Markdown with all rows and the same lines as `print`, for a paper or a
        notebook.
        """
        head = [clean(name) for name in self.columns]
        table = table_in_markdown(head, self.shown(), self._value_places())
        first = f"{literal(clean(self.first))}\n\n" if self.first else ""
        return in_markdown(f"{first}{table}", self.about())

    def to_json(self, indent: int | None = None) -> str:
        """JSON text of a versioned shape: columns, rows with low and high ends,
        guarantee, receipt, notes.
        """
        from dither import frames

        return frames.to_json(self, indent)

    def report(self, book: str | Path | Ledger | Account | None = None) -> Report:
        """The page that explains this table: see `Release.report`."""
        made: Report = import_module("dither.explain.report").of_release(self, book)
        return made

    def plot(self, column: str | None = None) -> Chart:
        """Bars with their intervals for one value column, as a picture that notebooks
        show and `.save` writes.
        """
        from dither.chart import Chart

        place = self._place(column) if column is not None else self._only_value()
        keys = self._key_places()
        labels = [", ".join(_key(row[key]) for key in keys) for row in self.rows]
        ends = [row[place] for row in self.cells()]
        return Chart.of(
            self.columns[place], labels, [row[place] for row in self.rows], ends
        )

    def _only_value(self) -> int:
        places = self._value_places()
        if len(places) != 1:
            names = ", ".join(repr(self.columns[place]) for place in places)
            raise ArgumentError(
                "column",
                f"the table has {len(places)} value columns ({names}); pass the name of "
                "the one to plot",
            )
        return places[0]

    def shown(self, most: int | None = None) -> list[list[str]]:
        """The first rows (or all) as text, values with their intervals."""
        rows = zip(
            self.rows[:most],
            self.cells()[:most],
            self.cells(of=NOISE)[:most],
            strict=True,
        )
        keys = self._key_places()
        found = [
            [
                _key(value) if place in keys else cell(value, ends[place], noise[place])
                for place, value in enumerate(row)
            ]
            for row, ends, noise in rows
        ]
        for row, words in zip(found, self.reasons(), strict=False):
            row[:] = [said or text for said, text in zip(words, row, strict=True)]
        return found

    def about(self, left: str = "") -> list[str]:
        """The lines on the intervals, the guarantee, the cost, the remaining budget and
        the notes.

        `left` is the remaining budget in words, for a table that does not know it.
        """
        lines = paid(self.sources, replayed=self.replayed)
        left = left or self.remaining
        if left and not any(line.startswith("remaining: ") for line in lines):
            lines.append(f"remaining: {left}")
        intervals = [] if self.about_values is None else [self.about_values]
        return [*intervals, *lines, *noted(self.notes)]

    @property
    def about_values(self) -> str | None:
        """The confidence level of the intervals, and the values that they are for; None
        if the table has keys only.
        """
        if not self._value_places():
            return None
        shown = f"{level(self.confidence)} intervals"
        if not self.clipped:
            return shown
        return f"{shown} for the true values, clamped to their declared bounds"

    def _below(self) -> list[str]:
        more = len(self.rows) - SHOWN
        return [*([f"… and {more:,} more rows"] if more > 0 else []), *self.about()]

    def __str__(self) -> str:
        table = [[clean(name) for name in self.columns], *self.shown(SHOWN)]
        first = [clean(self.first)] if self.first else []
        return "\n".join(
            [*first, *aligned(table, self._value_places()), *self._below()]
        )

    def __repr__(self) -> str:
        rows, columns = len(self.rows), len(self.columns)
        shape = f"{quantity(rows, 'row')} × {quantity(columns, 'column')}"
        return f"<TableRelease {', '.join(map(clean, self.columns))}: {shape}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002
        """The text that IPython shows in a terminal."""
        printer.text(str(self))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(clean(name))}</th>" for name in self.columns)
        rows = (
            "".join(f"<td>{html.escape(text)}</td>" for text in row)
            for row in self.shown(SHOWN)
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        about = "<br>".join(html.escape(line) for line in self._below())
        first = f"<p>{html.escape(clean(self.first))}</p>" if self.first else ""
        return f"{first}<table><tr>{head}</tr>{body}</table><small>{about}</small>"


def _key(value: Any) -> str:
    """A key as it is: a year or a room number has no thousands."""
    return (
        str(value)
        if isinstance(value, Integral) and not isinstance(value, bool)
        else cell(value, None)
    )


def rounded(value: Any, digits: int) -> Any:
    """A number rounded; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, Real) or missing(value):
        return value
    return (
        round(int(value), min(digits, 0))
        if isinstance(value, Integral)
        else round(float(value), digits)
    )


def numbers(name: str, values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """A column as an array of numbers; NULL is NaN."""
    if not all(missing(value) or isinstance(value, Real) for value in values):
        raise ArgumentError(
            "column",
            f"the column {name!r} does not hold numbers; read its values from .rows",
        )
    if all(
        isinstance(value, Integral) and abs(int(value)) < 1 << 63 for value in values
    ):
        return np.array([int(value) for value in values])
    return np.array([np.nan if value is None else float(value) for value in values])
