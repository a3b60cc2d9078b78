"""The operations of a traced row, for all rows at once.

A value that differs from row to row is `Rowed`: one axis for rows, then those of one row's
value. What all rows share is a plain tensor, and a trained parameter is a `Part`. PyTorch's
`vmap` batches an operation, unless there is a rule for it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from dither.learn.gradients.operations import ENTRYWISE, name_of
from dither.learn.gradients.recorder import Part
from dither.learn.gradients.rowed import Context, Rowed
from dither.learn.gradients.rules import RULES

__all__ = ["called"]


def called(context: Context, target: Any, args: Any, words: Any) -> Any:
    """The result of an operation for all rows, if any of its arguments differs."""
    flat, shape = tree_flatten((args, words))
    name = name_of(target)
    rowed = any(isinstance(one, (Rowed, Part)) for one in flat)
    draws = torch.Tag.nondeterministic_seeded in target.tags
    if not (rowed or draws):
        return target(*args, **words)
    rule = RULES.get(name)
    if rule is not None and rowed:
        found = rule(context, target, *args, **words)
        if found is not NotImplemented:
            return found
    if any(isinstance(one, Part) for one in flat):
        flat = [context.rows(one) if isinstance(one, Part) else one for one in flat]
        args, words = tree_unflatten(flat, shape)
    if name in ENTRYWISE and not draws:
        found = _entrywise(target, flat, shape)
        if found is not None:
            return found
    return _mapped(context, target, flat, shape)


def _mapped(context: Context, target: Any, flat: list[Any], shape: Any) -> Any:
    places = [i for i, one in enumerate(flat) if isinstance(one, Rowed)]

    def alone(*values: Tensor) -> Any:
        given = list(flat)
        for place, one in zip(places, values, strict=False):
            given[place] = one
        args, words = tree_unflatten(given, shape)
        return target(*args, **words)

    values = [flat[i].values for i in places] or [torch.empty(context.count, 0)]
    found = torch.vmap(alone, randomness="different")(*values)
    return tree_map(Rowed, found)


def _entrywise(target: Any, flat: list[Any], shape: Any) -> Rowed | None:
    """An entrywise operation without `vmap`: the axes of rows meet if all values have equally
    many others. Numbers without axes do not decide a type, so they are left to `vmap`.
    """
    tensors = [one for one in flat if isinstance(one, (Rowed, Tensor))]
    most = max(one.ndim for one in tensors)
    kinds = {
        one.values.dtype if isinstance(one, Rowed) else one.dtype for one in tensors
    }
    bare = any(isinstance(one, Rowed) and not one.ndim for one in tensors)
    if bare and (most or len(kinds) > 1):
        return None
    given = [_spread(one, most) if isinstance(one, Rowed) else one for one in flat]
    args, words = tree_unflatten(given, shape)
    return Rowed(target(*args, **words))


def _spread(one: Rowed, axes: int) -> Tensor:
    values = one.values
    if one.ndim == axes:
        return values
    between = [1] * (axes - one.ndim)
    return values.reshape(len(values), *between, *values.shape[1:])
