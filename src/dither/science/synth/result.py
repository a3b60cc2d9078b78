"""The release of a synthetic table: rows that nobody lived, small tables with
intervals, and what they are good for.
"""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dither import frames
from dither.errors import ArgumentError
from dither.ledger import Receipt
from dither.privacy import Guarantee
from dither.release import Release
from dither.science.synth.checking import Checked
from dither.science.synth.domain import Domain
from dither.science.synth.model import Model
from dither.science.synth.names import place_of
from dither.text import aligned, cell, clean, missing

if TYPE_CHECKING:
    from dither.picture import Picture
    from dither.science.synth.report import Report
    from dither.table import TableRelease

__all__ = ["Synthetic"]

SHOWN = 6
"""Rows that are printed."""
AGAIN = "rows were drawn again; errors were measured on the rows released first"


@dataclass(frozen=True, eq=False, repr=False)
class Synthetic(Release):
    """A synthetic table: made-up rows with the declared columns and types, in `value`
    by column. It was drawn from noisy counts, so whatever is done with it is free.

    `edges` are the pairs of columns that were measured together. All other dependence
    comes from these, through the tree that they form.
    """

    domain: Domain = None  # type: ignore[assignment]
    model: Model = None  # type: ignore[assignment]
    codes: NDArray[np.int32] = None  # type: ignore[assignment]
    checked: Checked | None = None
    asked: tuple[tuple[str, str], ...] = ()
    first: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.domain.names)

    @cached_property
    def rows(self) -> tuple[tuple[Any, ...], ...]:  # type: ignore[override]
        """The rows, as Python's own values; what is missing is None."""
        return tuple(zip(*map(_plain, self.value.values()), strict=True))

    def __len__(self) -> int:
        return len(next(iter(self.value.values())))

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __getitem__(self, key: Any) -> Any:
        """The values of one column."""
        return self.value[self.columns[place_of(self.domain, key)]]

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The pairs of columns that were measured: those asked for, and those chosen."""
        names = self.columns
        return tuple((names[i], names[j]) for i, j in self.model.edges)

    @property
    def total(self) -> float:
        """About how many real rows count, from the noisy counts: rows inside of the
        domain, of each unit at most `rows`.
        """
        return self.model.total

    def interval(self, confidence: float = 0.95, *, of: str = "truth") -> NoReturn:  # noqa: ARG002
        """Made-up rows have none. Use `marginal`, whose counts have intervals."""
        raise ArgumentError(
            "interval",
            "synthetic rows have no interval, but measured counts do; call "
            f"synthetic.marginal({self.columns[0]!r}).interval()",
        )

    def marginal(self, *columns: str) -> TableRelease:
        """How many of the real rows that count hold each value of a column, or each
        pair of values of two. Free.

        Rows count that lie in the domain, of each unit at most `rows`. Where that table
        was measured, counts are the noisy ones, with intervals that hold the counts of
        such rows. Otherwise they come from the model, and have none.
        """
        from dither.science.synth.counts import marginal

        return marginal(self, columns)

    def sample(self, n: int | None = None) -> Synthetic:
        """Another table of made-up rows from the same model, of `n` rows or of as many
        as this one. Free: it says no more about anybody.
        """
        codes = self.model.sample(len(self) if n is None else n)
        notes = self.notes if AGAIN in self.notes else (*self.notes, AGAIN)
        first = self.first or len(self)
        return replace(
            self,
            value=self.domain.frame_columns(codes),
            codes=codes,
            notes=notes,
            first=first,
        )

    def report(self, targets: Any = None) -> Report:  # type: ignore[override]
        """How good the table is, and what it must not be used for. The page that
        explains the release is `dither.explain.report.of_release(table)`.

        `targets` are public: {("age",): {…: count or share}, ("age", "sex"): {…}}, or a
        public frame with columns of this table. Errors are then measured against them.
        """
        from dither.science.synth.quality import report

        return report(self, targets)

    def plot(self) -> Picture:  # type: ignore[override]
        """The error of each pair of columns as a picture; pairs that were measured are
        framed.
        """
        from dither.science.synth.pictures import draw

        return draw(self.report())

    def to_pandas(self) -> Any:
        """A pandas frame of the rows, with the declared types."""
        pandas = frames.package("pandas")
        return pandas.DataFrame({k: _for_pandas(v) for k, v in self.value.items()})

    def to_polars(self) -> Any:
        """A Polars frame of the rows, with the declared types."""
        polars = frames.package("polars")
        return polars.DataFrame({k: _for_arrow(v) for k, v in self.value.items()})

    def to_arrow(self) -> Any:
        """An Arrow table of the rows, with the declared types."""
        arrow = frames.package("pyarrow")
        return arrow.table({k: _for_arrow(v) for k, v in self.value.items()})

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """CSV text of the rows, or a file of it; what is missing is empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([frames.field(one) for one in row] for row in self.rows)
        if path is None:
            return text.getvalue()
        Path(path).write_text(text.getvalue(), encoding="utf-8", newline="")
        return None

    def to_json(self, indent: int | None = None) -> str:
        """JSON text of a versioned shape: columns, rows, guarantee, receipt, notes."""
        return frames.to_json(_Written(self), indent)

    def _derived(self, **changes: Any) -> Release:
        """Other values are not rows of this table any more."""
        kept = ("what", "value", "sources", "spread", "keys", "notes", "noise")
        return Release(**{name: getattr(self, name) for name in kept} | changes)

    def _shown(self) -> list[list[str]]:
        first = (_plain(column[:SHOWN]) for column in self.value.values())
        return [[cell(one, None) for one in row] for row in zip(*first, strict=True)]

    def _below(self) -> list[str]:
        more = len(self) - SHOWN
        lines = [f"… and {_several(more, 'more row')}"] if more > 0 else []
        return [*lines, *self.report().summary, *super()._below()]

    @property
    def _title(self) -> str:
        return f"synthetic table: {self._size}"

    @property
    def _size(self) -> str:
        rows = _several(len(self), "row")
        return f"{rows} × {_several(len(self.columns), 'column')}"

    def __str__(self) -> str:
        table = [[clean(name) for name in self.columns], *self._shown()]
        return "\n".join([self._title, *aligned(table), *self._below()])

    def __repr__(self) -> str:
        return f"<Synthetic {self._size}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(clean(name))}</th>" for name in self.columns)
        cells = (
            "".join(f"<td>{html.escape(text)}</td>" for text in row)
            for row in self._shown()
        )
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        about = "<br>".join(html.escape(line) for line in self._below())
        title = f"<p>{html.escape(self._title)}</p>"
        return f"{title}<table><tr>{head}</tr>{body}</table><small>{about}</small>"


@dataclass(frozen=True)
class _Written:
    """A synthetic table as it is written down: all columns are keys, without
    intervals.
    """

    release: Synthetic
    replayed: bool = False
    confidence: float = 0.95

    @property
    def columns(self) -> tuple[str, ...]:
        return self.release.columns

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        return self.release.rows

    @property
    def guarantee(self) -> Guarantee:
        return self.release.guarantee

    @property
    def receipt(self) -> Receipt | None:
        return self.release.receipt

    @property
    def notes(self) -> tuple[str, ...]:
        return self.release.notes

    def cells(self) -> list[list[None]]:
        return [[None] * len(self.columns)] * len(self.rows)

    def is_key(self, place: int) -> bool:  # noqa: ARG002
        return True


def _several(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def _plain(column: Any) -> list[Any]:
    """Python's own values; None for what is missing."""
    values = list(column.tolist())  # masked values and missing dates are None
    if column.dtype.kind == "f":
        return [None if missing(one) else one for one in values]
    return values


def _for_pandas(column: Any) -> Any:
    """Whole numbers and booleans that may be missing keep their type."""
    if not isinstance(column, np.ma.MaskedArray):
        return column.astype("datetime64[s]") if column.dtype.kind == "M" else column
    pandas = frames.package("pandas")
    name = "boolean" if column.dtype.kind == "b" else "Int64"
    return pandas.array(_plain(column), dtype=name)


def _for_arrow(column: Any) -> Any:
    return _plain(column) if isinstance(column, np.ma.MaskedArray) else column
