"""Private held-out records: how well a model does on them, with noise, as part of what a
run costs.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from dither.errors import ArgumentError
from dither.learn.draws import secret, secretly, sow
from dither.learn.gradients.oracle import Loss, called, row_losses
from dither.learn.history import Figure, evaluating
from dither.learn.probe import Probed
from dither.learn.rows import Batch, Units
from dither.learn.silence import silently
from dither.learn.state import Held
from dither.ledger.attempts import check_process
from dither.mechanisms import Gaussian
from dither.privacy import GaussianDP, Relation, Unit
from dither.privacy.numbers import float_up, positive, whole, written

__all__ = ["HeldOut", "Validation"]

STEPS = 1 << 20
"""What a unit counts for is rounded to so many parts of 1, so that sums are exact."""
LEAST, MOST = 1e-6, 1e9
"""Noise and bounds whose sums and quotients are usual numbers, in 64 bits too."""


def _usual(argument: str, value: Any, way_out: str) -> float:
    found = positive(argument, value, way_out)
    if not LEAST <= found <= MOST:
        raise ArgumentError(
            argument, f"must be between {LEAST:.0e} and {MOST:.0e}; {way_out}"
        )
    return found


@dataclass(frozen=True, eq=False)
class Validation:
    """Private records that measure a run, and do not train it.

    `data` are records like those of the run, and `owner` says whose each is (where the
    run's owner is a column or "row", that is meant); or a number such as 0.2: about that
    part of the run's own units, drawn by a keyed hash of their ids, is held out of
    training. After each `every`-th epoch, and at the end, the units that the model gets
    right are counted with `noise`, the deviation in units; a unit of several rows
    counts for the part that is right. With a `bound` it is the mean loss, of losses
    that are clipped to lie between 0 and it.

    Guarantee: √k / `noise` Gaussian, for k measurements, composed with the steps: a unit
    may be in both.
    Why: each measurement is a pair of sums, right and wrong, to which a unit adds (v, 1 −
    v) with v from 0 to 1, rounded to whole steps of a grid: its norm is at most 1
    (docs/proofs/training.md).
    Assumes: what the run assumes of its model; that it does not mix rows in its final
    form (`eval()`) is tried with made-up rows.
    """

    data: Any
    noise: float
    bound: float | None = None
    every: int = 1
    owner: Any = None

    def __post_init__(self) -> None:
        way_out = "pass the deviation of the noise in units, such as 20"
        object.__setattr__(self, "noise", _usual("noise", self.noise, way_out))
        if self.bound is not None:
            way_out = "pass the largest loss that counts, such as 5.0"
            object.__setattr__(self, "bound", _usual("bound", self.bound, way_out))
        way_out = "pass after how many epochs to measure, such as 1"
        object.__setattr__(self, "every", whole("every", self.every, way_out))
        finite = not isinstance(self.data, float) or math.isfinite(self.data)
        if not finite or (self.part is not None and not 0 < self.part < 1):
            raise ArgumentError(
                "validation", "holds out a part of the units; pass one such as 0.2"
            )

    def __str__(self) -> str:
        whose = (
            "held-out records"
            if self.part is None
            else f"{float(self.part):g} of the units"
        )
        what = "right answers" if self.bound is None else f"losses up to {self.bound:g}"
        when = "each epoch" if self.every == 1 else f"every {self.every} epochs"
        return f"validation: {what} on {whose}, {when}, noise of {self.noise:g} units"

    @property
    def part(self) -> Fraction | None:
        """The part of the units that is held out; None where there are other records."""
        number = isinstance(self.data, int | float) and not isinstance(self.data, bool)
        return written(self.data) if number else None

    def due(self, epoch: int, epochs: int) -> bool:
        return epoch % self.every == 0 or epoch == epochs

    def times(self, epoch: int, epochs: int) -> int:
        """How often is measured up to an epoch."""
        last = epoch == epochs and epoch % self.every
        return epoch // self.every + bool(last)

    def left(self, units: int) -> int:
        """How many of the declared units are trained on, about."""
        if self.part is None:
            return units
        return max(1, math.floor(units * (1 - self.part)))

    def promise(self, times: int, unit: Unit) -> GaussianDP | None:
        """What so many measurements promise together."""
        if not times:
            return None
        root = Fraction(math.isqrt(times << 128) + 1, 1 << 64)
        return GaussianDP(float_up(root * Fraction(self.mechanism(unit).mu)), unit=unit)

    def mechanism(self, unit: Unit) -> Any:
        """The noise of one measurement. Where a unit is replaced, it moves by twice as
        much at most.
        """
        moves = 2 if unit.relation is Relation.REPLACE else 1
        mu = float_up(moves / Fraction(self.noise))
        return Gaussian(sensitivity=moves * STEPS, mu=mu, unit=unit)


@dataclass(frozen=True)
class HeldOut:
    """Held-out units that were read."""

    validation: Validation
    units: Units
    model: nn.Module
    loss: Loss
    probed: Probed
    unit: Unit
    micro: int
    device: torch.device
    process: int = field(default_factory=os.getpid)
    runs: float = field(default=1.0, kw_only=True)
    """The best of so many runs is shown, on average."""

    def measure(self) -> Figure:
        """How well the model does in its final form, with noise."""
        sums = np.zeros(2, np.int64)
        held = Held.of(self.model)
        with (
            evaluating(self.model),
            torch.no_grad(),
            secretly(self.device),
            silently(),
        ):
            for start in range(0, len(self.units), self.micro):
                some = np.arange(start, min(start + self.micro, len(self.units)))
                part = self.units.take(some, self.micro).to(self.device)
                sums += self._counted(self.probed.fitting(part), held)
        return self._figure(sums)

    def _figure(self, sums: Any) -> Figure:
        check_process(self.process)
        mechanism = self.validation.mechanism(self.unit)
        noisy = mechanism.release(sums)
        # Both hold together with 95 %, in all runs: the best one tends to be lucky.
        width = mechanism.error(1 - 0.025 / max(self.runs, 1.0), integer=True)
        one, other = (float(value) / STEPS for value in noisy)
        top = self.validation.bound or 1.0
        found = _ratios(one, other, width / STEPS)
        kind = "accuracy" if self.validation.bound is None else "loss"
        return Figure(kind, *(top * value for value in found))

    def _counted(self, batch: Batch, held: Held) -> Any:
        if self.probed.decides:
            return self._one_by_one(batch, held)
        return self._together(batch, held, secret())

    def _together(self, batch: Batch, held: Held, seed: bytes) -> Any:
        """What the units of a part add. If some record makes the model fail, halves of
        the part are tried, and a unit that fails by itself counts as wrong.
        """
        rows = self.units.most
        sow(self.device, seed)
        try:
            return _summed(self._values(batch, held), batch, rows)
        except torch.OutOfMemoryError:
            raise
        except Exception:
            halves = batch.halves(rows)
        if not halves:
            return _summed(self._worst(len(batch.there)), batch, rows)
        return sum(self._together(half, held, seed) for half in halves)

    def _one_by_one(self, batch: Batch, held: Held) -> Any:
        """The same, where the model must see each row alone."""
        every = []
        for row in batch.each(1):
            try:
                every.append(self._values(row, held).cpu().reshape(1))
            except torch.OutOfMemoryError:
                raise
            except Exception:
                every.append(self._worst(1))
        return _summed(torch.cat(every), batch, self.units.most)

    def _worst(self, count: int) -> Tensor:
        wrong = float(self.validation.bound is not None)
        return torch.full((count,), wrong, device="cpu")

    def _values(self, batch: Batch, held: Held) -> Tensor:
        """A number from 0 to 1 for each row: whether it is right, or its loss."""
        try:
            inputs = tree_map(torch.clone, batch.inputs)  # a model may write into them
            outputs = called(self.model, inputs)
        finally:
            held.restore()
        if self.validation.bound is not None:
            losses = row_losses(self.loss, outputs, batch.targets).double()
            top = self.validation.bound
            return torch.nan_to_num(losses, top, top, 0.0).clamp(0, top) / top
        right: Tensor = (outputs.argmax(1) == batch.targets).float()
        return right if right.ndim == 1 else right.flatten(1).mean(1)


def _summed(values: Tensor, batch: Batch, rows: int) -> Any:
    """The sums over units of (v, 1 − v), in whole steps; v is the mean of a unit's rows
    that are there, and a unit without any adds nothing. Whatever the numbers are, each
    counts for something from 0 to 1.
    """
    there = batch.there.cpu().view(-1, rows)
    usual = torch.nan_to_num(values.double().cpu(), 1.0, 1.0, 0.0).clamp(0, 1)
    each = usual.view(-1, rows).masked_fill(~there, 0.0).sum(1)
    count = there.sum(1)
    mean = (each / count.clamp_min(1)).clamp(0, 1)
    steps = torch.round(mean * STEPS).long()[count > 0]
    return np.array([int(steps.sum()), int((STEPS - steps).sum())], np.int64)


def _ratios(one: float, other: float, width: float) -> tuple[float, float, float]:
    """The part that one number is of both, and its ends if both are off by a width."""
    return (
        _ratio(one, other, 0.5),
        _ratio(one - width, other + width, 0.0),
        _ratio(one + width, other - width, 1.0),
    )


def _ratio(one: float, other: float, unknown: float) -> float:
    first, second = max(one, 0.0), max(other, 0.0)
    return first / (first + second) if first + second else unknown
