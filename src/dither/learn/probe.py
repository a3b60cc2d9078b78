"""What a model does with made-up rows, before anything is charged: that it mixes no rows,
keeps none, and how its gradients are found.
"""

from __future__ import annotations

import random  # allowed: its generators are refused
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from operator import itemgetter, methodcaller

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parameter import is_lazy
from torch.utils._pytree import tree_leaves, tree_map

from dither.errors import ArgumentError
from dither.learn.draws import Draws
from dither.learn.gradients.alone import Alone
from dither.learn.gradients.oracle import (
    Ghost,
    Inputs,
    Loss,
    Oracle,
    called,
    size_of,
    trained,
)
from dither.learn.history import evaluating
from dither.learn.made_up import made_up
from dither.learn.mixing import check_batch_apart, check_rows_apart, resized
from dither.learn.route import route_of
from dither.learn.rows import Batch
from dither.learn.schema import Schema
from dither.learn.separation import decides_nothing
from dither.learn.state import Held, held_by
from dither.learn.targets import IGNORED, check_loss, made_up_targets

__all__ = ["Probed", "check_hooks", "check_unchanged", "probe", "probe_final"]

TRIED = 3
"""Rows that a model is tried with."""
GENERATORS = (
    torch.Generator,
    np.random.Generator,  # allowed: it is refused
    np.random.RandomState,  # allowed: it is refused
    random.Random,
)


@dataclass(frozen=True)
class Probed:
    """How gradients are found, and how many classes the model tells apart; None where
    the target is no class.
    """

    oracle: Oracle
    classes: int | None
    decides: bool = False
    """Whether the model in its final form decides by what is in the rows."""

    @property
    def route(self) -> str:
        if isinstance(self.oracle, Ghost):
            return "one way back"
        alone = isinstance(self.oracle, Alone)
        return "one row at a time" if alone else "row by row"

    def fitting(self, batch: Batch) -> Batch:
        """The batch without rows whose label is none of the classes."""
        if self.classes is None:
            return batch
        targets = batch.targets
        known = (targets >= 0) & (targets < self.classes) | (targets == IGNORED)
        there = batch.there & known.flatten(1).all(1) if known.ndim > 1 else known
        there = there & batch.there
        targets = torch.where(known, targets, 0)
        return Batch(batch.inputs, targets, there)


def probe(
    model: nn.Module,
    loss: Loss,
    schema: Schema,
    device: torch.device,
    declared: int | None = None,
) -> Probed:
    """Try a model; what it does that training cannot protect is refused by name.
    `declared` is how many classes the target has, where somebody said so.
    """
    _check_parts(model)
    inputs = tree_map(methodcaller("to", device), made_up(schema, TRIED, model))
    with _undone(model, device) as held:
        outputs = _outputs(model, inputs, schema)
        _check_nothing_kept(held, inputs)
        check_rows_apart(model, inputs)
        check_unchanged(held)
        targets, classes = made_up_targets(schema, outputs, device, declared)
        check_loss(loss, outputs, targets)
        return Probed(route_of(model, loss, inputs, targets), classes)


def probe_final(
    model: nn.Module, schema: Schema, inputs: Inputs, declared: int | None = None
) -> bool:
    """The same for a model in its final form, on made-up rows of a full part. Whether it
    decides by what is in the rows, and must look at one row at a time.
    """
    device = tree_leaves(inputs)[0].device
    few = tree_map(itemgetter(slice(TRIED)), inputs)
    few = made_up(schema, TRIED, model) if size_of(few) < TRIED else few
    few = tree_map(methodcaller("to", device), few)
    with _undone(model, device) as held, evaluating(model):
        draws = Draws.now(device)
        outputs = _outputs(model, few, schema)
        alone = draws.moved_elsewhere or not decides_nothing(model, inputs)
        _check_nothing_kept(held, few)
        check_rows_apart(model, few)
        if not alone:
            check_batch_apart(model, inputs)
        check_unchanged(held)
        made_up_targets(schema, outputs, device, declared)
    return alone


def _check_shapes(model: nn.Module) -> None:
    if any(is_lazy(one) for one in (*model.parameters(), *model.buffers())):
        raise ArgumentError(
            "model", "has layers without a shape; call it on a made-up row first"
        )


def _check_parts(model: nn.Module) -> None:
    _check_shapes(model)
    parameters = trained(model)
    if not parameters:
        raise ArgumentError(
            "model", "has nothing to train; leave requires_grad on for some parameter"
        )
    for name, one in parameters.items():
        if one.dtype not in (torch.float32, torch.float64):
            raise ArgumentError(
                "model",
                f"parameter {name!r} is {one.dtype}; call .float() on the model: noise "
                "is added in float32",
            )
    for name, one in held_by(model):
        if isinstance(one, GENERATORS):
            raise ArgumentError(
                "model",
                f"{name!r} is a generator with a seed of its own; masks must be secret, "
                "so draw without generator=",
            )
    for name, module in model.named_modules():
        learns = any(one.requires_grad for one in module.parameters(recurse=False))
        if getattr(module, "sparse", False) and learns:
            raise ArgumentError(
                "model",
                f"layer {name!r} has sparse gradients, which show which lines were "
                "used; make it with sparse=False",
            )
        if isinstance(module, _BatchNorm) and module.training:
            raise ArgumentError(
                "model",
                f"layer {name!r} ({type(module).__name__}) mixes the rows of a batch; "
                "use nn.GroupNorm in its place, or call .eval() on it where its "
                "statistics are public",
            )


def check_hooks(model: nn.Module) -> None:
    """Hooks see private rows and gradients without noise, and may change them."""
    _check_shapes(model)
    if any(getattr(nn.modules.module, f"_global{place}", None) for place in HOOKS):
        raise ArgumentError(
            "model",
            "would call hooks that are registered for all modules, which would see "
            "private rows; remove them",
        )
    for name, module in model.named_modules():
        if any(getattr(module, place) for place in HOOKS):
            where = f"layer {name!r}" if name else "the model"
            raise ArgumentError(
                "model",
                f"{where} ({type(module).__name__}) has hooks, which would see private "
                "rows or gradients without noise; remove them (in place of weight_norm "
                "and spectral_norm, use those of torch.nn.utils.parametrizations)",
            )
    for name, one in model.named_parameters():
        if one._backward_hooks or getattr(one, "_post_accumulate_grad_hooks", None):
            raise ArgumentError(
                "model",
                f"parameter {name!r} has hooks, which get no gradients here; remove "
                "them",
            )


HOOKS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
)


@contextmanager
def _undone(model: nn.Module, device: torch.device) -> Iterator[Held]:
    """Leave the model, and what it draws from, as they were."""
    before, draws = Held.of(model), Draws.now(device)
    try:
        yield before
    finally:
        before.restore()
        draws.restore()


def _outputs(model: nn.Module, inputs: Inputs, schema: Schema) -> Tensor:
    try:
        found = called(model, inputs)
    except Exception as error:
        words = str(error).strip().split("\n")[0][:200]
        raise ArgumentError(
            "model",
            f"does not take rows of shape {schema.words} ({words}); pass a model for "
            "such rows",
        ) from None
    if not isinstance(found, Tensor) or not found.ndim or len(found) != TRIED:
        raise ArgumentError(
            "model", "must give one tensor with a line for each row; wrap it so"
        )
    return found


def _check_nothing_kept(held: Held, inputs: Inputs) -> None:
    """Rows of any size must leave nothing behind; `inputs` were seen already."""
    for rows in (inputs, *resized(inputs)):
        with suppress(Exception):  # a model may refuse rows of another size
            called(held.model, rows)
        check_unchanged(held)


def check_unchanged(held: Held) -> None:
    name = held.changed()
    if name is not None:
        raise ArgumentError(
            "model",
            f"keeps {name!r} of the rows it reads, in a buffer or an attribute, which "
            "gets no noise; call .eval() on that layer, or keep nothing",
        )
