"""Weights of a model as they travel: arrays by their names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dither.errors import ArgumentError
from dither.learn.failures import attempted
from dither.learn.gradients.oracle import trained

__all__ = ["Arrays", "Shapes", "arrays_of", "digest_of", "put", "shapes_of", "usable"]

Arrays = dict[str, NDArray[np.float32]]
Shapes = dict[str, tuple[int, ...]]
WAY_OUT = "pass the model, its arrays by their names, or a list of them in its order"


def shapes_of(model: nn.Module) -> Shapes:
    """The shape of each trained parameter."""
    return {name: tuple(one.shape) for name, one in trained(model).items()}


def arrays_of(weights: Any, shapes: Shapes) -> Arrays:
    """Weights of these shapes. They are public, so odd ones are refused."""
    found = usable(weights, shapes)
    if found is None:
        listed = ", ".join(
            f"{name} {shape}" for name, shape in list(shapes.items())[:6]
        )
        raise ArgumentError(
            "weights", f"must be finite numbers of the shapes {listed}; {WAY_OUT}"
        )
    return found


def usable(weights: Any, shapes: Shapes) -> Arrays | None:
    """The same; None if there is any other name or shape, or no finite number."""
    found, _ = attempted(partial(_found, weights, shapes))  # whatever somebody sent
    if found is None:
        return None
    fits = all(one.shape == shapes[name] for name, one in found.items())
    fine = fits and all(np.isfinite(one).all() for one in found.values())
    return found if fine else None


def _found(weights: Any, shapes: Shapes) -> Arrays:
    held = _named(weights, shapes)
    return {name: _array(held[name]) for name in shapes}


def _named(weights: Any, shapes: Shapes) -> Mapping[str, Any]:
    if isinstance(weights, nn.Module):
        return trained(weights)
    if isinstance(weights, Mapping):
        return weights
    if isinstance(weights, Sequence) and len(weights) == len(shapes):
        return dict(zip(shapes, weights, strict=True))
    raise TypeError


def _array(values: Any) -> NDArray[np.float32]:
    if isinstance(values, Tensor):
        values = values.detach().cpu().numpy()
    held = np.asarray(values)
    if held.dtype.kind not in "iuf":
        raise TypeError
    with np.errstate(over="ignore"):
        return held.astype(np.float32)


def put(weights: Arrays, model: nn.Module) -> None:
    """Let a model have these weights."""
    with torch.no_grad():
        for name, one in trained(model).items():
            one.copy_(torch.from_numpy(weights[name]))


def digest_of(arrays: Arrays) -> str:
    found = hashlib.sha256()
    for name, one in arrays.items():
        found.update(f"{name} {one.shape};".encode())
        found.update(np.ascontiguousarray(one).tobytes())
    return found.hexdigest()
