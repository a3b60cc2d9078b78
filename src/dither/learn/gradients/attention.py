"""Multi-head attention out of linear layers, so that each is seen by the tape.

What `torch.nn.functional.multi_head_attention_forward` computes, for what a
`torch.nn.MultiheadAttention` without `bias_k`, `bias_v` and `add_zero_attn` asks for.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from dither.learn.gradients.untraceable import Untraceable

__all__ = ["forward"]


def forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    width: int,
    heads: int,
    in_weight: Tensor | None,
    in_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout: float,
    out_weight: Tensor,
    out_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    **words: Any,
) -> tuple[Tensor, Tensor | None]:
    """The attention of [places, rows, width] and, if asked for, its weights."""
    if bias_k is not None or bias_v is not None or add_zero_attn:
        raise Untraceable("attention with bias_k, bias_v or add_zero_attn")
    if words.get("static_k") is not None or words.get("static_v") is not None:
        raise Untraceable("attention with static keys or values")
    if query.ndim != 3:
        raise Untraceable("attention without an axis for rows")
    sides = _projected(query, key, value, width, in_weight, in_bias, words)
    split = [_heads(one, heads) for one in sides]
    mask = _mask(attn_mask, key_padding_mask, split[0], split[1])
    dropped = dropout if training else 0.0
    weights = None
    if need_weights:
        scores = split[0] @ split[1].transpose(2, 3) / math.sqrt(width // heads)
        weights = torch.softmax(scores if mask is None else scores + mask, dim=3)
        weights = functional.dropout(weights, dropped)
        seen = weights @ split[2]
    else:
        query, key, value = split
        seen = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, dropout_p=dropped
        )
    found = functional.linear(seen.permute(2, 0, 1, 3).flatten(2), out_weight, out_bias)
    averaged = weights is not None and words.get("average_attn_weights", True)
    return found, weights.mean(1) if averaged and weights is not None else weights


def _projected(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    width: int,
    weight: Tensor | None,
    bias: Tensor | None,
    words: dict[str, Any],
) -> list[Tensor]:
    """Queries, keys and values. Where one matrix holds all three, each input goes
    through all of it: slices of a parameter would be parameters of nobody.
    """
    if words.get("use_separate_proj_weight"):
        names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
        given = zip((query, key, value), names, strict=True)
        apart = [functional.linear(one, words[name]) for one, name in given]
        if bias is None:
            return apart
        # A part of a parameter has a copy for each row; rows are the second axis here,
        # so they meet.
        return [one + bias[i * width : (i + 1) * width] for i, one in enumerate(apart)]
    assert weight is not None
    if query is key and key is value:
        return list(torch.split(functional.linear(query, weight, bias), width, dim=2))
    sides = (query, key, value)
    return [
        torch.split(functional.linear(one, weight, bias), width, dim=2)[i]
        for i, one in enumerate(sides)
    ]


def _heads(values: Tensor, heads: int) -> Tensor:
    """[rows, heads, places, width of a head]"""
    places, rows, width = values.shape
    return values.view(places, rows, heads, width // heads).permute(1, 2, 0, 3)


def _mask(
    among: Tensor | None, padding: Tensor | None, queries: Tensor, keys: Tensor
) -> Tensor | None:
    """What is added to scores: [rows, heads, queries, keys] or what spreads to it."""
    rows, heads = queries.shape[:2]
    found = None if among is None else _additive(among, queries.dtype)
    if found is not None and found.ndim == 3:
        found = found.view(rows, heads, *found.shape[1:])
    if padding is None:
        return found
    hidden = _additive(padding, queries.dtype).view(rows, 1, 1, keys.shape[2])
    return hidden if found is None else found + hidden


def _additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    if mask.dtype != torch.bool:
        return mask.to(dtype)
    return torch.zeros_like(mask, dtype=dtype).masked_fill_(mask, -math.inf)
