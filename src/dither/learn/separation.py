"""Whether one unit has any part in what the gradients of others are, found out with
made-up rows on the way forward *and back*.

A model may look at all rows only where some are short, or alike, or have large gradients:
such batches are tried too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_leaves, tree_map

from dither.learn.draws import Draws
from dither.learn.gradients.norms import Measured
from dither.learn.gradients.oracle import Ghost, Inputs, Loss, called
from dither.learn.made_up import LOOKUPS
from dither.learn.rows import Batch
from dither.learn.silence import silently

__all__ = ["alike", "decides_nothing", "gradients_apart", "short"]

LARGE = 1e6
NEAR = 1e-4


def gradients_apart(
    oracle: Ghost, batch: Batch, rows: int = 1, few: bool = False
) -> bool:
    """Whether the other units' gradients stay as they are when the second is gone, is
    another one, is large, or is no number. Where rows are `few`, so do batches of short
    and of equal rows, and gradients that are large.
    """
    if len(batch.there) < 2 * rows:
        return True
    trial = Trial(oracle, rows, Draws.now(batch.targets.device))
    if not trial.apart(batch, _changes(batch, rows)):
        return False
    if not few:
        return True
    louder = replace(oracle, loss=partial(_louder, oracle.loss))
    if not replace(trial, oracle=louder).apart(batch, [batch]):
        return False
    for inputs in (short(batch.inputs, oracle.model), alike(batch.inputs)):
        odd = replace(batch, inputs=inputs)
        if not trial.apart(odd, [odd, _second(odd, batch, rows)]):
            return False
    return True


def decides_nothing(model: nn.Module, inputs: Inputs) -> bool:
    """Whether a model does the same whatever is in the rows: PyTorch's `vmap` refuses
    every decision by a number that is computed from them, or drawn.
    """
    one = tree_map(lambda values: values[None], inputs)
    every = vmap(lambda rows: called(model, rows), randomness="different")
    try:
        with sdpa_kernel(SDPBackend.MATH), silently():
            every(one)
    except torch.OutOfMemoryError:
        fewer = tree_map(lambda values: values[: -(-len(values) // 4)], inputs)
        return decides_nothing(model, fewer)
    except Exception:  # whatever a model of somebody's own raises
        return False
    return True


def _louder(loss: Loss, outputs: Tensor, targets: Tensor) -> Tensor:
    return loss(outputs, targets) * LARGE


@dataclass(frozen=True)
class Trial:
    """All batches are tried with the same draws."""

    oracle: Ghost
    rows: int
    draws: Draws

    def apart(self, batch: Batch, changes: list[Batch]) -> bool:
        """Whether the other units are what they are without the second."""
        alone = self._others(_without_second(batch, self.rows))
        for one in changes:
            try:
                found = self._others(one)
            except Exception:  # a model may refuse what is no number
                continue
            if not _same(alone, found):
                return False
        return True

    def _others(self, batch: Batch) -> dict[str, tuple[Tensor, Tensor]]:
        """Squared norms and the sum of the other units' gradients."""
        self.draws.restore()
        inputs = tree_map(torch.clone, batch.inputs)  # a model may write into them
        found = self.oracle.measured(inputs, batch.targets, batch.there, self.rows)
        return {name: _rest(one) for name, one in found.items()}


def _rest(found: Measured) -> tuple[Tensor, Tensor]:
    second = torch.zeros_like(found.squares, dtype=torch.bool)
    second[1] = True
    others = (~second).to(torch.float32)
    return found.squares[~second], found.without(second).total(others).double()


def _same(
    one: dict[str, tuple[Tensor, Tensor]], two: dict[str, tuple[Tensor, Tensor]]
) -> bool:
    if set(one) != set(two):
        return False
    return all(
        _near(*pair) for name in one for pair in zip(one[name], two[name], strict=True)
    )


def _near(one: Tensor, two: Tensor) -> bool:
    size = one[one.isfinite()].abs().max() if one.isfinite().any() else 0.0
    return torch.allclose(one, two, NEAR, NEAR * float(size) + 1e-12, equal_nan=True)


def _without_second(batch: Batch, rows: int) -> Batch:
    there = batch.there.clone()
    there[rows : 2 * rows] = 0
    inputs = tree_map(lambda one: _filled(one, rows, 0), batch.inputs)
    return Batch(inputs, _filled(batch.targets, rows, 0), there)


def _changes(batch: Batch, rows: int) -> list[Batch]:
    real = any(one.is_floating_point() for one in tree_leaves(batch.inputs))
    values = (LARGE, torch.nan) if real else (LARGE,)
    return [_changed(batch, rows, value) for value in values]


def _changed(batch: Batch, rows: int, value: float) -> Batch:
    """The same but for the second unit's numbers; of whole numbers, the largest."""
    inputs = tree_map(lambda one: _filled(one, rows, value), batch.inputs)
    targets = batch.targets
    if targets.is_floating_point():
        targets = _filled(targets, rows, LARGE)
    return Batch(inputs, targets, batch.there)


def _filled(values: Tensor, rows: int, value: float) -> Tensor:
    found = values.clone()
    real = values.is_floating_point()
    found[rows : 2 * rows] = value if real or not value else int(values.max())
    return found


def _second(batch: Batch, other: Batch, rows: int) -> Batch:
    """The same, with the second unit of another batch."""
    own = slice(rows, 2 * rows)

    def taken(mine: Tensor, theirs: Tensor) -> Tensor:
        found = mine.clone()
        found[own] = theirs[own]
        return found

    return replace(batch, inputs=tree_map(taken, batch.inputs, other.inputs))


def short(inputs: Inputs, model: nn.Module) -> Inputs:
    """The same rows, with nothing after their first place but what fills them up."""
    found = [one.padding_idx for one in model.modules() if isinstance(one, LOOKUPS)]
    padding = next((one for one in found if one is not None), 0)

    def cut(values: Tensor) -> Tensor:
        first: Any = (slice(None), *[0] * (values.ndim - 1))
        ends = torch.full_like(values, 0 if values.is_floating_point() else padding)
        ends[first] = values[first]
        return ends

    return tree_map(cut, inputs)


def alike(inputs: Inputs) -> Inputs:
    """The first row, as often as there are rows."""
    return tree_map(lambda one: one[:1].expand_as(one).clone(), inputs)
