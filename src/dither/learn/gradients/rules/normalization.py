"""Rules for norms: what all rows share is multiplied and added behind them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from dither.learn.gradients import layers
from dither.learn.gradients.rowed import Context, Rowed, Rule, is_plain, is_shared
from dither.learn.gradients.untraceable import Untraceable

__all__ = ["RULES"]


def _layer_norm(
    context: Context,
    _: Any,
    inputs: Any,
    shape: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    *__: Any,
) -> Any:
    if not is_shared(weight, bias):
        return NotImplemented
    values, shape = context.rows(inputs).values, list(shape)
    if context.recorder is None or is_plain(weight, bias):
        scale, shift = layers.plain(weight), layers.plain(bias)
        return Rowed(functional.layer_norm(values, shape, scale, shift, eps))
    return Rowed(layers.layer_norm(context.recorder, values, shape, weight, bias, eps))


def _rms_norm(
    context: Context,
    _: Any,
    inputs: Any,
    shape: Any,
    weight: Any = None,
    eps: float | None = None,
) -> Any:
    if not is_shared(weight):
        return NotImplemented
    found = functional.rms_norm(context.rows(inputs).values, list(shape), eps=eps)
    return Rowed(_scaled(context, found, weight, None, tuple(shape)))


def _scaled(
    context: Context, values: Tensor, weight: Any, bias: Any, shape: tuple[int, ...]
) -> Tensor:
    """Times a weight, plus a bias, of this shape."""
    if weight is None and bias is None:
        return values
    if context.recorder is not None and not is_plain(weight, bias):
        return layers.affine(context.recorder, values, weight, bias, shape)
    sides = [layers.plain(one) for one in (weight, bias)]
    scale, shift = [None if one is None else one.view(shape) for one in sides]
    values = values if scale is None else values * scale
    return values if shift is None else values + shift


def _by_channel(values: Tensor) -> tuple[int, ...]:
    """The shape of a number for each channel, beside [rows, channels, …]."""
    return (values.shape[1], *[1] * (values.ndim - 2))


def _group_norm(
    context: Context,
    _: Any,
    inputs: Any,
    groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    __: bool = True,
) -> Any:
    if not is_shared(weight, bias):
        return NotImplemented
    rows = context.rows(inputs)
    found = functional.group_norm(rows.folded(), groups, eps=eps)
    return rows.like(_scaled(context, found, weight, bias, _by_channel(found)))


def _instance_norm(
    context: Context,
    _: Any,
    inputs: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    own: bool,
    momentum: float,
    eps: float,
    __: bool,
) -> Any:
    if not own:
        return _batch_norm(
            context, _, inputs, weight, bias, mean, variance, False, momentum, eps, __
        )
    if mean is not None or not is_shared(weight, bias):
        raise Untraceable("an instance norm that keeps statistics of the rows")
    rows = context.rows(inputs)
    found = functional.instance_norm(rows.folded(), eps=eps)
    return rows.like(_scaled(context, found, weight, bias, _by_channel(found)))


def _batch_norm(
    context: Context,
    _: Any,
    inputs: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    training: bool,
    __: float,
    eps: float,
    ___: bool,
) -> Any:
    if training or mean is None or not is_shared(weight, bias, mean, variance):
        raise Untraceable("a batch norm that uses statistics of the rows")
    rows = context.rows(inputs)
    values = rows.folded()
    shape = _by_channel(values)
    scale = torch.rsqrt(variance + eps)
    found = (values - mean.view(shape)) * scale.view(shape)
    return rows.like(_scaled(context, found, weight, bias, shape))


RULES: dict[str, Rule] = {
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "group_norm": _group_norm,
    "instance_norm": _instance_norm,
    "batch_norm": _batch_norm,
}
