"""Gradients of a convolution's weights for each row, from inputs cut into patches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from dither.learn.gradients.norms import cheaper
from dither.learn.gradients.products import batched
from dither.learn.gradients.recorder import Recorder
from dither.learn.gradients.uses import Outer, Use, Whole, full

__all__ = ["Geometry", "each_axis", "geometry", "used"]


class Geometry(NamedTuple):
    """How a kernel is laid over inputs, in PyTorch's order."""

    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    transposed: bool
    outside: Sequence[int]
    groups: int


def geometry(
    inputs: Tensor,
    axes: int,
    kernel: Sequence[int],
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> tuple[Tensor, Geometry]:
    """This convolution with padding in numbers: "same" pads the inputs."""
    strides, dilations = each_axis(stride, axes), each_axis(dilation, axes)
    if padding == "same":
        inputs = functional.pad(inputs, _same(list(kernel), dilations))
    pads = [0] * axes if isinstance(padding, str) else each_axis(padding, axes)
    return inputs, Geometry(strides, pads, dilations, False, [0] * axes, groups)


def each_axis(value: Any, axes: int) -> list[int]:
    """One number for each axis."""
    if isinstance(value, int):
        return [value] * axes
    found = [int(one) for one in value]
    return found * axes if len(found) == 1 else found


def _same(kernel: list[int], dilations: list[int]) -> list[int]:
    """Padding for `functional.pad` that makes the number of outputs equal to that of
    inputs, last axis first.
    """
    pads: list[int] = []
    for size, step in reversed(list(zip(kernel, dilations, strict=True))):
        total = step * (size - 1)
        pads += [total // 2, total - total // 2]
    return pads


def used(
    recorder: Recorder,
    inputs: Tensor,
    gradient: Tensor,
    shape: torch.Size,
    how: Geometry,
) -> Use:
    """How rows used the weights: patches and output gradients where places are few
    beside entries, gradients otherwise.
    """
    if how.transposed or inputs.ndim > 4:
        return Whole(recorder.summed(_each_weight(inputs, gradient, shape, how)))
    if inputs.ndim == 3:  # a series is an image of height 1
        inputs, gradient = inputs.unsqueeze(2), gradient.unsqueeze(2)
        shape = torch.Size((*shape[:2], 1, shape[2]))
        stride, padding, dilation = (
            [one, *each] for one, each in zip((1, 0, 1), how[:3], strict=True)
        )
        how = Geometry(stride, padding, dilation, False, [0, 0], how.groups)
    if how.groups == 1:
        return _dense(recorder, inputs, gradient, shape, how)
    patches = _patches(inputs, shape[2:], how)
    rows, places = patches.shape[:2]
    lefts = full(gradient).reshape(rows, how.groups, -1, places)
    rights = full(patches).reshape(rows, places, how.groups, -1).transpose(1, 2)
    return Whole(recorder.summed((lefts @ rights).flatten(1)))


def _each_weight(
    inputs: Tensor, gradient: Tensor, shape: torch.Size, how: Geometry
) -> Tensor:
    """The gradient of the weights for each row, by PyTorch's own way back."""
    blank = inputs.new_zeros(shape)

    def one(before: Tensor, back: Tensor) -> Tensor:
        asked = [False, True, False]
        found: Tensor = torch.ops.aten.convolution_backward(
            back[None], before[None], blank, None, *how, asked
        )[1]
        return found

    found: Tensor = torch.vmap(one)(full(inputs), full(gradient))
    return found


def _dense(
    recorder: Recorder,
    inputs: Tensor,
    gradient: Tensor,
    shape: torch.Size,
    how: Geometry,
) -> Use:
    patches = _channels_last(inputs, shape[2:], tuple(gradient.shape[2:]), how)
    height, width, places = shape[0], shape[1:].numel(), patches.shape[1]
    kernel = (shape[2:].numel(), shape[1])
    if cheaper(
        places * len(inputs) // recorder.units, height + width, height * width, inputs
    ):
        left = gradient.flatten(2).transpose(1, 2)
        left, right = (recorder.arranged(one) for one in (left, patches))
        return Outer(left, right, kernel)
    each = batched(gradient.flatten(2), patches.transpose(1, 2))
    return Whole(recorder.summed(each), kernel)


def _channels_last(
    inputs: Tensor, kernel: torch.Size, sizes: tuple[int, ...], how: Geometry
) -> Tensor:
    """What each output looked at: [rows, places, height × width × channels].

    With channels last, long runs of numbers are copied at once.
    """
    (down, across), (high, wide), dilation = how[:3]
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
    stride, (high, wide), (down, across) = how[:3]
    padded = functional.pad(inputs, (wide, wide, high, high))
    spans = [
        step * (size - 1) + 1 for size, step in zip(kernel, how.dilation, strict=True)
    ]
    seen = padded.unfold(2, spans[0], stride[0]).unfold(3, spans[1], stride[1])
    seen = seen[..., ::down, ::across].permute(0, 2, 3, 1, 4, 5)
    return seen.flatten(1, 2)
