"""Layers that say, on the way back, what their rows did to their parameters, and compute
no gradients of parameters themselves.

The anchor is a number that needs a gradient: without one, nothing on the way back would
visit a layer whose inputs are data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

__all__ = [
    "Affine",
    "Convolved",
    "Copied",
    "Linear",
    "LookedUp",
    "Moments",
    "Normalized",
    "Passed",
    "Seen",
    "tapped",
]

Seen = Callable[[Any, Tensor], None]
"""Takes what went in and the gradient of what came out."""


class Linear(torch.autograd.Function):
    """Inputs times a matrix."""

    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, _: Tensor, weight: Tensor, bias: Any, seen: Seen
    ) -> Tensor:
        inputs, weight = _as_multiplied(inputs, weight)
        ctx.save_for_backward(inputs, weight)
        ctx.seen = seen
        return functional.linear(inputs, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        inputs, weight = ctx.saved_tensors
        ctx.seen(inputs, gradient)
        before = gradient @ weight if ctx.needs_input_grad[0] else None
        return before, None, None, None, None


class Convolved(torch.autograd.Function):
    """Series, images or volumes, convolved; `how` is all that PyTorch asks for beside
    them.
    """

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        _: Tensor,
        weight: Tensor,
        bias: Any,
        how: tuple[Any, ...],
        seen: Seen,
    ) -> Tensor:
        inputs, weight = _as_multiplied(inputs, weight)
        ctx.save_for_backward(inputs, weight)
        ctx.how, ctx.seen = how, seen
        return _convolution(inputs, weight, bias, how)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        inputs, weight = ctx.saved_tensors
        ctx.seen(inputs, gradient)
        before = None
        if ctx.needs_input_grad[0]:
            before = _input_gradient(gradient, inputs, weight, ctx.how)
        return before, None, None, None, None, None


def _as_multiplied(inputs: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Both in the type that autocast multiplies them in: norms are of these numbers."""
    kind = inputs.device.type
    if not torch.is_autocast_enabled(kind) or inputs.dtype == torch.float64:
        return inputs.detach(), weight
    dtype = torch.get_autocast_dtype(kind)
    return inputs.detach().to(dtype), weight.to(dtype)


def _convolution(
    inputs: Tensor, weight: Tensor, bias: Any, how: tuple[Any, ...]
) -> Tensor:
    bias = None if bias is None else bias.to(inputs.dtype)
    found: Tensor = torch.ops.aten.convolution(inputs, weight, bias, *how)
    return found


def _input_gradient(
    gradient: Tensor, inputs: Tensor, weight: Tensor, how: tuple[Any, ...]
) -> Tensor:
    asked = [True, False, False]
    found: Tensor = torch.ops.aten.convolution_backward(
        gradient, inputs, weight, None, *how, asked
    )[0]
    return found


class LookedUp(torch.autograd.Function):
    """Lines of a table."""

    @staticmethod
    def forward(
        ctx: Any, lines: Tensor, _: Tensor, weight: Tensor, seen: Seen
    ) -> Tensor:
        ctx.lines, ctx.seen = lines, seen
        return functional.embedding(lines, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, ...]:
        ctx.seen(ctx.lines, gradient)
        return None, None, None, None


class Affine(torch.autograd.Function):
    """Inputs times a scale plus a shift, both spread over all other axes."""

    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, _: Tensor, scale: Any, shift: Any, seen: Seen
    ) -> Tensor:
        ctx.save_for_backward(inputs.detach())
        ctx.scale, ctx.seen = scale, seen
        scaled = inputs if scale is None else inputs * scale
        return scaled.clone() if shift is None else scaled + shift

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        ctx.seen(ctx.saved_tensors[0], gradient)
        before = gradient if ctx.scale is None else gradient * ctx.scale
        return before, None, None, None, None


@dataclass(frozen=True)
class Moments:
    """The inputs, means and spreads of a layer norm."""

    inputs: Tensor
    mean: Tensor
    spread: Tensor

    def normalized(self) -> Tensor:
        return (self.inputs - self.mean).mul_(self.spread)


class Normalized(torch.autograd.Function):
    """A layer norm; its `seen` gets moments."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        _: Tensor,
        shape: list[int],
        scale: Any,
        shift: Any,
        eps: float,
        seen: Seen,
    ) -> Tensor:
        if scale is not None:
            inputs = inputs.to(scale.dtype)
        found, *moments = torch.native_layer_norm(inputs, shape, scale, shift, eps)
        ctx.save_for_backward(inputs.detach(), *moments)
        ctx.shape, ctx.scale, ctx.shift, ctx.seen = shape, scale, shift, seen
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        inputs, mean, spread = ctx.saved_tensors
        ctx.seen(Moments(inputs, mean, spread), gradient)
        before = None
        if ctx.needs_input_grad[0]:
            before = torch.ops.aten.native_layer_norm_backward(
                gradient,
                inputs,
                ctx.shape,
                mean,
                spread,
                ctx.scale,
                ctx.shift,
                [True, False, False],
            )[0]
        return before, None, None, None, None, None, None


class Passed(torch.autograd.Function):
    """The inputs unchanged; their gradients are noted."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, _: Tensor, seen: Seen) -> Tensor:
        ctx.seen = seen
        return inputs.view_as(inputs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        ctx.seen(gradient, gradient)
        return gradient if ctx.needs_input_grad[0] else None, None, None


class Copied(torch.autograd.Function):
    """A copy of a parameter for each row, without memory of its own."""

    @staticmethod
    def forward(
        ctx: Any, _: Tensor, parameter: Tensor, shape: tuple[int, ...], seen: Seen
    ) -> Tensor:
        ctx.seen = seen
        return parameter.expand(shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, ...]:
        ctx.seen(gradient, gradient)
        return None, None, None, None


def tapped(tap: type[torch.autograd.Function], *given: Any) -> Tensor:
    """Call a layer; PyTorch does not say what `apply` returns."""
    found: Tensor = tap.apply(*given)  # type: ignore[no-untyped-call]
    return found
