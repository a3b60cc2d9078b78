"""Rules for convolutions: rows are folded into their first axis."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from dither.learn.gradients import layers
from dither.learn.gradients.convolutions import Geometry, each_axis, geometry
from dither.learn.gradients.rowed import Context, Rowed, Rule, is_plain, is_shared

__all__ = ["RULES"]


def _convolution(
    context: Context,
    _: Any,
    inputs: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    if not is_shared(weight, bias):
        return NotImplemented
    rows, axes = _images(context, inputs, weight), weight.ndim - 2
    shape = weight.shape[2:]
    values, how = geometry(
        rows.folded(), axes, shape, stride, padding, dilation, groups
    )
    return _unfolded(inputs, rows, _convolved(context, values, weight, bias, how))


def _images(context: Context, inputs: Any, weight: Any) -> Rowed:
    rows = context.rows(inputs)
    return Rowed(rows.values.unsqueeze(1)) if rows.ndim < weight.ndim else rows


def _unfolded(inputs: Any, rows: Rowed, found: Tensor) -> Rowed:
    result = rows.like(found)
    return result if rows.ndim == inputs.ndim else Rowed(result.values.squeeze(1))


def _convolved(
    context: Context, values: Tensor, weight: Any, bias: Any, how: Geometry
) -> Tensor:
    if context.recorder is not None and not is_plain(weight, bias):
        return layers.convolution(context.recorder, values, weight, bias, how)
    kernel, shift = (layers.plain(one) for one in (weight, bias))
    found: Tensor = torch.ops.aten.convolution(values, kernel, shift, *how)
    return found


def _transposed_convolution(
    context: Context,
    _: Any,
    inputs: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    outside: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    if not is_shared(weight, bias):
        return NotImplemented
    rows, axes = _images(context, inputs, weight), weight.ndim - 2
    steps, pads, more, apart = (
        each_axis(one, axes) for one in (stride, padding, outside, dilation)
    )
    how = Geometry(steps, pads, apart, True, more, groups)
    found = _convolved(context, rows.folded(), weight, bias, how)
    return _unfolded(inputs, rows, found)


RULES: dict[str, Rule] = {
    "conv1d": _convolution,
    "conv2d": _convolution,
    "conv3d": _convolution,
    "conv_transpose1d": _transposed_convolution,
    "conv_transpose2d": _transposed_convolution,
    "conv_transpose3d": _transposed_convolution,
}
