"""The loss of each row: what the loss gives for a batch of that row alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import vmap
from torch.nn import functional

__all__ = ["Loss", "row_losses"]

Loss = Callable[[Tensor, Tensor], Tensor]
OUTSIDE = -100
"""The label that PyTorch's losses pass over."""
ENTRYWISE = {
    functional.mse_loss: {"reduction"},
    functional.l1_loss: {"reduction"},
    functional.smooth_l1_loss: {"reduction", "beta"},
    functional.huber_loss: {"reduction", "delta"},
    functional.binary_cross_entropy: {"reduction"},
    functional.binary_cross_entropy_with_logits: {"reduction"},
}
CLASSES = {functional.cross_entropy, functional.nll_loss}
MODULES: dict[type, tuple[Any, tuple[str, ...]]] = {
    nn.MSELoss: (functional.mse_loss, ("reduction",)),
    nn.L1Loss: (functional.l1_loss, ("reduction",)),
    nn.CrossEntropyLoss: (
        functional.cross_entropy,
        ("reduction", "label_smoothing", "weight", "ignore_index"),
    ),
    nn.BCEWithLogitsLoss: (
        functional.binary_cross_entropy_with_logits,
        ("reduction", "weight", "pos_weight"),
    ),
}


def row_losses(loss: Loss, outputs: Any, targets: Any) -> Tensor:
    """The loss of each row, which cannot mix rows.

    PyTorch's usual losses are asked for all rows at once, where they give the same; any
    other is called for each row alone.
    """
    func, words = _named(loss)
    reduction = words.pop("reduction", "mean")
    if reduction in ("mean", "sum") and _plain(outputs, targets):
        if func in ENTRYWISE and set(words) <= ENTRYWISE[func]:
            each = _entrywise(func, outputs, targets, words)
            if each is not None:
                return each.mean(1) if reduction == "mean" else each.sum(1)
        if func in CLASSES and set(words) <= {"label_smoothing"}:
            found = _classes(func, outputs, targets, words, reduction)
            if found is not None:
                return found
    return _alone(loss, outputs, targets)


def _plain(outputs: Any, targets: Any) -> bool:
    return isinstance(outputs, Tensor) and isinstance(targets, Tensor)


def _alone(loss: Loss, outputs: Any, targets: Any) -> Tensor:
    rows = [torch.utils._pytree.tree_map(_row, one) for one in (outputs, targets)]
    found: Tensor = vmap(loss, randomness="different")(*rows)
    return found


def _row(values: Tensor) -> Tensor:
    return values.unsqueeze(1)


def _named(loss: Loss) -> tuple[Any, dict[str, Any]]:
    """The function and its options."""
    if isinstance(loss, partial) and not loss.args:
        return loss.func, dict(loss.keywords)
    if type(loss) in MODULES:
        func, names = MODULES[type(loss)]
        words = {name: getattr(loss, name) for name in names}
        usual = {"weight": None, "pos_weight": None, "ignore_index": OUTSIDE}
        return func, {k: v for k, v in words.items() if k not in usual or v != usual[k]}
    return loss, {}


def _entrywise(
    func: Any, outputs: Tensor, targets: Tensor, words: dict[str, Any]
) -> Tensor | None:
    if outputs.dtype == torch.bfloat16:  # autocast computes losses in float32
        outputs = outputs.float()
    # Other shapes would be spread over each other, and rows with them.
    if outputs.shape != targets.shape or outputs.dtype != targets.dtype:
        return None
    found: Tensor = func(outputs, targets, reduction="none", **words)
    return found.reshape(len(outputs), -1)


def _classes(
    func: Any, outputs: Tensor, targets: Tensor, words: dict[str, Any], reduction: str
) -> Tensor | None:
    """Rows whose label is none of the classes have no loss; of several labels, such
    ones are passed over.
    """
    if targets.dtype != torch.int64 or outputs.ndim != targets.ndim + 1:
        return None
    if (outputs.shape[0], *outputs.shape[2:]) != tuple(targets.shape):
        return None
    classes = outputs.shape[1]
    known = (targets >= 0) & (targets < classes)
    labels = torch.where(known, targets, OUTSIDE)
    if outputs.ndim == 2:
        alone: Tensor = func(outputs, labels, reduction="none", **words)
        return alone
    # A line of scores for each label: no copy where classes are last in memory.
    scores = outputs.movedim(1, -1).reshape(-1, classes)
    found: Tensor = func(scores, labels.flatten(), reduction="none", **words)
    total = found.view(len(outputs), -1).sum(1)
    return total / known.flatten(1).sum(1) if reduction == "mean" else total
