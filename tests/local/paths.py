"""Every way a randomizer's coins can fall, with its exact probability.

The oracles draw with `coins`, `below` and `bits.biased` alone. Here these become
choices that are enumerated one after the other, so that the code that runs on devices
gives its exact distribution.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dither.local import bits
from dither.local.oracles import (
    hadamard,
    hashing,
    loloha,
    mean,
    response,
    sampled,
    sketch,
    subset,
    unary,
)
from dither.local.words import ONE

MODULES = (
    *(hadamard, hashing, loloha, mean, response),
    *(sampled, sketch, subset, unary),
)
Law = dict[Hashable, Fraction]


class Paths:
    """A depth-first walk over all choices."""

    def __init__(self) -> None:
        self._script: list[int] = []
        self._sizes: list[int] = []
        self._at = 0
        self.weight = Fraction(1)

    def choose(self, weights: Sequence[Fraction]) -> int:
        if self._at == len(self._script):
            self._script.append(0)
            self._sizes.append(len(weights))
        chosen = self._script[self._at]
        self._at += 1
        self.weight *= weights[chosen]
        return chosen

    def coins(self, _: Any, threshold: int, count: int) -> Any:
        heads = Fraction(threshold, ONE)
        return np.array([self.choose([heads, 1 - heads]) == 0 for _ in range(count)])

    def below(self, _: Any, bound: int, count: int) -> Any:
        each = [Fraction(1, bound)] * bound
        return np.array([self.choose(each) for _ in range(count)], np.int64)

    def biased(self, words: Any, threshold: int, rows: int, size: int) -> Any:
        drawn = self.coins(words, threshold, rows * size).reshape(rows, size)
        return np.packbits(drawn, axis=1, bitorder="little")

    def walk(self, run: Callable[[], Any]) -> Iterator[tuple[Any, Fraction]]:
        while True:
            self._at, self.weight = 0, Fraction(1)
            yield run(), self.weight
            while self._script and self._script[-1] + 1 == self._sizes[-1]:
                self._script.pop()
                self._sizes.pop()
            if not self._script:
                return
            self._script[-1] += 1


def law(monkeypatch: pytest.MonkeyPatch, run: Callable[[], Hashable]) -> Law:
    """The exact distribution of what `run` returns."""
    paths, found = Paths(), defaultdict[Hashable, Fraction](Fraction)
    with monkeypatch.context() as patch:
        for module in MODULES:
            for name in ("coins", "below"):
                if hasattr(module, name):
                    patch.setattr(module, name, getattr(paths, name))
        patch.setattr(bits, "biased", paths.biased)
        for outcome, weight in paths.walk(run):
            found[outcome] += weight
    return {outcome: weight for outcome, weight in found.items() if weight}
