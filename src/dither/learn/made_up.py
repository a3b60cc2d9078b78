"""Made-up rows: they have the shape of one row, which is public. They are not random, so
the same model is always tried with the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from dither.learn.gradients.oracle import Inputs
from dither.learn.rows import Batch
from dither.learn.schema import Field, Schema

__all__ = ["guarded", "made_up", "made_up_part"]


def made_up(schema: Schema, count: int, model: nn.Module) -> Inputs:
    """Inputs of the right shapes: reals between -1 and 1, or numbers of embeddings."""
    lines = [one.num_embeddings for one in model.modules() if isinstance(one, LOOKUPS)]
    fewest, made = min(lines, default=2), 0

    def tensor(one: Field) -> Tensor:
        # Each goes on where the last one ended, so that no two are alike.
        nonlocal made
        first, made = made + 1, made + count * math.prod(one.shape)
        places = torch.arange(first, made + 1, dtype=torch.float64, device="cpu")
        if one.type.is_floating_point:
            return torch.sin(places * 12.9898).to(one.type).view(count, *one.shape)
        if one.type == torch.bool:
            return (places.long() * 7919 % 5 < 2).view(count, *one.shape)
        return (places.long() * 7919 % fewest).view(count, *one.shape)

    return tree_map(tensor, schema.inputs)


def made_up_part(schema: Schema, count: int, model: nn.Module) -> Batch:
    """Made-up inputs with targets."""
    there = torch.ones(count, dtype=torch.bool, device="cpu")
    return Batch(made_up(schema, count, model), schema.blank(count)[1], there)


LOOKUPS = (nn.Embedding, nn.EmbeddingBag)


@contextmanager
def guarded(model: nn.Module) -> Iterator[None]:
    """Numbers that no embedding has a line for become those of the nearest line: they
    are data, and must not stop the run.
    """

    def nearest(module: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        return (given[0].clamp(0, module.num_embeddings - 1), *given[1:])

    hooks = [
        one.register_forward_pre_hook(nearest)
        for one in model.modules()
        if isinstance(one, LOOKUPS)
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
