"""A private result with its guarantee: the one type that every function of the work
floor returns.

What is done to a release afterwards costs nothing more: its intervals follow it through
arithmetic.
"""

from __future__ import annotations

import html
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dither import frames
from dither.chart import Chart
from dither.details import Details, together
from dither.errors import ArgumentError
from dither.ledger import Receipt
from dither.privacy import Composed, Guarantee
from dither.privacy.numbers import fraction
from dither.text import cell

if TYPE_CHECKING:
    from dither.explain.report import Report
    from dither.ledger import Account, Ledger

__all__ = ["NOISE", "TRUTH", "Around", "Release", "Source", "Spread", "check_of"]

Ends = tuple[Any, Any]
TRUTH, NOISE = "truth", "noise"


def check_of(of: str) -> str:
    """What an interval is to hold: the true answer, or the noisy one's noise alone."""
    if of not in (TRUTH, NOISE):
        raise ArgumentError("of", f'must be "{TRUTH}" or "{NOISE}", not {of!r:.40}')
    return of


class Spread(Protocol):
    """Where the true value lies."""

    def ends(self, confidence: float) -> Ends:
        """Low and high ends of an interval that holds the true value with at least this
        probability.
        """


class Noisy(Protocol):
    """A mechanism that says how large its noise is."""

    def error(self, confidence: float = 0.95, *, integer: bool = False) -> float: ...


@dataclass(frozen=True)
class Around:
    """A noisy value plus or minus its mechanism's error, cut to the range the true
    value is known to lie in.
    """

    value: Any
    mechanism: Noisy
    integer: bool = False
    step: float = 1.0
    within: tuple[float, float] = (-np.inf, np.inf)

    def ends(self, confidence: float) -> Ends:
        width = self.mechanism.error(confidence, integer=self.integer) * self.step
        return np.clip(self.value - width, *self.within), np.clip(
            self.value + width, *self.within
        )


@dataclass(frozen=True)
class Pair:
    """The result of an operation on two spreads. Both hold together with the wanted
    probability (union bound).
    """

    operation: Callable[[Any, Any], Any]
    left: Spread
    right: Spread

    def ends(self, confidence: float) -> Ends:
        public = isinstance(self.left, Constant) or isinstance(self.right, Constant)
        each = confidence if public else (1 + confidence) / 2
        low, high = self.right.ends(each)
        if self.operation is _divide and np.any((low <= 0) & (high >= 0)):
            return -np.inf, np.inf
        return _corners(self.operation, self.left.ends(each), (low, high))


@dataclass(frozen=True)
class Mapped:
    """A spread seen through a function that never turns back: rising all along, or
    falling all along.
    """

    function: Callable[[Any], Any]
    inner: Spread

    def ends(self, confidence: float) -> Ends:
        low, high = (self.function(end) for end in self.inner.ends(confidence))
        return np.minimum(low, high), np.maximum(low, high)


@dataclass(frozen=True)
class One:
    """One entry of a spread."""

    inner: Spread
    index: int

    def ends(self, confidence: float) -> Ends:
        low, high = self.inner.ends(confidence)
        return low[self.index], high[self.index]


@dataclass(frozen=True)
class Constant:
    """A public number: it is where it is."""

    value: Any

    def ends(self, confidence: float) -> Ends:  # noqa: ARG002
        return self.value, self.value


def _divide(left: Any, right: Any) -> Any:
    """Division that answers with infinity or NaN where it has no other answer."""
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.true_divide(left, right)
    return result if np.ndim(result) else float(result)


def _corners(operation: Callable[[Any, Any], Any], left: Ends, right: Ends) -> Ends:
    with np.errstate(invalid="ignore"):  # an open end less an open end, or times zero
        values = [operation(a, b) for a in left for b in right]
    low, high = values[0], values[0]
    for value in values[1:]:
        low, high = np.minimum(low, value), np.maximum(high, value)
    unknown = np.isnan(low)  # infinity times zero: nothing is known
    return np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high)


@dataclass(frozen=True, eq=False)
class Source:
    """One use of a mechanism: what it promised, and the receipt if it was charged to an
    account.

    Two uses with the same promise are two sources: only the very same one counts once
    when releases are combined.
    """

    guarantee: Guarantee
    receipt: Receipt | None = None

    def __str__(self) -> str:
        charged = (
            self.receipt if self.receipt is not None else "not charged to any account"
        )
        return f"{self.guarantee}; {charged}"


@dataclass(frozen=True, eq=False)
class Release:
    """A private result: a number or an array in `value`, with what it cost and how far
    off it may be.

    `keys` names the entries of an array. The value, its intervals and its guarantee are
    safe to publish; intervals hold the true answer, over values within their declared
    bounds. `noise` is where it would lie if clipping had hidden nothing; None where
    that is the same.
    """

    what: str
    value: Any
    sources: tuple[Source, ...]
    spread: Spread | None = None
    keys: tuple[Any, ...] | None = None
    notes: tuple[str, ...] = ()
    noise: Spread | None = None
    after: tuple[str, ...] = field(default=(), kw_only=True)
    """What was done to the released value since."""
    details: Callable[[], Details] | None = field(
        default=None, kw_only=True, repr=False
    )
    """What was done to get it, for a report."""

    __array_ufunc__ = None  # so that an array times a release is a release

    @property
    def guarantee(self) -> Guarantee:
        """What all that went into this value promises together."""
        guarantees = [source.guarantee for source in self.sources]
        return guarantees[0] if len(guarantees) == 1 else Composed(tuple(guarantees))

    @property
    def receipt(self) -> Receipt | None:
        """The receipt, if this came from one charge."""
        return self.sources[0].receipt if len(self.sources) == 1 else None

    def interval(self, confidence: float = 0.95, *, of: str = TRUTH) -> Ends:
        """The ends between which the true answer lies with this probability, entry by
        entry for an array.

        of="noise" gives those of the noise alone, without what clipping hid.
        """
        if not 0 < fraction("confidence", confidence) <= 1 - Fraction(1, 10**9):
            raise ArgumentError(
                "confidence",
                "must lie strictly between 0 and 1; pass a probability such as 0.95",
            )
        spread = (
            self.spread if check_of(of) == TRUTH or self.noise is None else self.noise
        )
        if spread is None:
            raise ArgumentError(
                "interval",
                "was lost in a map; pass monotone=True to map if the function "
                "never turns back",
            )
        low, high = spread.ends(confidence)
        return (
            (low, high)
            if np.ndim(self.value)
            else (np.asarray(low).item(), np.asarray(high).item())
        )

    def _derived(self, **changes: Any) -> Release:
        """This release with another value. A room whose releases hold more than a
        value drops here what no longer fits.
        """
        return replace(self, **changes)

    def map(self, function: Callable[[Any], Any], *, monotone: bool = False) -> Release:
        """Any function of the value; free. The interval survives if the function is
        monotone and said to be.
        """
        spreads = (self.spread, self.noise) if monotone else (None, None)
        spread, noise = (
            None if one is None else Mapped(function, one) for one in spreads
        )
        return self._derived(
            value=function(self.value),
            spread=spread,
            noise=noise,
            after=(*self.after, "a function of the value was taken"),
        )

    def round(self, digits: int = 0) -> Release:
        """The value rounded to that many digits; the interval stays as it is."""
        after = (*self.after, f"rounded to {digits} digits")
        if isinstance(self.value, int):
            value = round(self.value, min(digits, 0))
            return self._derived(value=value, after=after)
        rounded = np.round(self.value, digits)
        shown = rounded if np.ndim(rounded) else float(rounded)
        return self._derived(value=shown, after=after)

    def _with(
        self, other: Any, operation: Callable[[Any, Any], Any], *, swapped: bool = False
    ) -> Release:
        if isinstance(other, Release):
            sources = tuple(dict.fromkeys(self.sources + other.sources))
            value, right, noise = other.value, other.spread, other.noise
            details: Any = partial(together, self.details, other.details)
        else:
            sources, value, right, noise = self.sources, other, Constant(other), None
            details = self.details
        spread = _paired(operation, self.spread, right, swapped)
        alone = None
        if self.noise is not None or noise is not None:
            alone = _paired(
                operation, self.noise or self.spread, noise or right, swapped
            )
        result = (
            operation(value, self.value) if swapped else operation(self.value, value)
        )
        return self._derived(
            what="result",
            value=result,
            sources=sources,
            spread=spread,
            noise=alone,
            after=(*self.after, "computed from releases and public numbers"),
            details=details,
        )

    def __add__(self, other: Any) -> Release:
        return self._with(other, operator.add)

    def __radd__(self, other: Any) -> Release:
        return self._with(other, operator.add, swapped=True)

    def __sub__(self, other: Any) -> Release:
        return self._with(other, operator.sub)

    def __rsub__(self, other: Any) -> Release:
        return self._with(other, operator.sub, swapped=True)

    def __mul__(self, other: Any) -> Release:
        return self._with(other, operator.mul)

    def __rmul__(self, other: Any) -> Release:
        return self._with(other, operator.mul, swapped=True)

    def __truediv__(self, other: Any) -> Release:
        return self._with(other, _divide)

    def __rtruediv__(self, other: Any) -> Release:
        return self._with(other, _divide, swapped=True)

    def __neg__(self) -> Release:
        return self._with(-1, operator.mul)

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __getitem__(self, key: Any) -> Release:
        """One entry, by its key or its number."""
        index = self._index(key)
        spread, noise = (
            None if one is None else One(one, index)
            for one in (self.spread, self.noise)
        )
        value = self.value[index].item()
        return self._derived(
            what=f"{self.what} {key}",
            value=value,
            spread=spread,
            keys=None,
            noise=noise,
        )

    def _index(self, key: Any) -> Any:
        if self.keys is not None and key in self.keys:
            return self.keys.index(key)
        if self.keys is not None and not hasattr(key, "__index__"):
            shown = ", ".join(map(str, self.keys[:8]))
            raise ArgumentError(
                "key", f"{key!r:.40} is not there; the keys are {shown}"
            )
        return key

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def rows(self, confidence: float = 0.95) -> list[tuple[Any, Any, Any, Any]]:
        """(key, value, low, high) for each entry; one row with an empty key for a
        number.
        """
        try:
            low, high = self.interval(confidence)
        except ArgumentError:
            low, high = None, None
        if not np.ndim(self.value):
            return [("", self.value, low, high)]
        keys: Sequence[Any] = self.keys or ()
        keys = keys if len(keys) == len(self.value) else range(len(self.value))
        columns = (
            np.broadcast_to(np.asarray(column), len(self.value)).tolist()
            for column in (self.value, low, high)
        )
        return list(zip(keys, *columns, strict=True))

    def plot(self, confidence: float = 0.95) -> Chart:
        """Bars with their intervals, one for each entry, as a picture that notebooks
        show and `.save` writes.
        """
        rows = self.rows(confidence)
        ends = [None if low is None else (low, high) for _, _, low, high in rows]
        return Chart.of(
            self.what, [str(row[0]) for row in rows], [row[1] for row in rows], ends
        )

    def report(self, book: str | Path | Ledger | Account | None = None) -> Report:
        """The page that explains this release: what was asked, of whom, what is
        promised, how far off it may be, what was spent, and how to verify it.

        Its receipts are looked up in their own book, or in the `book` that is passed: a
        place, an open Ledger, or an account of it. `save("report.html")` writes it.
        """
        made: Report = import_module("dither.explain.report").of_release(self, book)
        return made

    def to_pandas(self) -> Any:
        """A pandas frame: keys, values, and the ends of their intervals."""
        return frames.to_pandas(_Table(self))

    def to_polars(self) -> Any:
        """A Polars frame: keys, values, and the ends of their intervals."""
        return frames.to_polars(_Table(self))

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """CSV text, or a file of it: keys, values, and the ends of their intervals."""
        return frames.to_csv(_Table(self), path)

    def to_json(self, indent: int | None = None) -> str:
        """JSON text of a versioned shape: values with low and high ends, guarantee,
        receipt, notes.
        """
        return frames.to_json(_Table(self), indent)

    def _lines(self) -> list[str]:
        level = getattr(self.spread, "confidence", 0.95)
        lines = []
        for key, value, low, high in self.rows(level):
            name = f"{self.what} {key}".rstrip()
            ends = (
                ""
                if low is None
                else f" ({_short(low)} to {_short(high)}, {100 * level:.4g} %)"
            )
            closed = low is None or np.isfinite([low, high]).all()
            lines.append(
                f"{name}: {_short(value)}{ends}"
                if closed
                else f"{name}: {cell(value, (low, high))}"
            )
        return lines

    def __str__(self) -> str:
        return "\n".join(
            [*self._lines(), *(str(source) for source in self.sources), *self.notes]
        )

    def __repr__(self) -> str:
        return f"<Release {self.what}: {_short(self.value)}>"

    def _repr_html_(self) -> str:
        cells = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(_short(cell))}</td>" for cell in row)
            + "</tr>"
            for row in self.rows()
        )
        about = "<br>".join(
            html.escape(str(line)) for line in (*self.sources, *self.notes)
        )
        head = f"<tr><th></th><th>{html.escape(self.what)}</th><th>from</th><th>to</th></tr>"
        return f"<table>{head}{cells}</table><small>{about}</small>"


@dataclass(frozen=True)
class _Table:
    """A release as a table that is written down: a row for each entry, and its key in a
    column of its own.
    """

    release: Release
    replayed: bool = False
    confidence: float = 0.95

    @property
    def _many(self) -> bool:
        return bool(np.ndim(self.release.value))

    @property
    def columns(self) -> tuple[str, ...]:
        return ("key", self.release.what) if self._many else (self.release.what,)

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        return tuple(
            (key, value) if self._many else (value,)
            for key, value, _, _ in self.release.rows()
        )

    @property
    def guarantee(self) -> Guarantee:
        return self.release.guarantee

    @property
    def receipt(self) -> Receipt | None:
        return self.release.receipt

    @property
    def notes(self) -> tuple[str, ...]:
        return self.release.notes

    @property
    def details(self) -> Callable[[], Details] | None:
        return self.release.details

    @property
    def after(self) -> tuple[str, ...]:
        return self.release.after

    def cells(self) -> list[list[Ends | None]]:
        return [
            [*([None] * self._many), (low, high)]
            for _, _, low, high in self.release.rows(self.confidence)
        ]

    def is_key(self, place: int) -> bool:
        return self._many and place == 0


def _paired(
    operation: Callable[[Any, Any], Any],
    left: Spread | None,
    right: Spread | None,
    swapped: bool,
) -> Spread | None:
    """The spread of a result; None where one of both is lost."""
    if left is None or right is None:
        return None
    return Pair(operation, right, left) if swapped else Pair(operation, left, right)


def _short(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    return "" if value is None else str(value)
