"""Private held-out records: how well a model does on them, with noise, as part of what a
run costs.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from dither.errors import ArgumentError
from dither.learn.draws import apart, secret, secretly, sow
from dither.learn.eager import undisturbed
from dither.learn.gradients.oracle import Loss, called, row_losses, scores_of
from dither.learn.history import Figure, evaluating
from dither.learn.made_up import made_up_part
from dither.learn.parts import each_part, start_again
from dither.learn.probe import Probed
from dither.learn.rows import Batch, Units
from dither.learn.sampler import placed
from dither.learn.schema import Schema
from dither.learn.silence import silently
from dither.learn.state import Held
from dither.ledger.attempts import check_process
from dither.mechanisms import Gaussian
from dither.privacy import GaussianDP, Relation, Unit
from dither.privacy.numbers import float_up, positive, whole, written

__all__ = ["HeldOut", "Validation"]

STEPS = 1 << 20
"""Number of parts of 1 to which the weight of a unit is rounded, so that sums are
exact.
"""
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
    Assumes: what the run assumes of its model, which is traced in its final form
    (`eval()`) too.
    """

    data: Any
    noise: float
    bound: float | None = None
    every: int = 1
    owner: Any = None

    def __post_init__(self) -> None:
        way_out = "pass the standard deviation of the noise in units, such as 20"
        object.__setattr__(self, "noise", _usual("noise", self.noise, way_out))
        if self.bound is not None:
            way_out = "pass the value that losses are clipped to, such as 5.0"
            object.__setattr__(self, "bound", _usual("bound", self.bound, way_out))
        way_out = "pass the number of epochs between measurements, such as 1"
        object.__setattr__(self, "every", whole("every", self.every, way_out))
        finite = not isinstance(self.data, float) or math.isfinite(self.data)
        if not finite or (self.part is not None and not 0 < self.part < 1):
            raise ArgumentError(
                "validation",
                "must hold out a part of the units between 0 and 1; pass one such as "
                "0.2",
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
    fresh: nn.Module
    loss: Loss
    probed: Probed
    schema: Schema
    unit: Unit
    micro: int
    device: torch.device
    process: int = field(default_factory=os.getpid)
    runs: float = field(default=1.0, kw_only=True)
    """Average number of runs of which the best one is shown."""

    def measure(self) -> Figure:
        """The quality of the model in its final form, with noise."""
        return self._figure(self.counted())

    def counted(self) -> Any:
        """The sums of right and wrong answers without noise, in whole steps."""
        sums = np.zeros(2, np.int64)
        with (
            evaluating(self.model),
            torch.no_grad(),
            secretly(self.device),
            silently(),
        ):
            # In its final form, which it is put back to.
            code = () if self.probed.final is not None else (self.loss,)
            held = Held.of(self.model, *code)
            places = placed(np.arange(len(self.units)), self.micro)
            for some in places.reshape(-1, self.micro):
                part = self.units.take(some, self.micro).to(self.device)
                sums += self._counted(self.probed.fitting(part), held)
        return sums

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
        if self.probed.final is None:
            return self._one_by_one(batch, held)
        return self._together(batch, held, secret())

    def _together(self, batch: Batch, held: Held, seed: bytes) -> Any:
        """What the units of a part add. If some record makes the model fail, halves of
        the part are tried, and a unit that fails by itself is treated as wrong.
        """
        rows, count = self.units.most, len(batch.there)

        def summed(part: Batch) -> Any:
            sow(self.device, seed)
            return _summed(self._values(part, held), part, rows)

        proof = partial(self._proof, count, held)
        return sum(
            _summed(self._worst(count), part, rows) if found is None else found
            for part, found in each_part(batch, rows, summed, proof)
        )

    def _one_by_one(self, batch: Batch, held: Held) -> Any:
        """The measure if the model cannot be traced, and must see each row alone."""

        begin, proof = apart(self.device), partial(self._proof, 1, held)

        def value(place: int, row: Batch) -> Tensor:
            begin(place)
            return self._values(row, held).cpu().reshape(1)

        every = [
            self._worst(1) if found is None else found
            for place, row in enumerate(batch.each(1))
            for _, found in each_part(row, 1, partial(value, place), proof)
        ]
        return _summed(torch.cat(every), batch, self.units.most)

    @cached_property
    def filler(self) -> Batch:
        """A made-up row, in the place of rows that only fill up: the model takes it."""
        return made_up_part(self.schema, 1, self.model).to(self.device)

    def _proof(self, count: int, held: Held) -> None:
        """Measure made-up rows with the starting weights."""
        start_again(self.model, self.fresh)
        part = made_up_part(self.schema, count, self.model).to(self.device)
        self._values(self.probed.fitting(part), held).cpu()

    def _worst(self, count: int) -> Tensor:
        wrong = float(self.validation.bound is not None)
        return torch.full((count,), wrong, device="cpu")

    def _values(self, batch: Batch, held: Held) -> Tensor:
        """A number from 0 to 1 for each row: whether it is right, or its loss."""
        top = self.validation.bound
        try:
            with undisturbed(self.device):
                found = self._found(batch.filled(self.filler))
        finally:
            held.restore()
        if top is not None:
            return torch.nan_to_num(found.double(), top, top, 0.0).clamp(0, top) / top
        right: Tensor = (found.argmax(1) == batch.targets).float()
        return right if right.ndim == 1 else right.flatten(1).mean(1)

    def _found(self, batch: Batch) -> Tensor:
        """The loss of each row if losses are measured, else its scores."""
        own, losses = (
            batch.map(torch.clone),
            self.validation.bound,
        )  # it may be written to
        if self.probed.final is not None:
            given = own.inputs if losses is None else (own.inputs, own.targets)
            found = self.probed.final.run(tree_leaves(given), len(own.there))
            return scores_of(found).flatten(0, 1)
        outputs = called(self.model, own.inputs)
        if losses is None:
            return scores_of(outputs)
        return row_losses(self.loss, outputs, own.targets)


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
