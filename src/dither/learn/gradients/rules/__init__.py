"""Rules that compute an operation for all rows at once, where `vmap` is slow, cannot, or is
wrong. Each gives a row what the operation gives that row alone.
"""

from __future__ import annotations

from dither.learn.gradients.rowed import Rule
from dither.learn.gradients.rules import (
    images,
    normalization,
    parameters,
    replaced,
    sequences,
)

__all__ = ["RULES"]

RULES: dict[str, Rule] = {
    **parameters.RULES,
    **normalization.RULES,
    **images.RULES,
    **sequences.RULES,
    **replaced.RULES,
}
