"""What a reconstruction attack rebuilt, beside guessing and what a guarantee allows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.published import Domain
from dither.audit.attacks.roc import Allowed
from dither.axes import Axes, Scale
from dither.picture import Picture, Shape, Text
from dither.privacy import Guarantee

__all__ = ["NONE", "Reconstruction"]

Reals = NDArray[np.float64]
Counts = NDArray[np.int64]
Truths = NDArray[np.bool_]

NONE = -1
SHOWN = 20


@dataclass(frozen=True)
class Reconstruction:
    """What an attacker rebuilds of the blocks from their published tables.

    `rebuilt` has a table of cells for each block, -1 where no table agrees with what
    was published or too many do. `solutions` counts the tables that agree, where the
    published ones are exact; None are too many to look through. Shares are of the
    blocks in which people live. `others` are the people of each block whom the
    attacker knows: all but one.
    """

    over: Domain
    truth: Counts
    rebuilt: Counts
    prior: Reals
    solutions: tuple[int | None, ...] | None = None
    guarantee: Guarantee | None = None
    others: Counts | None = None

    @cached_property
    def lived_in(self) -> Truths:
        return np.asarray(self.truth.sum(axis=1) > 0)

    @property
    def blocks(self) -> int:
        """How many blocks have people."""
        return int(self.lived_in.sum())

    @cached_property
    def exact(self) -> Truths:
        """Which of these blocks are rebuilt with every record as it is."""
        return self._alike(self.rebuilt)

    @cached_property
    def unique(self) -> Truths:
        """Of which of them only one table agrees, so the attacker knows that it is
        the true one.
        """
        counts = self.solutions or (None,) * len(self.truth)
        return np.array([one == 1 for one in counts], bool)[self.lived_in]

    @property
    def share(self) -> float:
        """The share of blocks rebuilt exactly."""
        return float(self.exact.mean()) if self.blocks else 0.0

    @property
    def verified(self) -> float:
        """The share of blocks that only one table agrees with."""
        return float(self.unique.mean()) if self.blocks else 0.0

    @property
    def standard_error(self) -> float:
        """Of the share, over blocks."""
        return math.sqrt(self.share * (1 - self.share) / max(self.blocks, 1))

    @property
    def guessing(self) -> float:
        """The chance to guess one person's record by the prior, all others known."""
        return float(self.prior.max())

    @property
    def bound(self) -> float | None:
        """The largest expected share that the guarantee allows, where each person's
        record is drawn from the prior (docs/proofs/reconstruction.md).
        """
        if self.guarantee is None:
            return None
        return min(1.0, Allowed(self.guarantee).power(self.guessing))

    def allowed(self, delta: float = 1e-6) -> float | None:
        """e^ε × guessing + δ with the guarantee's ε at this δ: never below `bound`."""
        if self.guarantee is None:
            return None
        epsilon = self.guarantee.epsilon_at(delta)
        return min(1.0, math.exp(min(epsilon, 700.0)) * self.guessing + delta)

    @cached_property
    def guesses(self) -> Counts:
        """The likeliest table of each block by its size, the prior and whoever is
        known.
        """
        sizes = self.truth.sum(axis=1)
        if self.others is not None:
            alone = np.where(sizes > 0, 1, 0)[:, None] * _modes(self.prior, 1)[1]
            return self.others + alone
        modes = _modes(self.prior, int(sizes.max(initial=0)))
        return np.array([modes[size] for size in sizes])

    @property
    def guessed(self) -> float:
        """The share of blocks rebuilt exactly without a look at what is published."""
        return float(self._alike(self.guesses).mean()) if self.blocks else 0.0

    def _alike(self, tables: Counts) -> Truths:
        """Which blocks with people have these tables."""
        return np.asarray((tables == self.truth).all(axis=1)[self.lived_in])

    @property
    def matched(self) -> float:
        """The share of people whose record is in the rebuilt table of their block."""
        return _matched(self.rebuilt, self.truth)

    @property
    def matched_by_chance(self) -> float:
        """The share of people whose record is in the guessed table of their block."""
        return _matched(self.guesses, self.truth)

    def records(self, block: int) -> list[tuple[Any, ...]] | None:
        """The rebuilt people of a block, if there is a table."""
        counts = self.rebuilt[block]
        if (counts == NONE).all():
            return None
        cells = np.repeat(np.arange(self.over.cells), counts)
        return [self.over.record(int(cell)) for cell in cells]

    def plot(self, title: str = "Blocks rebuilt exactly") -> Picture:
        """The share rebuilt by how many people live in a block, beside guessing and
        what the guarantee allows.
        """
        sizes = self.truth.sum(axis=1)[self.lived_in]
        high = max(2, min(SHOWN, int(sizes.max(initial=2))))
        axes = Axes(64, 40, 360, 260, Scale(1, high), Scale(0, 1))
        shapes = [*self._drawn(axes, sizes, high), Text(64, 20, title, bold=True)]
        return Picture.of(448, 360, shapes, title)

    def _drawn(self, axes: Axes, sizes: Counts, high: int) -> Iterator[Shape]:
        yield from axes.frame("people in the block", "share rebuilt exactly")
        held = np.minimum(sizes, high)
        there = [size for size in range(1, high + 1) if (held == size).any()]
        names = [f"attack: {self.share:.0%}", f"guessing: {self.guessed:.0%}"]
        for style, alike in enumerate((self.exact, self._alike(self.guesses))):
            shares = [float(alike[held == size].mean()) for size in there]
            yield axes.line(there, shares, style)
        if self.bound is not None:
            yield axes.line((1, high), (self.bound, self.bound), 2)
            names.append(f"allowed: {self.bound:.0%}")
        yield from axes.legend(names, left=200)

    def __str__(self) -> str:
        lines = [
            f"Reconstruction of {self.blocks:,} blocks: {self.share:.1%} ± "
            f"{1.96 * self.standard_error:.1%} rebuilt with every record "
            f"(guessing {self.guessed:.1%}).",
            f"{self.matched:.0%} of the people are in the rebuilt table of their block "
            f"(guessing {self.matched_by_chance:.0%}).",
        ]
        if self.solutions is not None:
            lines.insert(
                1,
                f"Only one table agrees with what is published of {self.verified:.1%}.",
            )
        if self.bound is not None:
            lines.append(f"The guarantee allows {self.bound:.1%} of blocks at most.")
        return "\n".join(lines)


def _modes(prior: Reals, most: int) -> list[Counts]:
    """The likeliest table of so many people, for each number up to `most`: the next
    person goes where the chance of the whole grows most.
    """
    counts = np.zeros(prior.size, np.int64)
    found = [counts.copy()]
    for _ in range(most):
        counts[int(np.argmax(prior / (counts + 1)))] += 1
        found.append(counts.copy())
    return found


def _matched(rebuilt: Counts, truth: Counts) -> float:
    people = int(truth.sum())
    return float(np.minimum(np.maximum(rebuilt, 0), truth).sum()) / max(people, 1)
