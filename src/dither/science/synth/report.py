"""What a synthetic table is good for: errors of its small tables, where they come from,
and what the table must not be used for.

There is no distance from made-up rows to real ones: small distances do not mean that
anybody is exposed and large ones not that nobody is, and to publish them is a release
about single people that nothing pays for. The guarantee is what is promised.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dither import frames
from dither.errors import ArgumentError
from dither.text import aligned, clean

if TYPE_CHECKING:
    from dither.picture import Picture

__all__ = ["NOISE", "PRIVATELY", "PUBLIC", "Mean", "Report", "TableError"]

PRIVATELY = "measured privately"
PUBLIC = "against public targets"
NOISE = "expected from the noise alone, before rows are drawn"
AGAIN = "these are errors of the rows released first; fewer rows have larger errors"
Mean = tuple[float, float | None, float | None]
"""A mean and the ends of its 95 % interval, where it has one."""
MOST = 2.0
"""No error is larger."""
SHOWN = 12
"""Pairs that are printed, the worst first."""


@dataclass(frozen=True)
class TableError:
    """How far the counts by one or two columns are off: the sum of absolute
    differences over the number of rows. 0 is perfect, 2 the most. `low` and `high` are
    the ends of its 95 % interval, where it has one; the error is None where nothing is
    known.
    """

    columns: tuple[str, ...]
    error: float | None
    low: float | None
    high: float | None
    measured: bool

    @property
    def name(self) -> str:
        return " × ".join(map(clean, self.columns))


@dataclass(frozen=True)
class Report:
    """The quality of a synthetic table. `errors` has a line for each column and for
    each pair; `basis` says how they are known. `notes` say what the table is not for.
    """

    columns: tuple[str, ...]
    rows: int
    edges: tuple[tuple[str, str], ...]
    asked: tuple[tuple[str, str], ...]
    basis: str
    errors: tuple[TableError, ...]
    means: tuple[Mean | None, Mean | None]
    notes: tuple[str, ...]
    again: bool = False

    def error(self, *columns: str) -> TableError:
        """The error of one column, or of a pair."""
        wanted = set(columns)
        for one in self.errors:
            if set(one.columns) == wanted and len(columns) == len(wanted):
                return one
        listed = ", ".join(map(repr, self.columns[:12]))
        raise ArgumentError(
            "columns",
            f"must be one column or pair of this report, not {columns!r:.80}; use one or two "
            f"of {listed}",
        )

    def mean(self, ways: int = 2) -> float | None:
        """The mean error of all tables by one column, or by two; None where it is not
        known.
        """
        found = self.means[ways - 1]
        return None if found is None else found[0]

    @property
    def worst(self) -> TableError | None:
        """The pair with the largest error that is known."""
        known = [one for one in self.errors if len(one.columns) == 2]
        found = [one for one in known if one.error is not None]
        return max(found, key=lambda one: one.error or 0.0, default=None)

    @property
    def summary(self) -> tuple[str, ...]:
        """Which pairs were measured, and how large the errors are, in few lines."""
        again = [AGAIN] if self.again else []
        return (self._tree(), *self._mean_lines(), *again)

    def _tree(self) -> str:
        if not self.edges:
            return "no pairs of columns were measured"
        own = {frozenset(pair) for pair in self.asked}
        shown = [
            f"{clean(a)}–{clean(b)}{' (asked for)' if {a, b} in own else ''}"
            for a, b in self.edges
        ]
        return f"pairs measured: {', '.join(shown)}"

    def _mean_lines(self) -> Iterator[str]:
        for ways, name in ((2, "two-way"), (1, "one-way")):
            found = self.means[ways - 1]
            if found is None:
                yield from self._unknown(ways, name)
                continue
            yield f"{name} error: {_ends(*found)} on average, {self.basis}"

    def _unknown(self, ways: int, name: str) -> Iterator[str]:
        if self.basis == PUBLIC or len(self.columns) < ways:
            return
        if self.basis == NOISE:
            yield f"{name} error: not known for tables that were not measured"
        else:
            yield f"{name} error: not known, the check has too much noise"

    def to_pandas(self) -> Any:
        """A pandas frame with a line for each column and each pair."""
        return frames.package("pandas").DataFrame(self._table())

    def _table(self) -> dict[str, list[Any]]:
        return {
            "columns": [" × ".join(one.columns) for one in self.errors],
            "ways": [len(one.columns) for one in self.errors],
            "error": [one.error for one in self.errors],
            "low": [one.low for one in self.errors],
            "high": [one.high for one in self.errors],
            "measured": [one.measured for one in self.errors],
        }

    def plot(self) -> Picture:
        """The errors as a picture; pairs that were measured are framed."""
        from dither.science.synth.pictures import draw

        return draw(self)

    def _worst_lines(self) -> list[list[str]]:
        pairs = [one for one in self.errors if len(one.columns) == 2]
        pairs.sort(key=lambda one: -math.inf if one.error is None else -one.error)
        return [
            [one.name, _shown(one), "measured" if one.measured else "from the model"]
            for one in pairs[:SHOWN]
        ]

    def __str__(self) -> str:
        rows = f"{self.rows:,} row" + ("" if self.rows == 1 else "s")
        title = f"quality of a synthetic table of {rows}"
        table = [["pair", "error", ""], *self._worst_lines()]
        lines = aligned(table) if len(table) > 1 else []
        more = sum(len(one.columns) == 2 for one in self.errors) - SHOWN
        lines += [f"… and {more:,} more; .to_pandas() has all"] if more > 0 else []
        return "\n".join(
            [title, *self.summary, *lines, "must not be used for:", *self._listed()]
        )

    def _listed(self) -> list[str]:
        return [f"- {line}" for line in self.notes]

    def _repr_html_(self) -> str:
        listed = "".join(f"<li>{html.escape(line)}</li>" for line in self.notes)
        about = "<br>".join(html.escape(line) for line in self.summary)
        words = f"<p>must not be used for:</p><ul>{listed}</ul>"
        return f"<p>{about}</p>{self.plot().svg()}{words}"


def _shown(one: TableError) -> str:
    if one.error is None or (one.low, one.high) == (0.0, MOST):
        return "not known"
    return _ends(one.error, one.low, one.high)


def _ends(error: float, low: float | None, high: float | None) -> str:
    """An error with its interval. Noise may take it below 0, where none can lie."""
    if low is None or high is None:
        return f"{error:.3g}"
    if error == 0:
        return f"lost in noise, at most {high:.3g} (95 %)"
    return f"{error:.3g} ({low:.3g} to {high:.3g}, 95 %)"
