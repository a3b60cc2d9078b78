"""Ways to look at an output: each puts it into one of a few cells, in which a rule
guesses one input or abstains.

Everything here is fitted on draws that are not used again, so nothing depends on
whether it is clever.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.outcomes import FAMILY, Encoder, Outcomes

__all__ = [
    "Bins",
    "Cells",
    "Feature",
    "Odd",
    "Table",
    "View",
    "counted",
    "log_ratio",
]

View = Callable[[Outcomes], NDArray[Any]]
"""One number, whole or real, for each draw."""
Cells = NDArray[np.int64]

TABLE = 4096
PARTS = 48


@dataclass(frozen=True)
class Odd:
    """The kinds of output that are not numbers: those met more than once, families for
    all others, and their names.
    """

    kinds: NDArray[np.int64]
    families: NDArray[np.int64]
    names: tuple[str, ...]

    @classmethod
    def fit(cls, encoder: Encoder, parts: Sequence[Outcomes]) -> Odd:
        met, counts = np.unique(
            np.concatenate([one.kinds[~one.numbers] for one in parts]),
            return_counts=True,
        )
        often = np.argsort(-counts, kind="stable")[:TABLE]
        kinds, families = (
            np.sort(met[often[counts[often] > 1]]),
            np.unique(met // FAMILY),
        )
        named = [*kinds.tolist(), *(families * FAMILY).tolist()]
        return cls(kinds, families, tuple(encoder.names[kind] for kind in named))

    def place(self, kinds: NDArray[np.int64]) -> Cells:
        """The number of each kind, else that of its family; the last one for new
        families.
        """
        found = np.full(len(kinds), len(self.names), np.int64)
        for known, seen, first in (
            (self.families, kinds // FAMILY, len(self.kinds)),
            (self.kinds, kinds, 0),
        ):
            if len(known):
                at = np.minimum(np.searchsorted(known, seen), len(known) - 1)
                found = np.where(known[at] == seen, first + at, found)
        return found


@dataclass(frozen=True)
class Feature(ABC):
    """Cells of a view, and beside them one cell for each kind of output that is not a
    number, and one for new kinds.
    """

    view: View
    what: str
    odd: Odd
    ordered = False

    @property
    @abstractmethod
    def own(self) -> int:
        """Number of cells for numbers."""

    @property
    def count(self) -> int:
        return self.own + len(self.odd.names) + 1

    @property
    def named(self) -> int:
        """Number of cells that are adjacent ranges."""
        return 0

    @abstractmethod
    def place(self, seen: NDArray[Any]) -> Cells:
        """The cell of each number."""

    def cells(self, outcomes: Outcomes) -> Cells:
        if outcomes.numbers.all():
            return self.place(self.view(outcomes))
        return np.where(
            outcomes.numbers,
            self.place(self.view(outcomes)),
            self.own + self.odd.place(outcomes.kinds),
        )

    def words(self, chosen: Sequence[int]) -> str:
        """The event that an output lies in one of these cells."""
        own = [cell for cell in chosen if cell < self.own]
        odd = [cell - self.own for cell in chosen if cell >= self.own]
        names = [
            self.odd.names[i] if i < len(self.odd.names) else "it is of another kind"
            for i in odd
        ]
        return " or ".join([*([self._words(own)] if own else []), *_few(names)])

    @abstractmethod
    def _words(self, chosen: list[int]) -> str: ...


def _few(names: list[str], most: int = 3) -> list[str]:
    return (
        names
        if len(names) <= most
        else [*names[:most], f"{len(names) - most} more outcomes"]
    )


@dataclass(frozen=True)
class Table(Feature):
    """Each value that was seen more than once is a cell; all others share one."""

    known: NDArray[np.int64]

    @classmethod
    def fit(cls, view: View, what: str, odd: Odd, parts: Sequence[Outcomes]) -> Table:
        values, counts = np.unique(
            np.concatenate([_codes(view(one)[one.numbers]) for one in parts]),
            return_counts=True,
        )
        often = np.argsort(-counts, kind="stable")[:TABLE]
        return cls(view, what, odd, np.sort(values[often[counts[often] > 1]]))

    @property
    def own(self) -> int:
        return len(self.known) + 1

    def place(self, seen: NDArray[Any]) -> Cells:
        if not len(self.known):
            return np.zeros(len(seen), np.int64)
        codes = _codes(seen)
        at = np.searchsorted(self.known, codes)
        at[at == len(self.known)] = 0
        return np.where(self.known[at] == codes, at + 1, 0)

    def _words(self, chosen: list[int]) -> str:
        return (
            f"{self.what} is one of {len(chosen)} that were seen before"
            if len(chosen) > 1
            else f"{self.what} is {self._one(chosen[0])}"
        )

    def _one(self, cell: int) -> str:
        return (
            "a value that was seen before" if cell else "one that was not seen before"
        )


def _codes(seen: NDArray[Any]) -> NDArray[np.int64]:
    """Whole numbers as they are, reals bit by bit: 0.0 and −0.0 are different outputs."""
    codes: NDArray[np.int64] = seen.view(np.int64) if seen.dtype.kind == "f" else seen
    return codes


@dataclass(frozen=True)
class Bins(Feature):
    """Ranges, finer towards both ends; NaN has a cell of its own."""

    edges: NDArray[Any]
    ordered = True

    @classmethod
    def fit(cls, view: View, what: str, odd: Odd, parts: Sequence[Outcomes]) -> Bins:
        seen = [view(one)[one.numbers] for one in parts]
        seen = [one[~np.isnan(one)] if one.dtype.kind == "f" else one for one in seen]
        return cls(view, what, odd, _edges(seen))

    @property
    def own(self) -> int:
        return len(self.edges) + 2

    @property
    def named(self) -> int:
        return len(self.edges) + 1

    def place(self, seen: NDArray[Any]) -> Cells:
        found = np.searchsorted(self.edges, seen, side="right").astype(np.int64)
        if seen.dtype.kind == "f":
            found[np.isnan(seen)] = len(self.edges) + 1
        return found

    def _words(self, chosen: list[int]) -> str:
        runs = _runs([cell for cell in chosen if cell <= len(self.edges)])
        said = [self._run(low, high) for low, high in runs]
        said += ["NaN"] if len(self.edges) + 1 in chosen else []
        return f"{self.what} is {' or '.join(_few(said))}"

    def _run(self, low: int, high: int) -> str:
        whole = self.edges.dtype.kind == "i"
        least = (
            f"{self.edges[low - 1]:.6g}"
            if low and not whole
            else str(self.edges[low - 1])
            if low
            else ""
        )
        if high >= len(self.edges):
            return f"at least {least}" if least else "any number"
        most = (
            str(self.edges[high] - 1)
            if whole
            else f"{np.nextafter(self.edges[high], -np.inf):.6g}"
        )
        if whole and least == most:
            return most
        return f"at least {least} and at most {most}" if least else f"at most {most}"


def _runs(cells: list[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for cell in sorted(cells):
        if found and found[-1][1] == cell - 1:
            found[-1] = found[-1][0], cell
        else:
            found.append((cell, cell))
    return found


def _edges(seen: list[NDArray[Any]]) -> NDArray[Any]:
    """Quantiles of both sides together, evenly in the middle and halving towards the
    ends; the ends of each side.
    """
    pooled = np.sort(np.concatenate(seen))
    if not len(pooled):
        return pooled
    halving = 0.5 ** np.arange(1, np.log2(len(pooled)) + 1)
    shares = np.concatenate([np.arange(1, PARTS) / PARTS, halving, 1 - halving])
    edges = pooled[np.minimum((shares * len(pooled)).astype(np.int64), len(pooled) - 1)]
    ends = [end for one in seen if len(one) for end in (one.min(), _after(one.max()))]
    return np.unique(np.concatenate([edges, np.array(ends, pooled.dtype)]))


def _after(value: Any) -> Any:
    if isinstance(value, np.floating):
        return np.nextafter(value, np.inf)
    return value + 1 if value < np.iinfo(np.int64).max else value


def counted(feature: Feature, outcomes: Outcomes) -> NDArray[np.int64]:
    return np.bincount(feature.cells(outcomes), minlength=feature.count)


def log_ratio(
    first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The factor by which each cell is more likely on the first side, shrunk towards
    even if few draws are in it.
    """
    found: NDArray[np.float64] = np.log((first + 0.5) / (first.sum() + 1)) - np.log(
        (second + 0.5) / (second.sum() + 1)
    )
    return found
