"""Made-up targets, and what a loss makes of them: that the model's scores fit the classes,
and that the loss mixes no rows.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._pytree import tree_map

from dither.errors import ArgumentError
from dither.learn.failures import FAILED, is_machine
from dither.learn.gradients.losses import is_of_classes, is_usual
from dither.learn.gradients.oracle import Loss, row_losses, scores_of
from dither.learn.schema import Schema
from dither.learn.silence import silently

__all__ = ["IGNORED", "check_loss", "made_up_targets"]

IGNORED = -100
"""The label that PyTorch's losses leave out, of one token among others."""
GOLDEN = (math.sqrt(5) - 1) / 2
SURE = 20.0
"""A score of a class that a model is sure of."""


def made_up_targets(
    schema: Schema, outputs: Any, device: torch.device, declared: int | None
) -> tuple[Tensor, int | None]:
    """Made-up targets, and the number of classes if targets are classes."""
    scores = scores_of(outputs)
    shape = (len(scores), *schema.target.shape)
    places = torch.arange(math.prod(shape), device=device)
    if not schema.target.type.is_floating_point:
        classes = _classes(scores, len(shape), declared)
        return (places % classes).view(shape), classes
    # No two alike, or a loss that spreads one row over all would not be seen.
    parts = 0.25 + 0.5 * (places.to(torch.float64) * GOLDEN % 1.0)
    return parts.to(schema.target.type).view(shape), None


def _classes(outputs: Tensor, dimensions: int, declared: int | None) -> int:
    """Number of classes scores for. Rows of other labels would not count, which nobody
    may be told after the charge.
    """
    if outputs.ndim != dimensions + 1:
        raise ArgumentError(
            "model",
            f"the model returns rows of shape {tuple(outputs.shape[1:])}, but targets "
            "that are whole numbers need one score for each class; give one score for "
            "each class, or make the targets floats",
        )
    classes = outputs.shape[1]
    if declared is not None and classes != declared:
        raise ArgumentError(
            "model",
            f"has {classes:,} {'score' if classes == 1 else 'scores'} for a target of "
            f"{declared:,} declared classes; give one score for each class, with a loss "
            "such as cross_entropy",
        )
    if declared is None and classes < 2:
        raise ArgumentError(
            "model",
            "has one score, but targets are whole numbers, so rows of class 1 would be "
            "ignored; give two scores, with cross_entropy, or make the targets floats "
            "of shape (rows, 1), with binary_cross_entropy_with_logits",
        )
    return classes


def check_loss(loss: Loss, outputs: Any, targets: Tensor) -> None:
    """The loss of a batch must be the mean or the sum of what it is for each row."""
    _check_shapes(loss, outputs, targets)
    _check_axis(loss, outputs, targets)
    scores = tree_map(_detached, outputs)
    try:
        with silently():
            each = row_losses(loss, scores, targets)
            whole = loss(scores, targets)
    except FAILED as error:
        words = str(error).strip().split("\n")[0][:200]
        raise ArgumentError(
            "loss",
            f"cannot be computed for one row ({words}); pass a function of outputs and "
            "targets, such as torch.nn.functional.cross_entropy",
        ) from None
    if each.shape != (len(targets),) or whole.ndim:
        raise ArgumentError(
            "loss",
            'must be a single number; pass one with reduction="mean" or "sum"',
        )
    near = [torch.allclose(whole, one, rtol=1e-3) for one in (each.mean(), each.sum())]
    if not any(near) and bool(torch.isfinite(whole)):
        raise ArgumentError(
            "loss",
            "must be the mean or the sum of the losses of single rows, but this one "
            "mixes rows; pass a loss of single rows (with class weights, use "
            'reduction="sum"; with targets that are floats, squeeze neither outputs '
            "nor targets)",
        )


def _check_shapes(loss: Loss, outputs: Any, targets: Tensor) -> None:
    """Refuse shapes that a loss of PyTorch's own would broadcast over each other."""
    if not isinstance(outputs, Tensor):
        if is_usual(loss) or is_of_classes(loss):
            raise ArgumentError(
                "loss",
                "takes one tensor, but the model returns several; pass a function that "
                "takes them, such as lambda outputs, targets: cross_entropy(outputs[0], "
                "targets)",
            )
        return
    if (
        targets.is_floating_point()
        and is_usual(loss)
        and outputs.shape != targets.shape
    ):
        raise ArgumentError(
            "model",
            f"the model returns rows of shape {tuple(outputs.shape[1:])}, but targets "
            f"have {tuple(targets.shape[1:])}, and the loss would broadcast one over the "
            "other; make the shapes equal (declare the labels of a frame by classes=)",
        )


def _check_axis(loss: Loss, outputs: Any, targets: Tensor) -> None:
    """Labels, predictions and accuracies belong to the second axis of the first output: a
    loss that reads scores elsewhere would have rows left out by labels that are usual.
    """
    scores = scores_of(outputs)
    several = not isinstance(outputs, Tensor)
    if targets.is_floating_point() or (scores.ndim < 3 and not several):
        return
    axes = {1, scores.ndim - 1}
    with silently(), torch.no_grad():
        gains = {axis: _gain(loss, outputs, targets, axis) for axis in axes}
    best = max(gains, key=lambda axis: gains[axis])
    if gains[best] <= 1e-3:
        if several:
            raise ArgumentError(
                "model",
                "the model returns several tensors, and the loss does not take the first "
                "one for the scores of classes; return the scores first",
            )
    elif best != 1 and gains[1] < gains[best] / 2:
        raise ArgumentError(
            "model",
            "the model returns the scores of classes in its last axis, but they are read "
            "from the second one, as PyTorch's losses do; return outputs.movedim(-1, 1), "
            "and pass the loss such outputs",
        )


def _gain(loss: Loss, outputs: Any, targets: Tensor, axis: int) -> float:
    """Loss for scores of the next labels minus that for scores of the right ones, if
    scores of classes are in this axis; 0 if they cannot be.
    """
    sizes = scores_of(outputs).shape
    places = torch.arange(targets.numel(), device=targets.device).view_as(targets)
    labels, found = places % min(sizes[1], sizes[-1]), []
    try:
        for shift in (0, 1):
            next_ones = (labels + shift) % sizes[axis]
            chosen = functional.one_hot(next_ones, sizes[axis]).movedim(-1, axis)
            given = _first_replaced(outputs, SURE * chosen)
            found.append(float(loss(given, labels)))
    except FAILED as error:
        if is_machine(error):
            raise
        return 0.0
    return found[1] - found[0]


def _first_replaced(outputs: Any, scores: Tensor) -> Any:
    first = scores_of(outputs)
    scores = scores.to(first.dtype).view(first.shape)
    return tree_map(lambda one: scores if one is first else _detached(one), outputs)


def _detached(values: Any) -> Any:
    return None if values is None else values.detach()
