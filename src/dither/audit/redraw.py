"""Everything a question releases, drawn again and again over exact integers that the
engine gives once.

Keys are named again, radii are chosen again, and all noise is fresh in every draw; what
the engine computes for given keys and a given radius is kept. The secret salt by which
units above a cap keep some of their keys is the same in all draws and for both
neighbours: the guarantee holds for every salt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.query.collect.runner import Runner
from dither.query.plan.plan import Measurement, Plan
from dither.query.plan.radius import radius_of
from dither.query.plan.vectors import Kind

WIDEST = 1 << 62
"""Exact sums are held within ± this."""

__all__ = ["Redrawn"]

Integers = NDArray[np.int64]
Named = tuple[int, ...]


@dataclass
class Redrawn:
    """A plan, and the exact integers of one neighbour. `found` are its private keys by
    their numbers; `universe` are those of both neighbours, in order.
    """

    plan: Plan
    runner: Runner
    found: Sequence[Any] = ()
    universe: Sequence[Any] = ()
    _known: dict[Any, Any] = field(default_factory=dict)

    def draw(self, size: int) -> Integers:
        """One row for each draw: which keys are named, then for each measurement the counts
        its radius was chosen from, the radius, and the numbers of all groups (0 where a
        key is not named); last, the numbers that named keys, if they are answers."""
        if self.plan.keys is None:
            return self._numbers((), size)
        flags, noisy = self.plan.keys.release_counts(
            np.tile(self._candidates, (size, 1))
        )
        sets, which = np.unique(flags, axis=0, return_inverse=True)
        rows: list[Any] = [None] * len(sets)
        for i, one in enumerate(sets):
            named = tuple(
                sorted(
                    np.flatnonzero(one).tolist(),
                    key=lambda number: self.found[number],
                )
            )
            rows[i] = iter(self._with_keys(named, int((which.ravel() == i).sum())))
        found = np.array([next(rows[i]) for i in which.ravel()])
        return np.column_stack([found, self._counts(flags, noisy)])

    def _counts(self, flags: NDArray[np.bool_], noisy: Integers) -> Integers:
        """The noisy numbers of units of named keys, at the places of all keys."""
        if not self.plan.counted:
            return np.zeros((len(flags), 0), np.int64)
        wide = np.zeros((len(flags), len(self.universe)), np.int64)
        places = [
            self.universe.index(self.found[number]) for number in range(flags.shape[1])
        ]
        wide[:, places] = np.where(flags, noisy, 0)
        return wide

    @property
    def _candidates(self) -> Integers:
        if "candidates" not in self._known:
            self._known["candidates"] = self.runner.candidates()
        found: Integers = self._known["candidates"]
        return found

    def _with_keys(self, named: Named, size: int) -> Integers:
        """The numbers of the named keys at the places of these keys among all."""
        places = [self.universe.index(self.found[number]) for number in named]
        flags = np.zeros((size, len(self.universe)), np.int64)
        flags[:, places] = 1
        self._name(named)
        parts = [flags]
        for m, measurement in enumerate(self.plan.measurements):
            chosen, numbers = self._item(m, measurement, named, size)
            each = self._width(measurement)
            wide = np.zeros((size, len(self.universe), each), np.int64)
            if named:
                wide[:, places] = numbers.reshape(size, len(named), each)
            parts += [chosen, wide.reshape(size, -1)]
        return np.concatenate(parts, axis=1)

    def _width(self, measurement: Measurement) -> int:
        """Number of numbers in a measurement for each private key."""
        publics = [
            len(key.values) for key in self.plan.question.keys if key.values is not None
        ]
        own = measurement.vector.noisy_size
        return (
            int(np.prod(publics, dtype=np.int64)) * own * (1 + bool(measurement.hiding))
        )

    def _name(self, named: Named) -> None:
        """Let these keys count."""
        if self._known.get("named") != named:
            self.runner.name(list(named))
            self._known["named"] = named

    def _numbers(self, named: Named, size: int) -> Integers:
        parts = [
            part
            for m, measurement in enumerate(self.plan.measurements)
            for part in self._item(m, measurement, named, size)
        ]
        return np.concatenate(parts, axis=1)

    def _item(
        self, m: int, measurement: Measurement, named: Named, size: int
    ) -> tuple[Integers, Integers]:
        """The data from which a radius was chosen, with the radius, and the noisy
        numbers; a row for each draw.
        """
        if measurement.radius is not None:
            return np.zeros((size, 0), np.int64), self._noisy(
                m, measurement, named, measurement.radius, size
            )
        units = self.plan.choosing(measurement).release(
            np.tile(self._units(m, named), (size, 1))
        )
        radii = np.array(
            [
                radius_of(self.plan, measurement, row, self.runner.groups).value
                for row in units.tolist()
            ]
        )
        parts = {
            int(one): self._noisy(
                m, measurement, named, int(one), int((radii == one).sum())
            )
            for one in np.unique(radii)
        }
        found = np.zeros((size, next(iter(parts.values())).shape[1]), np.int64)
        for radius, rows in parts.items():
            found[radii == radius] = rows
        return np.column_stack([units, radii]), found

    def _units(self, m: int, named: Named) -> Integers:
        if ("units", m, named) not in self._known:
            self._known["units", m, named] = self.runner.units(m)
        found: Integers = self._known["units", m, named]
        return found

    def _noisy(
        self, m: int, measurement: Measurement, named: Named, radius: int, size: int
    ) -> Integers:
        """For each draw the numbers of every group, and what clipping hid of it, where
        that is measured.
        """
        if (m, named, radius) not in self._known:
            hidden = (
                self.runner.hidden(m, radius) if measurement.hides(radius) else None
            )
            self._known[m, named, radius] = self.runner.totals(m, radius), hidden
        exact, hidden = self._known[m, named, radius]
        tree = measurement.vector.kind is Kind.TREE
        noisy = _noised(
            self.plan.tree(measurement, radius).noisy
            if tree
            else self.plan.additive(measurement, radius).release,
            exact,
            size,
        )
        if measurement.hiding:
            cut = np.zeros_like(noisy)
            if hidden is not None:
                cut = _noised(
                    self.plan.hidden_tree(measurement, radius).noisy
                    if tree
                    else self.plan.hidden(measurement, radius).release,
                    hidden,
                    size,
                )
            noisy = np.concatenate([noisy, cut], axis=2)
        return noisy.reshape(size, -1)


def _noised(
    release: Callable[[Integers], Integers], exact: Integers, size: int
) -> Integers:
    """`size` copies of exact numbers, each with noise of its own."""
    held = np.clip(exact, -WIDEST, WIDEST).astype(np.int64)
    found: Integers = release(np.tile(held, (size, 1, 1)))
    return found
