"""Made-up targets, and what a loss makes of them: that the model's scores fit the classes,
and that the loss mixes no rows.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from dither.errors import ArgumentError
from dither.learn.gradients.oracle import Loss, row_losses
from dither.learn.schema import Schema
from dither.learn.silence import silently

__all__ = ["IGNORED", "check_loss", "made_up_targets"]

IGNORED = -100
"""The label that PyTorch's losses leave out, of one token among others."""
GOLDEN = (math.sqrt(5) - 1) / 2


def made_up_targets(
    schema: Schema, outputs: Tensor, device: torch.device, declared: int | None
) -> tuple[Tensor, int | None]:
    """Made-up targets, and the number of classes where targets are classes."""
    shape = (len(outputs), *schema.target.shape)
    places = torch.arange(math.prod(shape), device=device)
    if not schema.target.type.is_floating_point:
        classes = _classes(outputs, len(shape), declared)
        return (places % classes).view(shape), classes
    if outputs.shape != shape:
        raise ArgumentError(
            "model",
            f"gives rows of shape {tuple(outputs.shape[1:])} and targets have "
            f"{tuple(shape[1:])}; make them alike, or the loss would spread one over "
            "the other (labels of a frame are declared by classes=)",
        )
    # No two alike, or a loss that spreads one row over all would not be seen.
    parts = 0.25 + 0.5 * (places.to(torch.float64) * GOLDEN % 1.0)
    return parts.to(schema.target.type).view(shape), None


def _classes(outputs: Tensor, dimensions: int, declared: int | None) -> int:
    """How many classes there are scores for. Rows of other labels would not count, which
    nobody may be told after the charge.
    """
    if outputs.ndim != dimensions + 1:
        raise ArgumentError(
            "model",
            f"gives rows of shape {tuple(outputs.shape[1:])}, which are no scores "
            "of classes for whole-number targets; give one score for each class, "
            "or make targets reals",
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
            "has one score for whole-number targets, so rows of class 1 would not count; "
            "give two scores, with cross_entropy, or make targets reals of shape (rows, "
            "1), with binary_cross_entropy_with_logits",
        )
    return classes


def check_loss(loss: Loss, outputs: Tensor, targets: Tensor) -> None:
    """The loss of a batch must be the mean or the sum of what it is for each row."""
    scores = outputs.detach()
    try:
        with silently():
            each = row_losses(loss, scores, targets)
            whole = loss(scores, targets)
    except Exception as error:
        words = str(error).strip().split("\n")[0][:200]
        raise ArgumentError(
            "loss",
            f"cannot be computed for one row ({words}); pass a function of outputs and "
            "targets, such as torch.nn.functional.cross_entropy",
        ) from None
    if each.shape != (len(outputs),) or whole.ndim:
        raise ArgumentError(
            "loss", 'must be one number; pass one with reduction="mean" or "sum"'
        )
    near = [torch.allclose(whole, one, rtol=1e-3) for one in (each.mean(), each.sum())]
    if not any(near) and bool(torch.isfinite(whole)):
        raise ArgumentError(
            "loss",
            "mixes rows: for a batch it is neither the mean nor the sum of what it is "
            'for each row; pass one of single rows (with class weights, reduction="sum"; '
            "of reals, squeeze neither outputs nor targets)",
        )
