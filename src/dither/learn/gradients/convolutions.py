"""Gradients of a convolution's weights for each row, from inputs cut into patches."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from dither.learn.gradients.norms import cheaper
from dither.learn.gradients.products import batched
from dither.learn.gradients.tape import LEADING, Tape
from dither.learn.gradients.uses import Outer, Use, Whole, full

__all__ = ["geometry", "used"]

Geometry = tuple[list[int], list[int], list[int], int]
"""Stride, padding, dilation and groups, one number for each axis."""


def geometry(
    inputs: Tensor,
    weight: Tensor,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> tuple[Tensor, Geometry]:
    """The same convolution with padding in numbers: "same" pads the inputs."""
    axes = weight.ndim - 2
    strides, dilations = _each(stride, axes), _each(dilation, axes)
    if padding == "same":
        inputs = functional.pad(inputs, _same(list(weight.shape[2:]), dilations))
    pads = [0] * axes if isinstance(padding, str) else _each(padding, axes)
    return inputs, (strides, pads, dilations, groups)


def _each(value: Any, axes: int) -> list[int]:
    if isinstance(value, int):
        return [value] * axes
    found = [int(one) for one in value]
    return found * axes if len(found) == 1 else found


def _same(kernel: list[int], dilations: list[int]) -> list[int]:
    """What `functional.pad` adds so that outputs are as many as inputs, last axis first."""
    pads: list[int] = []
    for size, step in reversed(list(zip(kernel, dilations, strict=True))):
        total = step * (size - 1)
        pads += [total // 2, total - total // 2]
    return pads


def used(
    tape: Tape, inputs: Tensor, gradient: Tensor, shape: torch.Size, how: Geometry
) -> Use:
    """How rows used the weights: patches and output gradients where places are few
    beside entries, gradients otherwise.
    """
    stride, padding, dilation, groups = how
    if inputs.ndim == 3:  # a series is an image of height 1
        inputs, gradient = inputs.unsqueeze(2), gradient.unsqueeze(2)
        shape = torch.Size((*shape[:2], 1, shape[2]))
        stride, padding, dilation = [1, *stride], [0, *padding], [1, *dilation]
    how = (stride, padding, dilation, groups)
    if groups == 1:
        return _dense(tape, inputs, gradient, shape, how)
    patches = _patches(inputs, shape[2:], how)
    rows, places = patches.shape[:2]
    lefts = full(gradient).reshape(rows, groups, -1, places)
    rights = full(patches).reshape(rows, places, groups, -1).transpose(1, 2)
    return Whole(tape.summed((lefts @ rights).flatten(1)))


def _dense(
    tape: Tape, inputs: Tensor, gradient: Tensor, shape: torch.Size, how: Geometry
) -> Use:
    patches = _channels_last(inputs, shape[2:], tuple(gradient.shape[2:]), how)
    height, width, places = shape[0], shape[1:].numel(), patches.shape[1]
    kernel = (shape[2:].numel(), shape[1])
    if cheaper(places * tape.rows, height + width, height * width, inputs):
        left = gradient.flatten(2).transpose(1, 2)
        left, right = (tape.arranged(one, LEADING) for one in (left, patches))
        return Outer(left, right, kernel)
    each = batched(gradient.flatten(2), patches.transpose(1, 2))
    return Whole(tape.summed(each), kernel)


def _channels_last(
    inputs: Tensor, kernel: torch.Size, sizes: tuple[int, ...], how: Geometry
) -> Tensor:
    """What each output looked at: [rows, places, height × width × channels].

    With channels last, long runs of numbers are copied at once.
    """
    (down, across), (high, wide), dilation, _ = how
    turned = inputs.permute(0, 2, 3, 1).contiguous()
    if high or wide:
        turned = functional.pad(turned, (0, 0, wide, wide, high, high))
    row, line, spot, _ = turned.stride()
    shape = (len(inputs), *sizes, *kernel, inputs.shape[1])
    steps = (line * down, spot * across, line * dilation[0], spot * dilation[1])
    seen = turned.as_strided(shape, (row, *steps, 1))
    return seen.reshape(len(inputs), sizes[0] * sizes[1], -1)


def _patches(inputs: Tensor, kernel: torch.Size, how: Geometry) -> Tensor:
    """What each output looked at: [rows, places, channels, height, width].

    Twice as fast here as `functional.unfold`, which copies number by number.
    """
    stride, padding, dilation, _ = how
    (high, wide), (down, across) = padding, dilation
    padded = functional.pad(inputs, (wide, wide, high, high))
    spans = [step * (size - 1) + 1 for size, step in zip(kernel, dilation, strict=True)]
    seen = padded.unfold(2, spans[0], stride[0]).unfold(3, spans[1], stride[1])
    seen = seen[..., ::down, ::across].permute(0, 2, 3, 1, 4, 5)
    return seen.flatten(1, 2)
