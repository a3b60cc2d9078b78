"""Gaussian noise in float32 for gradients: on the CPU from the words of `dither.noise`,
on a GPU from those of ChaCha20 under a key from there.

Its arithmetic is that of floats: the claim of exact noise is made for other rooms, and
not for training (rule R25).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import accumulate
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

from dither.learn.gpu import runs
from dither.noise import random_words

__all__ = ["Noise", "OnCpu", "OnGpu", "gaussians", "noise_on"]

Sums = Mapping[str, Tensor]
AT_ONCE = 512
"""Tensors that get noise in one launch."""


class Noise(ABC):
    """Source of the noise of one run."""

    @abstractmethod
    def added(
        self, sums: Sums, deviation: float, over: float
    ) -> Iterator[tuple[str, Tensor]]:
        """Each sum with noise of this standard deviation, divided by `over`, in
        float32. The sums may be overwritten.
        """


class OnCpu(Noise):
    """Drawn on the CPU, for all sums at once."""

    def added(
        self, sums: Sums, deviation: float, over: float
    ) -> Iterator[tuple[str, Tensor]]:
        drawn, start = gaussians(sum(one.numel() for one in sums.values())), 0
        for name, one in sums.items():
            noise = drawn[start : start + one.numel()].view_as(one).to(one.device)
            yield name, (one.to(torch.float32) + noise * deviation) / over
            start += one.numel()


class OnGpu(Noise):
    """Drawn where the sums are, under a key of its own (`kernels.chacha` says how)."""

    def __init__(self, device: torch.device) -> None:
        words = torch.zeros(10, dtype=torch.int32)
        words[:8] = torch.from_numpy(random_words(8).view(np.int32))
        self._state = words.to(device, copy=True)
        self._counter = torch.zeros(1, dtype=torch.int64, device=device)
        words.zero_()

    def added(
        self, sums: Sums, deviation: float, over: float
    ) -> Iterator[tuple[str, Tensor]]:
        values = [one.to(torch.float32).contiguous() for one in sums.values()]
        self.add(values, deviation, over)
        yield from zip(sums, values, strict=True)

    def add(self, values: Sequence[Tensor], deviation: float, over: float = 1) -> None:
        """Add noise in place, to float32 values that lie in one piece each."""
        for start in range(0, len(values), AT_ONCE):
            some = [one for one in values[start : start + AT_ONCE] if one.numel()]
            if some:
                self._add(some, deviation, over)

    def _add(self, values: list[Tensor], deviation: float, over: float) -> None:
        from dither.learn.kernels import chacha

        assert all(one.dtype == torch.float32 for one in values)
        assert all(one.is_contiguous() for one in values)
        sizes = [one.numel() for one in values]
        each = chacha.NORMALS * chacha.LANES
        ends = list(accumulate(-(-size // each) for size in sizes))
        rows = ([one.data_ptr() for one in values], sizes, [0, *ends[:-1]])
        # The kernel takes a float32, which must not be below what was accounted for.
        least = np.nextafter(np.float32(deviation), np.float32(math.inf))
        with _on(values[0]):
            chacha.noisy[(ends[-1],)](
                _sent(rows, values[0].device),
                len(values),
                float(least),
                float(over),
                self._state,
                self._counter,
                LANES=chacha.LANES,
                MOST=AT_ONCE,
            )

    def __reduce__(self) -> NoReturn:
        raise TypeError("a stream of randomness cannot be copied or pickled")


def noise_on(device: torch.device) -> Noise:
    """A generator for sums on this device, under a fresh key."""
    if device.type != "cuda" or not runs(torch.zeros(1, device=device)):
        return OnCpu()
    found = OnGpu(device)
    # Compiled before anything is charged.
    found.add([torch.zeros(1, device=device)], 1.0)
    return found


def _sent(rows: Any, device: torch.device) -> Tensor:
    """A table of numbers; the CPU does not wait until it has arrived."""
    on_gpu = device.type == "cuda"
    table = torch.tensor(rows, dtype=torch.int64, pin_memory=on_gpu)
    return table.to(device, non_blocking=True)


def _on(values: Tensor) -> AbstractContextManager[Any]:
    return torch.cuda.device(values.device) if values.is_cuda else nullcontext()


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
