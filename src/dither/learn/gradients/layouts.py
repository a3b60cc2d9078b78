"""Where rows are in what each layer sees, found out with made-up inputs: the gradient of
one row's loss reaches that row's place and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from dither.learn.gradients.oracle import Loss, row_losses, trained
from dither.learn.gradients.tape import LEADING, SECOND, SHARED, Tape
from dither.learn.gradients.untraceable import Untraceable

__all__ = ["layouts_of"]

Seen = Mapping[int, list[Tensor]]


def layouts_of(
    model: nn.Module, loss: Loss, inputs: Tensor, targets: Tensor
) -> dict[int, str]:
    """The layout of each tapped call; raises `Untraceable` if a call has none."""
    found: dict[int, str] = {}
    first = _gradients(model, loss, inputs, targets, found)
    found = {call: _layout(seen) for call, seen in first.items()}
    if SHARED in found.values():
        again = _gradients(model, loss, inputs, targets, found)
        for call, seen in again.items():
            if found[call] == SHARED and not _apart(seen, lambda one: one):
                raise Untraceable("a layer that sees no rows")
    return found


def _gradients(
    model: nn.Module,
    loss: Loss,
    inputs: Tensor,
    targets: Tensor,
    layouts: Mapping[int, str],
) -> Seen:
    """For each tapped call, the gradient of its output for each row's loss."""
    names = {id(one): name for name, one in trained(model).items()}
    seen: dict[int, list[Tensor]] = {}

    def watch(call: int, gradient: Tensor) -> None:
        seen.setdefault(call, []).append(gradient)

    tape = Tape(names, inputs.shape[0], layouts=layouts, watcher=watch)
    with tape:
        outputs = model(inputs)
    for one in row_losses(loss, outputs, targets):
        torch.autograd.grad(one, tape.anchor, allow_unused=True, retain_graph=True)
    return seen


def _layout(seen: list[Tensor]) -> str:
    if _apart(seen, lambda one: one):
        return LEADING
    if seen[0].ndim > 2 and _apart(seen, lambda one: one.transpose(0, 1)):
        return SECOND
    return SHARED


def _apart(seen: list[Tensor], turned: Callable[[Tensor], Tensor]) -> bool:
    """Whether the gradient of each row's loss is zero at all other rows."""
    count = len(seen)
    for row, gradient in enumerate(seen):
        there = turned(gradient)
        if there.shape[0] % count:
            return False
        each = there.reshape(count, -1).abs().amax(1)
        if each.sum() != each[row]:
            return False
    return True
