"""The result of a reconstruction attack, next to guessing and to the bound of a
guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.guessing import most_likely
from dither.audit.attacks.published import Domain
from dither.audit.attacks.roc import Allowed
from dither.axes import Axes, Scale
from dither.errors import ArgumentError
from dither.picture import Picture, Shape, Text
from dither.privacy import Guarantee
from dither.science.census import Geography
from dither.science.census.chosen import nodes_of

__all__ = ["NONE", "Reconstruction"]

Reals = NDArray[np.float64]
Counts = NDArray[np.int64]
Truths = NDArray[np.bool_]
Places = NDArray[np.intp]

NONE = -1
GROUP, GROUPS, WIDE = 30, 12, 20
"""A group in a picture has so many blocks at least, there are about so many groups, and
sizes that differ by more than this factor are drawn on a logarithmic axis.
"""


@dataclass(frozen=True)
class Reconstruction:
    """What an attacker rebuilds of the blocks from their published tables.

    `rebuilt` has a table of cells for each block, -1 where no table agrees with what
    was published. `solutions` counts the tables that agree, where the published ones
    are exact; None are too many to look through, and the rebuilt one is then a likely
    one. Shares are of the blocks in which people live. `others` are the people of each
    block whom the attacker knows: all but one. `places` are the blocks, if known.
    """

    over: Domain
    truth: Counts
    rebuilt: Counts
    prior: Reals
    solutions: tuple[int | None, ...] | None = None
    guarantee: Guarantee | None = None
    others: Counts | None = None
    places: Geography | None = None

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
    def too_many(self) -> int:
        """How many blocks had too many tables to look through."""
        return self._solved(None)

    def _solved(self, count: int | None) -> int:
        counts = np.array(self.solutions or (1,) * len(self.truth), object)
        return sum(one is count or one == count for one in counts[self.lived_in])

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
        if self.others is None:
            return most_likely(self.prior, sizes)
        return self.others + most_likely(self.prior, np.minimum(sizes, 1))

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

    def records(self, block: Any) -> list[tuple[Any, ...]] | None:
        """The rebuilt people of a block, if there is a table. A block is its number in
        the order of the tables, from 0 on, or its labels from the top, as in
        `("01", "003", "1002")`.
        """
        counts = self.rebuilt[self._block(block)]
        if (counts == NONE).all():
            return None
        cells = np.repeat(np.arange(self.over.cells), counts)
        return [self.over.record(int(cell)) for cell in cells]

    def _block(self, block: Any) -> int:
        number = isinstance(block, int | np.integer) and not isinstance(block, bool)
        if number and 0 <= block < len(self.rebuilt):
            return int(block)
        if self.places is None or number:
            named = (
                "" if self.places is None else ", or its labels from the top level down"
            )
            raise ArgumentError(
                "block",
                f"must be the number of a block from 0 to {len(self.rebuilt) - 1:,}"
                f"{named}",
            )
        ((_, node),) = nodes_of([block], self.places, self.places.levels[-1])
        return node

    # Shown

    def plot(self, title: str = "Blocks rebuilt exactly") -> Picture:
        """The share rebuilt by how many people live in a block, beside guessing and
        what the guarantee allows. Blocks of about one size are grouped, so that a share
        is one of many blocks.
        """
        sizes = self.truth.sum(axis=1)[self.lived_in]
        groups = _groups(sizes)
        low = int(sizes.min()) if sizes.size else 1
        high = max(int(sizes.max(initial=1)), low + 1)
        axes = Axes(64, 40, 360, 260, Scale(low, high, high > WIDE * low), Scale(0, 1))
        shapes = [*self._drawn(axes, sizes, groups), Text(64, 20, title, bold=True)]
        return Picture.of(448, 360, shapes, title)

    def _drawn(
        self, axes: Axes, sizes: Counts, groups: Sequence[Places]
    ) -> Iterator[Shape]:
        least = min((one.size for one in groups), default=0)
        grouped = f"{self.blocks:,} blocks, in groups of {least:,} or more"
        yield from axes.frame(
            f"people in the block ({grouped})", "share rebuilt exactly"
        )
        middles = [float(sizes[one].mean()) for one in groups]
        names = [f"attack: {percent(self.share)}", f"guessing: {percent(self.guessed)}"]
        for style, alike in enumerate((self.exact, self._alike(self.guesses))):
            shares = [float(alike[one].mean()) for one in groups]
            yield axes.line(middles, shares, style)
            for place in zip(middles, shares, strict=True):
                yield axes.dot(*place, style)
        if self.bound is not None:
            yield axes.line((axes.x.low, axes.x.high), (self.bound, self.bound), 2)
            names.append(f"allowed: {percent(self.bound)}")
        yield from axes.legend(names, left=200)

    def __str__(self) -> str:
        lines = [
            f"Reconstruction of {self.blocks:,} blocks: {percent(self.share, 1)} ± "
            f"{percent(1.96 * self.standard_error, 1)} rebuilt with every record "
            f"(guessing {percent(self.guessed, 1)}).",
            *self._solutions(),
            f"{percent(self.matched)} of the people are in the rebuilt table of their "
            f"block (guessing {percent(self.matched_by_chance)}).",
        ]
        if self.bound is not None:
            lines.append(
                f"The guarantee allows {percent(self.bound, 1)} of blocks at most, if "
                "records are independent."
            )
        return "\n".join(lines)

    def _solutions(self) -> Iterator[str]:
        if self.solutions is None:
            return
        yield (
            "Only one table agrees with what is published of "
            f"{percent(self.verified, 1)}."
        )
        if self.too_many:
            yield (
                f"In {self.too_many:,} of the blocks, too many tables agree to search "
                "them all: the attack uses a likely table for each of these blocks."
            )
        if self._solved(0):
            yield f"No table agrees for {self._solved(0):,} of the blocks."


def percent(share: float, digits: int = 0) -> str:
    """A share in percent. A small one has a digit that is not 0, and one below all does
    not read as all.
    """
    shown = f"{100 * share:.{digits}f}"
    if share > 0 and float(shown) == 0:
        return f"{float(f'{100 * share:.1g}'):.10f}".rstrip("0") + " %"
    if share < 1 and float(shown) == 100:
        return f"above {100 - 10**-digits / 2:g} %"
    return f"{shown} %"


def _groups(sizes: Counts) -> list[Places]:
    """Blocks of about one size together. All blocks of one size are in one group, and a
    group ends where it has enough.
    """
    enough = max(GROUP, sizes.size // GROUPS)
    order = np.argsort(sizes, kind="stable")
    found: list[Places] = []
    held: list[Places] = []
    for size in np.unique(sizes):
        held.append(order[sizes[order] == size])
        if sum(one.size for one in held) >= enough:
            found.append(np.concatenate(held))
            held = []
    if held:
        held = [*found[-1:], *held]
        found = [*found[:-1], np.concatenate(held)]
    return found


def _matched(rebuilt: Counts, truth: Counts) -> float:
    people = int(truth.sum())
    return float(np.minimum(np.maximum(rebuilt, 0), truth).sum()) / max(people, 1)
