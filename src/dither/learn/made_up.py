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

from dither.learn.rows import Schema

__all__ = ["guarded", "made_up"]


def made_up(schema: Schema, count: int, model: nn.Module) -> Tensor:
    """Inputs of the right shape: reals between -1 and 1, or numbers of embeddings."""
    size = count * math.prod(schema.inputs)
    places = torch.arange(1, size + 1, dtype=torch.float64, device="cpu")
    shape = (count, *schema.inputs)
    if schema.input_type.is_floating_point:
        return torch.sin(places * 12.9898).to(schema.input_type).view(shape)
    lines = [one.num_embeddings for one in model.modules() if isinstance(one, LOOKUPS)]
    return (places.long() * 7919 % min(lines, default=2)).view(shape)


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
