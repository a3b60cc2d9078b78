"""Products of float32 in full precision: the bounds of norms count on 24 bits (rule R25)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch

__all__ = ["full_precision"]

FULL = "ieee"


@contextmanager
def full_precision() -> Iterator[None]:
    """Neither TF32 nor bfloat16 in products, whatever the caller has switched on."""
    old, new = _old(), _new()
    try:
        _set_old("highest", False)
        for place, _ in new:
            place.fp32_precision = FULL
        yield
    finally:
        _set_old(*old)
        for place, before in new:
            place.fp32_precision = before


def _old() -> tuple[str, bool]:
    """What PyTorch's first switches say. They refuse to speak after the later ones were
    used, which then say all.
    """
    try:
        found = torch.get_float32_matmul_precision()
        return found, torch.backends.cudnn.allow_tf32
    except RuntimeError:
        return "highest", False


def _set_old(products: str, convolutions: bool) -> None:
    with suppress(RuntimeError):
        torch.set_float32_matmul_precision(products)
        torch.backends.cudnn.allow_tf32 = convolutions


def _new() -> list[tuple[Any, str]]:
    """The later switches, and what they say; there are none in older versions."""
    backends: Any = torch.backends
    names = ("matmul", "conv", "rnn")
    kinds = (backends.cuda, backends.cudnn, backends.mkldnn)
    places = [getattr(kind, name, None) for kind in kinds for name in names]
    found = []
    for place in (one for one in places if one is not None):
        with suppress(AttributeError):
            found.append((place, place.fp32_precision))
    return found
