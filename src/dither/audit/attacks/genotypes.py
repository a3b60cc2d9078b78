"""Attacks on genotypes: finding a person by a handful of markers, and telling from
frequencies who is in a study.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.roc import Roc
from dither.axes import Axes, Scale
from dither.errors import ArgumentError
from dither.noise import uniform_integers
from dither.picture import Picture, Text
from dither.privacy import Guarantee
from dither.privacy.numbers import whole
from dither.release import Release
from dither.science.genomes.counts import plain

__all__ = ["Markers", "Membership", "markers", "membership"]

Reals = NDArray[np.float64]
Copies = NDArray[np.int8]

MISSING = -1
COUNTS = (1, 2, 4, 8, 12, 16, 24, 32)
AT_ONCE = 1 << 24


@dataclass(frozen=True)
class Membership:
    """How well an attacker who knows a person's genotypes tells from published
    frequencies whether they are in the study.
    """

    roc: Roc
    variants: int

    @property
    def area(self) -> float:
        return self.roc.area

    @property
    def bound(self) -> float | None:
        return self.roc.bound

    def plot(self) -> Picture:
        return self.roc.plot(f"Membership from {self.variants:,} frequencies")

    def __str__(self) -> str:
        found = f"{100 * self.roc.rate(0.05):.0f} %"
        lines = [
            f"Membership attack on {self.variants:,} frequencies: area under the curve "
            f"{self.area:.3f} ± {1.96 * self.roc.standard_error:.3f} (a coin has 0.5).",
            f"It finds {found} of the members while it accuses 5 % of the others.",
        ]
        if self.bound is not None:
            lines.append(f"The guarantee allows an area of {self.bound:.3f} at most.")
        return "\n".join(lines)


def membership(
    published: Any, members: Any, outsiders: Any, *, reference: Any
) -> Membership:
    """The membership attack (Homer et al. 2008) on published frequencies, or on a
    release of them.

    The attacker knows a person's genotypes and the population's frequencies
    (`reference`), and adds up over the variants how much nearer the published
    frequency is to the person: Σ (copies - 2π)(p - π) / (π(1 - π)), the locally most
    powerful score. `members` and `outsiders` are matrices of people by variants with
    0, 1 or 2 copies, in the order of the panel; outsiders are of the same population.
    """
    frequencies, guarantee = _published(published)
    background = _frequencies(reference, "reference")
    if background.size != frequencies.size:
        raise ArgumentError(
            "reference",
            f"must have a frequency for each of the {frequencies.size:,} variants, not "
            f"{background.size:,}; pass both in the same order of variants",
        )
    held = np.clip(background, 1e-6, 1 - 1e-6)
    weights = (frequencies - held) / (held * (1 - held))
    scores = []
    for name, people in (("members", members), ("outsiders", outsiders)):
        copies = _people(people, frequencies.size, name)
        apart = np.where(copies == MISSING, 0.0, copies - 2 * held)
        scores.append(apart @ weights)
    return Membership(Roc(scores[0], scores[1], guarantee), frequencies.size)


@dataclass(frozen=True)
class Markers:
    """What an attacker who knows some markers of a person finds, by how many they
    know.

    `matched` is the share of members that agree with one record of what was published
    and no other, and `mistaken` the share of outsiders that do: where both are alike,
    a match says nothing. `rocs` tell members from outsiders by the agreement with the
    nearest record.
    """

    counts: tuple[int, ...]
    matched: tuple[float, ...]
    mistaken: tuple[float, ...]
    rocs: tuple[Roc, ...]

    @property
    def areas(self) -> tuple[float, ...]:
        return tuple(roc.area for roc in self.rocs)

    @property
    def bound(self) -> float | None:
        return self.rocs[0].bound

    def plot(self) -> Picture:
        """Who agrees with one record, by the markers known: members and outsiders."""
        title = "A person found by a handful of markers"
        axes = Axes(64, 60, 360, 260, Scale(0, max(self.counts)), Scale(0, 1))
        names = ["members matched", "outsiders matched", "members distinguished (area)"]
        drawn = (self.matched, self.mistaken, self.areas)
        lines = [axes.line(self.counts, ys, at) for at, ys in enumerate(drawn)]
        frame = list(axes.frame("markers known", "share"))
        legend = axes.legend(names, left=150, top=100)
        head = Text(64, 24, title, bold=True)
        return Picture.of(448, 380, [*frame, *lines, *legend, head], title)

    def __str__(self) -> str:
        lines = ["markers  members matched  outsiders matched  area"]
        rows = zip(self.counts, self.matched, self.mistaken, self.areas, strict=True)
        lines += [
            f"{count:7d}  {share:15.0%}  {wrong:17.0%}  {area:.3f}"
            for count, share, wrong, area in rows
        ]
        if self.bound is not None:
            lines.append(f"The guarantee allows an area of {self.bound:.3f} at most.")
        return "\n".join(lines)


def markers(
    published: Any, members: Any, outsiders: Any, *, counts: Sequence[int] = COUNTS
) -> Markers:
    """Re-identification by a handful of markers.

    `published` is a table of genotypes without names (people by variants), or
    frequencies or a release of them; of the latter an attacker can only make up
    records, as many as there are members. They know the first so many markers of a
    person, and look for records that agree.
    """
    known = tuple(whole("counts", one, "pass numbers of markers") for one in counts)
    inside = _people(members, None, "members")
    width = inside.shape[1]
    outside = _people(outsiders, width, "outsiders")
    if not known or max(known) > width:
        raise ArgumentError("counts", f"must be numbers of markers from 1 to {width:,}")
    table, guarantee = _records(published, inside.shape)
    shares: list[list[float]] = [[], []]
    rocs = []
    for count in known:
        scores = []
        for people, share in zip((inside, outside), shares, strict=True):
            best, ties = _nearest(people[:, :count], table[:, :count])
            share.append(float(((best == count) & (ties == 1)).mean()))
            scores.append(best.astype(float))
        rocs.append(Roc(scores[0], scores[1], guarantee))
    return Markers(known, tuple(shares[0]), tuple(shares[1]), tuple(rocs))


def _records(published: Any, shape: tuple[int, ...]) -> tuple[Copies, Guarantee | None]:
    """The published records, or records made up from published frequencies."""
    dimensions = getattr(published, "ndim", 0)
    if not isinstance(published, Release) and dimensions == 2:
        return _people(published, shape[1], "published"), None
    frequencies, guarantee = _published(published)
    if frequencies.size != shape[1]:
        raise ArgumentError(
            "published",
            f"must have a frequency for each of the {shape[1]:,} variants; pass all of "
            "them",
        )
    steps = 1 << 30
    drawn = uniform_integers(steps, (2, *shape)) < frequencies * steps
    return drawn.sum(axis=0).astype(np.int8), guarantee


def _nearest(people: Copies, table: Copies) -> tuple[NDArray[Any], NDArray[Any]]:
    """For each person the most markers that agree with any record, and how many
    records agree in so many.
    """
    best = np.zeros(len(people), np.int64)
    ties = np.zeros(len(people), np.int64)
    step = max(1, AT_ONCE // max(table.size, 1))
    for start in range(0, len(people), step):
        part = people[start : start + step, None, :]
        agree = ((part == table[None]) & (part != MISSING)).sum(axis=2)
        most = agree.max(axis=1)
        best[start : start + step] = most
        ties[start : start + step] = (agree == most[:, None]).sum(axis=1)
    return best, ties


def _published(published: Any) -> tuple[Reals, Guarantee | None]:
    if isinstance(published, Release):
        value = np.asarray(published.value, np.float64).ravel()
        return np.clip(value, 0, 1), published.guarantee
    return _frequencies(published, "published"), None


def _frequencies(values: Any, name: str) -> Reals:
    found = np.asarray(values, np.float64)
    if found.ndim != 1 or not found.size or not np.isfinite(found).all():
        raise ArgumentError(name, "must be a list of frequencies, one for each variant")
    if found.min() < 0 or found.max() > 1:
        raise ArgumentError(name, "must lie between 0 and 1; pass frequencies")
    return found


def _people(table: Any, width: int | None, name: str) -> Copies:
    found = plain(table)
    if found.ndim != 2 or not found.size or width not in (None, found.shape[1]):
        shown = "the" if width is None else f"{width:,}"
        raise ArgumentError(name, f"must be a matrix of people by {shown} variants")
    known = (found == 0) | (found == 1) | (found == 2)
    return np.where(known, found, MISSING).astype(np.int8)
