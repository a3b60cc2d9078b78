"""Gaussian noise in float32 for gradients, from the words of `dither.noise`.

Its arithmetic is that of floats: the claim of exact noise is made for other rooms, and
not for training (rule R25).
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from dither.noise import random_words

__all__ = ["gaussians"]


def gaussians(count: int) -> Tensor:
    """Independent standard normal numbers, by Box and Muller's method: two of them from
    a radius and an angle.

    The radius is drawn with 64 bits: with 32 no number would lie beyond 6.7, and a tail
    that ends is an event that only one of two neighbours can cause.
    """
    half = -(-count // 2)
    words = random_words(3 * half)
    radius = _radius(words[: 2 * half].view(np.uint64))
    angle = torch.from_numpy(words[2 * half :].view(np.int32)).to(torch.float32)
    angle.mul_(math.pi / 2**31)
    # In float32, whatever the default is: a sum shows through noise of fewer bits.
    found = torch.empty(2 * half, dtype=torch.float32, device="cpu")
    torch.mul(radius, angle.cos(), out=found[:half])
    torch.mul(radius, angle.sin_(), out=found[half:])
    return found[:count]


def _radius(words: np.ndarray[tuple[int, ...], np.dtype[np.uint64]]) -> Tensor:
    # A float64 keeps 53 bits of a word near 1, and all of a small one, which decides
    # the tail. Half a step keeps the logarithm away from 0.
    uniform = torch.from_numpy((words >> np.uint64(1)).view(np.int64)).to(torch.float64)
    uniform.add_(0.5).mul_(2.0**-63).log_()
    return uniform.mul_(-2).sqrt_().to(torch.float32)
