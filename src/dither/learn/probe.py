"""What a model does with made-up rows, before anything is charged: that it mixes no rows,
keeps none, and how its gradients are found.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import methodcaller
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parameter import is_lazy
from torch.utils._pytree import tree_leaves, tree_map

from dither.errors import ArgumentError
from dither.learn.draws import Draws
from dither.learn.failures import FAILED, is_machine, words_of
from dither.learn.gradients.alone import Alone
from dither.learn.gradients.oracle import (
    Inputs,
    Loss,
    Oracle,
    called,
    scores_of,
    trained,
)
from dither.learn.gradients.program import Program
from dither.learn.gradients.trace import traced
from dither.learn.history import evaluating
from dither.learn.made_up import made_up
from dither.learn.mixing import check_rows_apart, resized
from dither.learn.route import route_of
from dither.learn.rows import Batch
from dither.learn.schema import Schema
from dither.learn.silence import silently
from dither.learn.state import GENERATORS, HOOKS, Held, held_by
from dither.learn.targets import IGNORED, check_loss, made_up_targets

__all__ = ["Probed", "check_hooks", "check_unchanged", "probe", "probe_final"]

TRIED = 3
"""Rows that a model is tried with."""


@dataclass(frozen=True)
class Probed:
    """How gradients are found, and how many classes the model tells apart; None if the
    target is not a class.
    """

    oracle: Oracle
    classes: int | None
    final: Program | None = None
    """The model in its final form, if it can be traced; else it sees one row at a
    time."""

    @property
    def route(self) -> str:
        if isinstance(self.oracle, Alone):
            why = f" ({self.oracle.why})" if self.oracle.why else ""
            return f"one row at a time{why}"
        return "one backward pass"

    def fitting(self, batch: Batch) -> Batch:
        """The batch without rows whose label is not a class."""
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
    model: nn.Module,
    loss: Loss | None,
    schema: Schema,
    device: torch.device,
    declared: int | None = None,
) -> Program | None:
    """Try a model in its final form, and find the program of its outputs, or of its
    `loss`.
    """
    inputs = tree_map(methodcaller("to", device), made_up(schema, TRIED, model))
    with _undone(model, device) as held, evaluating(model):
        outputs = _outputs(model, inputs, schema)
        _check_nothing_kept(held, inputs)
        check_rows_apart(model, inputs)
        check_unchanged(held)
        targets = made_up_targets(schema, outputs, device, declared)[0]
        if loss is None:
            _check_named(scores_of(outputs), targets)
        return _program(model, loss, inputs if loss is None else (inputs, targets))


def _check_named(scores: Tensor, targets: Tensor) -> None:
    named = scores.argmax(1).shape
    if named != targets.shape:
        raise ArgumentError(
            "validation",
            f"cannot measure accuracy: the model names classes of shape "
            f"{tuple(named[1:])} for each row, and targets have "
            f"{tuple(targets.shape[1:])}; pass bound= to measure the loss",
        )


def _program(model: nn.Module, loss: Loss | None, given: Any) -> Program | None:
    try:
        program = traced(model, loss, tree_map(lambda one: one[:1], given))
        with torch.no_grad(), silently():
            program.run(tree_leaves(given), TRIED)
    except FAILED as error:  # it cannot be traced, or some rule does not take it
        if is_machine(error):
            raise
        return None
    return program


def _check_shapes(model: nn.Module) -> None:
    if any(is_lazy(one) for one in (*model.parameters(), *model.buffers())):
        raise ArgumentError(
            "model", "has layers of unknown shape; call it on a made-up row first"
        )


def _check_parts(model: nn.Module) -> None:
    _check_shapes(model)
    parameters = trained(model)
    if not parameters:
        raise ArgumentError(
            "model",
            "has nothing to train; set requires_grad = True on at least one parameter",
        )
    for name, one in parameters.items():
        if one.dtype not in (torch.float32, torch.float64):
            raise ArgumentError(
                "model",
                f"the parameter {name!r} is {one.dtype}, but noise is added in "
                "float32; call .float() on the model",
            )
    for name, one in held_by(model):
        if isinstance(one, GENERATORS):
            raise ArgumentError(
                "model",
                f"the attribute {name!r} is a generator with its own seed, but random "
                "masks must be secret; leave generator= out",
            )
    for name, module in model.named_modules():
        learns = any(one.requires_grad for one in module.parameters(recurse=False))
        if getattr(module, "sparse", False) and learns:
            raise ArgumentError(
                "model",
                f"the layer {name!r} has sparse gradients, which reveal which of its "
                "rows were used; make it with sparse=False",
            )
        if isinstance(module, _BatchNorm) and module.training:
            kind = type(module).__name__
            other = "LayerNorm" if kind == "BatchNorm1d" else "GroupNorm"
            raise ArgumentError(
                "model",
                f"the layer {name!r} ({kind}) mixes the rows of a batch; use "
                f"nn.{other} instead, or call .eval() on it if its statistics are public",
            )


def check_hooks(model: nn.Module) -> None:
    """Hooks see private rows and gradients without noise, and may change them."""
    _check_shapes(model)
    if any(getattr(nn.modules.module, f"_global{place}", None) for place in HOOKS):
        raise ArgumentError(
            "model",
            "the model would run hooks that are registered for all modules, and they "
            "would see private rows; remove these hooks",
        )
    for name, module in model.named_modules():
        if any(getattr(module, place) for place in HOOKS):
            where = f"the layer {name!r}" if name else "the model"
            raise ArgumentError(
                "model",
                f"{where} ({type(module).__name__}) has hooks, which would see private "
                "rows or gradients without noise; remove them (replace weight_norm and "
                "spectral_norm by those of torch.nn.utils.parametrizations)",
            )
    for name, one in model.named_parameters():
        if one._backward_hooks or getattr(one, "_post_accumulate_grad_hooks", None):
            raise ArgumentError(
                "model",
                f"the parameter {name!r} has hooks, which are not called in private "
                "training; remove them",
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


def _outputs(model: nn.Module, inputs: Inputs, schema: Schema) -> Any:
    try:
        found = called(model, inputs)
    except FAILED as error:
        if is_machine(error):
            raise
        words = words_of(error)
        raise ArgumentError(
            "model",
            f"does not take rows of shape {schema.words} ({words}); {_way_out(schema)}",
        ) from None
    leaves = [one for one in tree_leaves(found) if one is not None]
    if not leaves or not all(map(_has_rows, leaves)):
        raise ArgumentError(
            "model",
            "must return a tensor whose first axis is the rows, or several of them; wrap "
            "it in a module that does",
        )
    return found


def _way_out(schema: Schema) -> str:
    kinds = {one.type for one in tree_leaves(schema.inputs)}
    if kinds & {torch.int64, torch.bool}:
        return (
            "whole numbers reach the model as int64, and booleans as bool: pass "
            "inputs.float(), or call .float() on them in its forward"
        )
    return "pass a model for such rows"


def _has_rows(value: Any) -> bool:
    return isinstance(value, Tensor) and value.ndim > 0 and len(value) == TRIED


def _check_nothing_kept(held: Held, inputs: Inputs) -> None:
    """Rows of any size must leave nothing behind; `inputs` were seen already."""
    for rows in (inputs, *resized(inputs)):
        try:
            called(held.model, rows)
        except FAILED as error:  # a model may refuse rows of another size
            if is_machine(error):
                raise
        check_unchanged(held)


def check_unchanged(held: Held) -> None:
    name = held.changed()
    if name is not None:
        raise ArgumentError(
            "model",
            f"the model keeps values of the rows in {name!r} (a buffer or an "
            "attribute) without noise; call .eval() on that layer, or store nothing "
            "there",
        )
