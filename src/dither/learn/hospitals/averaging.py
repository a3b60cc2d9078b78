"""The work of the server, which is not trusted: it adds noisy updates up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.learn.hospitals.update import Update
from dither.learn.hospitals.weights import Arrays, arrays_of, shapes_of, usable
from dither.privacy.numbers import positive

__all__ = ["average"]


def average(
    model: Any, updates: Mapping[str, Any], shares: Mapping[str, float]
) -> Arrays:
    """New weights: those of a model, and the updates of hospitals in their public
    shares.

    A hospital without an update, or with one of another shape or with numbers that are
    not finite, contributes nothing; the others have the shares that they have anyway.
    Guarantee: that of the updates: this is post-processing.
    """
    weights = {
        name: positive("shares", one, "pass public weights such as 1.0")
        for name, one in shares.items()
    }
    strangers = set(updates) - set(weights)
    if not weights or strangers:
        raise ArgumentError(
            "shares",
            "must have a public weight for each hospital; pass one such as 1.0",
        )
    shapes = shapes_of(model)
    found = arrays_of(model, shapes)
    total = sum(weights.values())
    for name, one in updates.items():
        held = usable(one.arrays if isinstance(one, Update) else one, shapes)
        for place, change in ({} if held is None else held).items():
            found[place] = found[place] + np.float32(weights[name] / total) * change
    return found
