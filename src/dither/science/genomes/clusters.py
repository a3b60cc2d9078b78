"""Who is in the study, and in which cluster: public, and declared (rule R6).

Neighbours have the same roster and the same clusters: one person's genotypes are all
there, or all missing. Clusters that were fitted on these genotypes are not public, and
are not to be declared.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.ids import identity
from dither.privacy.numbers import whole
from dither.science.genomes.panel import repeated
from dither.text import clean

__all__ = ["ALL", "NOBODY", "Roster"]

ALL = "all"
NOBODY = -1
MOST = 10_000_000
WAY_OUT = (
    "pass a mapping from sample id to group, or the groups in the order of the roster"
)
SAMPLES = "pass samples= with the people's ids or their number"


@dataclass(frozen=True)
class Roster:
    """The people of a study: one cluster each, by id or by their order."""

    names: tuple[str, ...]
    labels: tuple[int, ...]
    ids: tuple[str, ...] | None = None
    rows: tuple[str, ...] | None = None
    """Who the rows of a matrix are, where that was said."""
    written: tuple[str, ...] | None = None
    """The ids as they were written down, where "7" and "007" are two."""

    @classmethod
    def of(cls, clusters: Any, samples: Any, argument: str = "clusters") -> Roster:
        """The roster that was declared. `clusters` None is one cluster of all."""
        people = _people(samples)
        rows = None if people is None else _ids(people, "samples")
        if clusters is None:
            labels = (0,) * _count(samples, rows, argument)
            return cls((ALL,), labels, rows, rows, _written(people))
        named, told = _told(clusters, argument)
        ids = None if named is None else _ids(named, argument)
        if ids is None and rows is not None:
            _check_length(len(told), len(rows), argument)
            named, ids = people, rows
        names = tuple(dict.fromkeys(one for one in told if one is not None))
        if not names or len(told) > MOST:
            words = f"must have between 1 and {MOST:,} people; {WAY_OUT}"
            raise ArgumentError(argument, words)
        number = {name: at for at, name in enumerate(names)}
        labels = tuple(NOBODY if one is None else number[one] for one in told)
        return cls(names, labels, ids, rows, _written(named))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of people in each cluster."""
        labels = np.array(self.labels)
        return np.bincount(labels[labels >= 0], minlength=len(self.names))

    def places(self, count: int, ids: Iterable[Any] | None = None) -> NDArray[np.intp]:
        """The cluster of each of so many rows, or NOBODY: by their ids where both
        sides have them, else by their order.

        Anyone who is in the data and not in the roster does not count, and an id that
        the data has twice counts the first time.
        """
        found = np.full(count, NOBODY, np.intp)
        if self.ids is None or ids is None:
            known = min(count, len(self.labels))
            found[:known] = self.labels[:known]
            return found
        left = dict(zip(self.ids, self.labels, strict=True))
        for at, name in zip(range(count), ids, strict=False):
            found[at] = left.pop(identity(name) or "", NOBODY)
        return found

    def units(self, owners: Sequence[Any]) -> NDArray[np.intp]:
        """The cluster of each row of a dataset, or NOBODY, by its unit's id. The first
        row of a unit counts.

        A dataset tells "7" and "007" apart. If both were one person here, who of them
        counts would depend on the other, so strings must be as they were written down.
        """
        assert self.written is not None
        left = dict(zip(self.written, self.labels, strict=True))
        found = (left.pop(_text(one) or "", NOBODY) for one in owners)
        return np.fromiter(found, np.intp, len(owners))


def _text(owner: Any) -> str | None:
    """What was written to name somebody: a text as it is, a number by its digits."""
    if isinstance(owner, str):
        return str.__str__(owner)
    if isinstance(owner, bytes):
        try:
            return owner.decode()
        except UnicodeDecodeError:
            return None
    return identity(owner)


def _written(people: Sequence[Any] | None) -> tuple[str, ...] | None:
    if people is None:
        return None
    return tuple(_text(one) or _person(one, "samples") for one in people)


def _told(clusters: Any, argument: str) -> tuple[list[Any] | None, list[Any]]:
    """Who they are, where that is said, and the cluster of each."""
    if hasattr(clusters, "columns"):
        raise ArgumentError(argument, f"must be one column, not a frame; {WAY_OUT}")
    if hasattr(clusters, "items") and not _ordered(clusters):
        pairs = list(clusters.items())
    elif isinstance(clusters, str | bytes | Set) or not hasattr(clusters, "__len__"):
        kind = type(clusters).__name__
        raise ArgumentError(
            argument, f"must be a mapping or a list, not {kind}; {WAY_OUT}"
        )
    elif _paired(clusters):
        pairs = list(clusters)
    else:
        return None, [_cluster(one) for one in clusters]
    return [name for name, _ in pairs], [_cluster(one) for _, one in pairs]


def _ordered(clusters: Any) -> bool:
    """Whether this is a pandas column that is only numbered, so in the roster's order."""
    return type(getattr(clusters, "index", None)).__name__ == "RangeIndex"


def _paired(clusters: Sequence[Any]) -> bool:
    return len(clusters) > 0 and all(
        isinstance(one, tuple) and len(one) == 2 for one in clusters
    )


def _cluster(label: Any) -> str | None:
    """A cluster's name. None and NaN put a person into no cluster."""
    nan = isinstance(label, float | np.floating) and math.isnan(label)
    absent = label is None or nan or type(label).__name__ in ("NAType", "NaTType")
    return None if absent else str(label)


def _ids(people: Sequence[Any], argument: str) -> tuple[str, ...]:
    ids = tuple(_person(one, argument) for one in people)
    _check_once(ids, argument)
    return ids


def _people(samples: Any) -> list[Any] | None:
    if samples is None or isinstance(samples, int | np.integer):
        return None
    wrong = isinstance(samples, str | bytes | Mapping | Set)
    if wrong or not hasattr(samples, "__len__"):
        raise ArgumentError(
            "samples",
            f"must be a list of the people's ids, not {type(samples).__name__}; pass the "
            "ids in a list, or the number of people",
        )
    return list(samples)


def _count(samples: Any, rows: tuple[str, ...] | None, argument: str) -> int:
    if samples is None:
        way_out = SAMPLES if argument == "samples" else f"{WAY_OUT}, or {SAMPLES}"
        raise ArgumentError(
            argument,
            "must be passed, because the people of the study are declared and not read "
            f"from the data; {way_out}",
        )
    if rows is not None:
        if not rows:
            raise ArgumentError(
                "samples", "must not be empty; pass the ids of the people of the study"
            )
        return len(rows)
    count = whole("samples", samples, "pass the number of people in the study")
    if count > MOST:
        raise ArgumentError("samples", f"must be at most {MOST:,} people")
    return count


def _person(name: Any, argument: str) -> str:
    found = identity(name)
    if not found:
        words = "must have an id for each person that is a string or a whole number"
        raise ArgumentError(argument, f"{words}; {WAY_OUT}")
    return found


def _check_once(ids: Sequence[str], argument: str) -> None:
    twice = repeated(ids)
    if twice is not None:
        raise ArgumentError(
            argument,
            f"must name each person once, but {clean(twice)!r:.60} is repeated; remove "
            "the repeated entry",
        )


def _check_length(told: int, known: int, argument: str) -> None:
    if told != known:
        raise ArgumentError(
            argument,
            f"must have an entry for each of the {known:,} people in samples=, not "
            f"{told:,}; {WAY_OUT}",
        )
