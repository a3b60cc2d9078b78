"""Exact laws of weighted sums of noise, by convolution."""

from __future__ import annotations

import math

import numpy as np

from dither.noise import Law


def chances(kind, scale, most):
    """The probabilities of −most … most for one noise."""
    k = np.abs(np.arange(-most, most + 1))
    if kind == "laplace":
        return math.tanh(0.5 / scale) * np.exp(-k / scale)
    tails = [math.erfc((i - 0.5) / scale / math.sqrt(2)) / 2 for i in range(most + 2)]
    found = np.array([tails[i] - tails[i + 1] for i in k.tolist()])
    return np.where(k == 0, 1 - 2 * tails[1], found)


class Exact:
    """A sum of noises whose weights are multiples of `unit`."""

    def __init__(self, law: Law, unit: float = 0.1):
        total = np.ones(1)
        for weight, number, kind, scale in law.parts:
            step = round(weight / unit)
            assert abs(step * unit - weight) < 1e-9
            far = (42 if kind == "laplace" else 9) * scale
            one = chances(kind, scale, math.ceil(far) + 3)
            spaced = np.zeros((one.size - 1) * step + 1)
            spaced[::step] = one
            for _ in range(number):
                total = np.convolve(total, spaced)
        self.values = (np.arange(total.size) - total.size // 2) * unit
        self.beyond = np.append(np.cumsum(total[::-1])[::-1], 0.0)

    def above(self, x):
        """P(sum > x)."""
        return self.beyond[np.searchsorted(self.values, x + 1e-9)]

    def from_(self, x):
        """P(sum ≥ x)."""
        return self.beyond[np.searchsorted(self.values, x - 1e-9)]

    def quantile(self, missed):
        """The least value with P(sum > value) ≤ missed, 0 or more."""
        return max(self.values[np.argmax(self.beyond[1:] <= missed)], 0.0)
