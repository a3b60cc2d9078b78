"""Reading patients off an update: a linear layer's gradients hold its inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.rebuilt import percent
from dither.audit.attacks.roc import Allowed
from dither.axes import Axes, Scale
from dither.errors import ArgumentError
from dither.picture import Picture, Shape, Text
from dither.privacy import Guarantee
from dither.privacy.binomial import upper
from dither.privacy.numbers import positive

__all__ = ["Inspection", "inspection"]

Reals = NDArray[np.float64]

LEAST, MOST, POINTS = 1e-6, 10.0, 71
"""The errors that a picture shows."""
WAY_OUT = (
    "pass updates with the weights and the bias of a linear layer that sees records"
)


@dataclass(frozen=True)
class Inspection:
    """How near an attacker comes to patients' records by dividing numbers of an update.

    `errors` has the largest difference in any number between each patient's record and
    the reading nearest to it; `by_chance` the same for readings of an update that the
    patient is not in. A record counts as read if all of its numbers are within the
    `tolerance`.
    """

    errors: Reals
    by_chance: Reals
    tolerance: float
    updates: int
    guarantee: Guarantee | None = None

    @property
    def patients(self) -> int:
        return int(self.errors.size)

    @property
    def share(self) -> float:
        """The share of patients whose records are read off."""
        return self._within(self.errors, self.tolerance)

    @property
    def chance(self) -> float:
        """The share that is read off updates that the patients are not in."""
        return self._within(self.by_chance, self.tolerance)

    @property
    def standard_error(self) -> float:
        """Of the share, over patients; never below that of one patient more or less."""
        part = min(max(self.share, 1 / self.patients), 1 - 1 / self.patients)
        return math.sqrt(max(part * (1 - part), 0.0) / self.patients)

    @property
    def bound(self) -> float | None:
        """The largest share that the guarantee allows, with what chance has at most
        (97.5 %): no test tells updates with a patient from those without any better.
        """
        return self._bound(self.tolerance)

    def _bound(self, tolerance: float) -> float | None:
        if self.guarantee is None:
            return None
        hits = int((self.by_chance <= tolerance).sum())
        chance = upper(hits, self.patients, 0.025)
        return min(1.0, self._allowed.power(chance))

    @cached_property
    def _allowed(self) -> Allowed:
        assert self.guarantee is not None
        return Allowed(self.guarantee)

    @staticmethod
    def _within(errors: Reals, tolerance: float) -> float:
        return float((errors <= tolerance).mean())

    def plot(self, title: str = "Records read off an update") -> Picture:
        """The share of records that are read, by how near a reading must be."""
        axes = Axes(64, 40, 360, 260, Scale(LEAST, MOST, log=True), Scale(0, 1))
        shapes = [*self._drawn(axes), Text(64, 20, title, bold=True)]
        return Picture.of(448, 360, shapes, title)

    def _drawn(self, axes: Axes) -> Iterator[Shape]:
        yield from axes.frame("largest error of any number", "share of patients")
        xs = [float(one) for one in np.geomspace(LEAST, MOST, POINTS)]
        names = [f"attack: {percent(self.share)}", f"chance: {percent(self.chance)}"]
        for style, errors in enumerate((self.errors, self.by_chance)):
            yield axes.line(xs, [self._within(errors, x) for x in xs], style)
        if self.bound is not None:
            by = [self._bound(x) or 0.0 for x in xs]
            yield axes.line(xs, by, 2)
            names.append(f"allowed: {percent(self.bound)}")
        yield from axes.legend(names)

    def __str__(self) -> str:
        lines = [
            f"Inspection of {self.updates:,} updates: {percent(self.share, 1)} ± "
            f"{percent(1.96 * self.standard_error, 1)} of {self.patients:,} records are "
            f"read off within {self.tolerance:g} in every number "
            f"(chance {percent(self.chance, 1)}).",
        ]
        if self.bound is not None:
            lines.append(
                f"The guarantee allows at most {percent(self.bound, 1)}, given this "
                "chance."
            )
        lines.append(
            "This attack divides two gradients of one linear layer; that it fails says "
            "nothing about others. A guarantee does."
        )
        return "\n".join(lines)


def inspection(
    updates: Sequence[Any],
    records: Sequence[Any],
    *,
    tolerance: float = 0.01,
    guarantee: Guarantee | None = None,
) -> Inspection:
    """Read patients' records off updates of a model whose first layer is linear.

    A neuron's gradients are (the loss's slope) × (the record) for its weights, and the
    slope alone for its bias: their quotient is the record, exactly, wherever one record
    alone moves a neuron. That is always so in a batch of one, and in larger batches for
    neurons that fire for one record only (Phong et al. 2018). The step size divides out.

    `updates` are gradients or changes of weights after one step, each as arrays by their
    names, a list of arrays, or what a hospital sends. `records` has the true records
    behind each: a row, or a matrix of those in its batch. `guarantee` is what one of
    these updates promises.
    """
    near = positive("tolerance", tolerance, "pass an error such as 0.01")
    truths = [np.atleast_2d(np.asarray(one, np.float64)) for one in records]
    if len(updates) != len(truths) or len(truths) < 2:
        raise ArgumentError(
            "records",
            "must have one entry for each update, and at least two entries; pass the "
            "records in the order of the updates",
        )
    width = truths[0].shape[1]
    if any(one.ndim != 2 or one.shape[1] != width or not one.size for one in truths):
        raise ArgumentError(
            "records", "must all have rows of the same length; pass padded rows"
        )
    readings = [_readings(one, width) for one in updates]
    # Whoever is in one update is not in the one before it.
    others = [readings[-1], *readings[:-1]]
    return Inspection(
        _errors(truths, readings),
        _errors(truths, others),
        near,
        len(readings),
        guarantee,
    )


def _readings(update: Any, width: int) -> Reals:
    """The record that each neuron implies if a single record moved it."""
    weights, bias = _layer(_arrays(update), width)
    moved = np.isfinite(bias) & (bias != 0) & np.isfinite(weights).all(axis=1)
    with np.errstate(over="ignore"):
        found: Reals = weights[moved] / bias[moved, None]
    return found


def _arrays(update: Any) -> list[Reals]:
    held = getattr(update, "arrays", update)
    listed = held.values() if isinstance(held, Mapping) else held
    try:
        return [np.asarray(getattr(one, "detach", lambda o=one: o)()) for one in listed]
    except Exception:
        raise ArgumentError("updates", f"must contain arrays; {WAY_OUT}") from None


def _layer(arrays: list[Reals], width: int) -> tuple[Reals, Reals]:
    """The first matrix that takes such records, and its bias."""
    for one, two in pairwise(arrays):
        if one.ndim == 2 and one.shape[1] == width and two.shape == one.shape[:1]:
            return one.astype(np.float64), two.astype(np.float64)
    raise ArgumentError(
        "updates",
        f"must have a linear layer for records of {width:,} numbers; {WAY_OUT}",
    )


def _errors(truths: Sequence[Reals], readings: Sequence[Reals]) -> Reals:
    """Distance of each record from the reading nearest to it."""
    found = []
    for rows, read in zip(truths, readings, strict=True):
        for row in rows:
            apart = np.abs(read - row).max(axis=1, initial=0.0)
            found.append(float(apart.min(initial=math.inf)))
    return np.array(found)
