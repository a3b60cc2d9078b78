"""Rules for operations that PyTorch's `vmap` gets wrong: there, a row reaches another one,
or a gradient differs from that of the row alone."""

from __future__ import annotations

from typing import Any

import torch

from dither.learn.gradients.operations import name_of
from dither.learn.gradients.rowed import Context, Rowed, Rule
from dither.learn.gradients.untraceable import Untraceable

__all__ = ["RULES"]


def _masked(
    context: Context, target: Any, value: Any, where: Any, new: Any, add: bool = False
) -> Any:
    """A number in all places that a mask tells: `rows[mask] = 0`."""
    (mask,) = where if len(where) == 1 else (None,)
    boolean = mask is not None and context.rows(mask).values.dtype == torch.bool
    if not boolean or add or context.rows(new).shape.numel() != 1:
        return NotImplemented
    rows, hidden = context.rows(value), context.rows(mask).values
    hidden = hidden.reshape(*hidden.shape, *[1] * (rows.ndim - hidden.ndim + 1))
    number = context.rows(new).values.reshape(-1, *[1] * rows.ndim)
    found = torch.where(hidden, number.to(rows.values.dtype), rows.values)
    if target._schema.is_mutable:
        return (
            Rowed(rows.values.copy_(found))
            if isinstance(value, Rowed)
            else NotImplemented
        )
    return Rowed(found)


def _filled(_: Context, __: Any, ___: Any, ____: Any, where: Any, _____: Any) -> Any:
    """`vmap` counts places through all rows: -1 is the last of the row before."""
    if isinstance(where, Rowed):
        raise Untraceable("index_fill at places that depend on a row")
    return NotImplemented


def _spaced(_: Context, *__: Any, **___: Any) -> Any:
    """PyTorch's own gradient of the ends is 0; that of `vmap` is not."""
    raise Untraceable("numbers between ends that depend on a row")


def _extreme(
    context: Context, target: Any, value: Any, *args: Any, **words: Any
) -> Any:
    """The largest number of each row. Equal ones share the gradient, but not in `vmap`."""
    if args or words:
        return NotImplemented
    values = context.rows(value).values.reshape(context.count, -1)
    return Rowed(values.amax(1) if name_of(target) == "max" else values.amin(1))


def _product(
    context: Context,
    _: Any,
    value: Any,
    axis: int | None = None,
    kept: bool = False,
    dtype: torch.dtype | None = None,
) -> Any:
    """Two and two: PyTorch's own gradient asks whether any row holds a zero."""
    rows = context.rows(value)
    values = rows.values.to(dtype or rows.values.dtype)
    whole = not (values.is_floating_point() or values.is_complex())
    if whole or 0 in rows.shape:
        return NotImplemented  # there is no gradient
    place = 1
    if axis is None or not rows.ndim:
        values = values.reshape(context.count, -1)
    else:
        place += axis % rows.ndim
    while (size := values.shape[place]) > 1:
        halves = [values.narrow(place, i * (size // 2), size // 2) for i in (0, 1)]
        rest = [values.narrow(place, size - 1, 1)] if size % 2 else []
        values = torch.cat([halves[0] * halves[1], *rest], place)
    return Rowed(
        values if kept and axis is not None and rows.ndim else values.squeeze(place)
    )


def _divided(context: Context, _: Any, *values: Any, **__: Any) -> Any:
    """The rest of reals is a number or not one by its place in memory, if it overflows."""
    rows = [context.rows(one).values for one in values if isinstance(one, Rowed)]
    if any(one.is_floating_point() for one in rows):
        raise Untraceable("a division of reals with a remainder")
    return NotImplemented


RULES: dict[str, Rule] = {
    "index_put": _masked,
    "index_fill": _filled,
    "linspace": _spaced,
    "logspace": _spaced,
    "max": _extreme,
    "min": _extreme,
    "prod": _product,
    "remainder": _divided,
    "fmod": _divided,
    "floor_divide": _divided,
}
