"""A private result with its guarantee: the one type that every function of the work
floor returns.

What is done to a release afterwards costs nothing more: its intervals follow it through
arithmetic.
"""

from __future__ import annotations

import html
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from importlib import import_module
from numbers import Real
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
from dither.text import (
    ends_in_words,
    level,
    number,
    tells,
    told_nothing,
    with_interval,
)
from dither.wording import (
    CLAMPED,
    cost_of,
    entitled,
    in_markdown,
    literal,
    noted,
    paid,
    promised,
)

if TYPE_CHECKING:
    from dither.explain.report import Report
    from dither.ledger import Account, Ledger

__all__ = [
    "NOISE",
    "TRUTH",
    "Around",
    "Inside",
    "Release",
    "Source",
    "Spread",
    "check_of",
    "clamped",
    "stretched",
]

Ends = tuple[Any, Any]
TRUTH, NOISE = "truth", "noise"


def check_of(of: str) -> str:
    """What an interval is to hold: the true answer, or the noisy one's noise alone."""
    if of not in (TRUTH, NOISE):
        raise ArgumentError("of", f'must be "{TRUTH}" or "{NOISE}", not {of!r:.40}')
    return of


def clamped(value: Any, limits: Ends | None) -> Any:
    """The nearest value within public limits, entry by entry for an array; integers
    stay integers. Post-processing, so it is free.
    """
    if limits is None or not _numeric(value):
        return value
    if not isinstance(value, np.ndarray):
        low, high = limits
        return type(value)(min(max(value, low), high))
    least, most = (
        None if np.isinf(end).all() else np.asarray(end, np.float64) for end in limits
    )
    if least is None and most is None:
        return value
    if value.dtype.kind == "f":
        return np.clip(value, least, most)
    # Integers have no infinity: an entry without a limit keeps its value
    if least is not None:
        value = np.maximum(value, _held(least, value))
    return value if most is None else np.minimum(value, _held(most, value))


def _held(end: Any, value: Any) -> Any:
    """Limits of an array of integers; an infinite one is the entry itself."""
    known = np.isfinite(end)
    return np.where(known, np.where(known, end, 0).astype(value.dtype), value)


def stretched(ends: Ends, value: Any) -> Ends:
    """The ends of one interval, moved outward to hold a number or a date; an end that
    is None is open.
    """
    low, high = ends
    if value is None or isinstance(value, str):
        return ends
    return (
        value if low is not None and low > value else low,
        value if high is not None and high < value else high,
    )


def _numeric(value: Any) -> bool:
    """Whether a value is a number, or an array of numbers."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iuf"
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


class Spread(Protocol):
    """Interval of the true value."""

    def ends(self, confidence: float) -> Ends:
        """Low and high ends of an interval that holds the true value with at least this
        probability.
        """


class Noisy(Protocol):
    """A mechanism that says how large its noise is."""

    def error(self, confidence: float = 0.95, *, integer: bool = False) -> float: ...


@dataclass(frozen=True)
class Around:
    """A noisy value plus or minus its mechanism's error."""

    value: Any
    mechanism: Noisy
    integer: bool = False
    step: float = 1.0

    def ends(self, confidence: float) -> Ends:
        width = self.mechanism.error(confidence, integer=self.integer) * self.step
        return self.value - width, self.value + width


@dataclass(frozen=True)
class Inside:
    """The one rule for the intervals of everything that is printed (rule R30): they are
    cut to what is publicly known of the true value, and then stretched to hold the
    value that they are printed beside.

    Cutting takes away only what is impossible, and stretching only adds, so an interval
    holds the true value at least as often as `inner` does.
    """

    inner: Spread
    value: Any
    limits: Ends | None = None

    def ends(self, confidence: float) -> Ends:
        low, high = self.inner.ends(confidence)
        if not np.ndim(self.value):
            if self.limits is not None:
                least, most = self.limits
                low, high = (min(max(end, least), most) for end in (low, high))
            return stretched((low, high), self.value)
        value = np.asarray(self.value)
        if not _numeric(value):
            return low, high
        if self.limits is not None:
            low, high = np.clip(low, *self.limits), np.clip(high, *self.limits)
        # A value that is not known (NaN) is nowhere, so nothing has to hold it
        unknown = np.isnan(value)
        return (
            np.where(unknown, low, np.minimum(low, value)),
            np.where(unknown, high, np.maximum(high, value)),
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
    """Division that answers with infinity or NaN if it has no other answer."""
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
    delta: float = 0.0
    """The δ of the account, for the words: guarantees without an ε are stated at it."""

    @property
    def promise(self) -> str:
        """The guarantee and the unit that it protects, in words."""
        return promised(self.guarantee, self.delta)

    @property
    def cost(self) -> str:
        """The part of its account that it took, and its receipt, in words."""
        return cost_of(self.receipt)

    def __str__(self) -> str:
        return f"{self.promise}; {self.cost}"


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
    """Post-processing of the released value."""
    details: Callable[[], Details] | None = field(
        default=None, kw_only=True, repr=False
    )
    """The steps that led to it, for a report."""
    limits: Ends | None = field(default=None, kw_only=True, repr=False)
    """Public limits of the true value, such as (0, inf) for a count: the value becomes
    the nearest one within them, and intervals are cut to them. None if the value is
    published as it was measured.
    """

    __array_ufunc__ = None  # so that an array times a release is a release

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", clamped(self.value, self.limits))

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
        entry for an array. They hold the value as well, at every confidence.

        of="noise" gives those of the noise alone, without what clipping hid.
        """
        if not 0 < fraction("confidence", confidence) <= 1 - Fraction(1, 10**9):
            raise ArgumentError(
                "confidence",
                "must lie strictly between 0 and 1; pass a probability such as 0.95",
            )
        spread = (
            self._inside if check_of(of) == TRUTH or self.noise is None else self.noise
        )
        if spread is None:
            raise ArgumentError(
                "interval",
                "is not known after map; pass monotone=True to map if the function only "
                "increases or only decreases",
            )
        low, high = spread.ends(confidence)
        return (
            (low, high)
            if np.ndim(self.value)
            else (np.asarray(low).item(), np.asarray(high).item())
        )

    @property
    def _inside(self) -> Spread | None:
        """Intervals for the true value that hold the shown value too."""
        if self.spread is None or isinstance(self.spread, Constant):
            return self.spread
        return Inside(self.spread, self.value, self.limits)

    def _derived(self, **changes: Any) -> Release:
        """This release with another value, about which the limits say nothing. A room
        whose releases hold more than a value drops here what no longer fits.
        """
        return replace(self, **({"limits": None} | changes))

    def map(self, function: Callable[[Any], Any], *, monotone: bool = False) -> Release:
        """Any function of the value; free. The interval survives if the function is
        monotone and said to be.
        """
        spreads = (self._inside, self.noise) if monotone else (None, None)
        spread, noise = (
            None if one is None else Mapped(function, one) for one in spreads
        )
        return self._derived(
            value=function(self.value),
            spread=spread,
            noise=noise,
            after=(*self.after, "a function was applied to the value"),
        )

    def round(self, digits: int = 0) -> Release:
        """The value rounded to that many digits. The interval stays as it is, unless it
        has to be a little wider to hold the rounded value.
        """
        if isinstance(self.value, int):
            shown: Any = round(self.value, min(digits, 0))
        else:
            rounded = np.round(self.value, digits)
            shown = rounded if np.ndim(rounded) else float(rounded)
        after = (*self.after, f"rounded to {digits} digits")
        return self._derived(value=shown, spread=self._inside, after=after)

    def _with(
        self, other: Any, operation: Callable[[Any, Any], Any], *, swapped: bool = False
    ) -> Release:
        if isinstance(other, Release):
            sources = tuple(dict.fromkeys(self.sources + other.sources))
            value, right, noise = other.value, other._inside, other.noise
            details: Any = partial(together, self.details, other.details)
        else:
            sources, value, right, noise = self.sources, other, Constant(other), None
            details = self.details
        own = self._inside
        spread = _paired(operation, own, right, swapped)
        alone = None
        if self.noise is not None or noise is not None:
            alone = _paired(operation, self.noise or own, noise or right, swapped)
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
            for one in (self._inside, self.noise)
        )
        value = self.value[index]
        value = value if np.ndim(value) else value.item()
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
                "key", f"there is no key {key!r:.40}; use one of {shown}"
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
        number. The key of an entry of a matrix has the number of its row and column.
        """
        try:
            low, high = self.interval(confidence)
        except ArgumentError:
            low, high = None, None
        if not np.ndim(self.value):
            return [("", self.value, low, high)]
        keys: Sequence[Any] = self.keys or ()
        keys = keys if len(keys) == len(self.value) else range(len(self.value))
        shape = np.shape(self.value)
        columns = (
            np.broadcast_to(np.asarray(column), shape).reshape(-1).tolist()
            for column in (self.value, low, high)
        )
        return list(zip(_places(keys, shape), *columns, strict=True))

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

    def to_markdown(self) -> str:
        """Markdown with the same lines as `print`, for a paper or a notebook."""
        lines = self._lines()
        block = "\n".join(f"    {line}" for line in lines)
        answer = f"**{literal(lines[0])}**" if len(lines) == 1 else block
        return in_markdown(answer, self._below())

    def reasons(self, confidence: float = 0.95) -> list[str | None]:
        """For each entry without information, because its interval holds all of the public
        limits, the words that say so.
        """
        rows = self.rows(confidence)
        # A row of some releases is about several entries
        if self.limits is None or len(rows) != np.size(self.value):
            return [None] * len(rows)
        ends = (np.broadcast_to(end, np.shape(self.value)) for end in self.limits)
        known = zip(*(end.reshape(-1).tolist() for end in ends), strict=True)
        return [
            None if tells((low, high), None, limits) else told_nothing(limits)
            for (_, _, low, high), limits in zip(rows, known, strict=True)
        ]

    def _lines(self) -> list[str]:
        """The numbers with their intervals."""
        confidence = getattr(self.spread, "confidence", 0.95)
        single = not np.ndim(self.value)
        words = f"{level(confidence)} interval" if single else ""
        found = [
            nothing or with_interval(value, None if low is None else (low, high), words)
            for (_, value, low, high), nothing in zip(
                self.rows(confidence), self.reasons(confidence), strict=True
            )
        ]
        if single:
            return [f"{self.what}: {found[0]}"]
        title = self.what if self.spread is None else entitled(self.what, confidence)
        keys = (str(key) for key, *_ in self.rows(confidence))
        return [
            title,
            *(f"  {key}: {one}" for key, one in zip(keys, found, strict=True)),
        ]

    def _below(self) -> list[str]:
        """The lines on the numbers, the guarantee, the cost, the remaining budget, notes."""
        about = [CLAMPED] if CLAMPED in self.notes else []
        paying = paid(self.sources, promise=self._promise())
        return [*about, *paying, *noted(self.notes)]

    def _promise(self) -> str:
        """The guarantee in words, if the sources do not say it."""
        return ""

    def __str__(self) -> str:
        return "\n".join([*self._lines(), *self._below()])

    def __repr__(self) -> str:
        return f"<Release {self.what}: {_short(self.value)}>"

    def _repr_html_(self) -> str:
        cells = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(*row, nothing))
            + "</tr>"
            for row, nothing in zip(self.rows(), self.reasons(), strict=True)
        )
        about = "<br>".join(html.escape(line) for line in self._below())
        heads = ("", self.what, f"{level(0.95)} interval from", "to")
        head = "".join(f"<th>{html.escape(one)}</th>" for one in heads)
        return f"<table><tr>{head}</tr>{cells}</table><small>{about}</small>"


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
    def sources(self) -> tuple[Source, ...]:
        return self.release.sources

    @property
    def receipt(self) -> Receipt | None:
        return self.release.receipt

    @property
    def notes(self) -> tuple[str, ...]:
        return self.release.notes

    @property
    def about_values(self) -> str | None:
        return CLAMPED if CLAMPED in self.release.notes else None

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

    def reasons(self) -> list[list[str | None]]:
        nothing = self.release.reasons(self.confidence)
        return [[*([None] * self._many), one] for one in nothing]

    def told(self) -> list[list[bool]]:
        return [[one is None for one in row] for row in self.reasons()]

    def is_key(self, place: int) -> bool:
        return self._many and place == 0


def _places(keys: Sequence[Any], shape: tuple[int, ...]) -> Sequence[Any]:
    """The keys of all entries: those of the rows, or "row, column" for a matrix."""
    if len(shape) == 1:
        return keys
    return [
        ", ".join(map(str, (keys[first], *others)))
        for first, *others in np.ndindex(shape)
    ]


def _paired(
    operation: Callable[[Any, Any], Any],
    left: Spread | None,
    right: Spread | None,
    swapped: bool,
) -> Spread | None:
    """The spread of a result; None if one of both is lost."""
    if left is None or right is None:
        return None
    return Pair(operation, right, left) if swapped else Pair(operation, left, right)


def _cells(
    key: Any, value: Any, low: Any, high: Any, nothing: str | None
) -> Iterator[str]:
    """A row as text: the key, the value and the ends of its interval; for a value that
    gives no information, the words that say so.
    """
    ends = [end for end in (low, high) if isinstance(end, int | float)]
    known = len(ends) == 2 and isinstance(value, int | float)
    width = max(value - low, high - value) if known else 0.0
    yield str(key)
    yield nothing or ("" if value is None else number(value, width or None))
    if known:
        yield from ends_in_words(low, high, width)
    else:
        yield from ("" if one is None else number(one) for one in (low, high))


def _short(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    return "" if value is None else str(value)
