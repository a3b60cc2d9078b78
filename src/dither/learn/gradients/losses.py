"""The loss of each row: what the loss gives for a batch of that row alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import vmap
from torch.nn import functional
from torch.utils._pytree import tree_leaves, tree_map

from dither.learn.failures import FAILED, is_machine

__all__ = ["Loss", "is_of_classes", "is_usual", "row_loss", "row_losses", "scores_of"]

Loss = Callable[[Any, Tensor], Tensor]
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


def scores_of(outputs: Any) -> Tensor:
    """The scores among the outputs of a model: the first tensor, if there are several."""
    found: Tensor = next(one for one in tree_leaves(outputs) if one is not None)
    return found


def row_losses(loss: Loss, outputs: Any, targets: Any) -> Tensor:
    """The loss of each row, which cannot mix rows.

    PyTorch's usual losses are computed for all rows at once, if that gives the same; any
    other is called for each row alone.
    """
    found = _usual(loss, outputs, targets)
    return _alone(loss, outputs, targets) if found is None else found


def row_loss(loss: Loss, outputs: Any, targets: Any) -> Tensor:
    """The loss of a batch that is one row."""
    found = _usual(loss, outputs, targets)
    if found is None:
        found = loss(outputs, targets)
    return found.reshape(1)


def _usual(loss: Loss, outputs: Any, targets: Any) -> Tensor | None:
    func, words = _named(loss)
    reduction = words.pop("reduction", "mean")
    if reduction not in ("mean", "sum") or not _plain(outputs, targets):
        return None
    if func in ENTRYWISE and set(words) <= ENTRYWISE[func]:
        each = _entrywise(func, outputs, targets, words)
        if each is not None:
            return each.mean(1) if reduction == "mean" else each.sum(1)
    if func in CLASSES and set(words) <= {"label_smoothing"}:
        return _classes(func, outputs, targets, words, reduction)
    return None


def is_usual(loss: Loss) -> bool:
    """Whether this is a loss of PyTorch's own that compares numbers place by place."""
    return _named(loss)[0] in ENTRYWISE


def is_of_classes(loss: Loss) -> bool:
    """Whether this is a loss of PyTorch's own that takes scores of classes."""
    return _named(loss)[0] in CLASSES


def _plain(outputs: Any, targets: Any) -> bool:
    return isinstance(outputs, Tensor) and isinstance(targets, Tensor)


def _alone(loss: Loss, outputs: Any, targets: Any) -> Tensor:
    rows = [tree_map(_row, one) for one in (outputs, targets)]
    try:
        found: Tensor = vmap(loss, randomness="different")(*rows)
    except FAILED as error:  # a loss that looks at its values, for example
        if is_machine(error):
            raise
        each = [_at(rows, place) for place in range(len(targets))]
        found = torch.stack([loss(*one) for one in each])
    return found


def _row(values: Any) -> Any:
    return None if values is None else values.unsqueeze(1)


def _at(rows: Any, place: int) -> Any:
    return tree_map(lambda one: None if one is None else one[place], rows)


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
    """Rows whose label is not a class have no loss; with several labels, such labels
    are skipped.
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
