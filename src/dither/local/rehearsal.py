"""Made-up devices that keep their noise, to try a task over several periods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.oracles import Longitudinal, Oracle
from dither.local.words import FRESH

__all__ = ["Rehearsal"]


class Rehearsal:
    """As many devices; each keeps what it answered for each of its values. Nothing
    limits how many values that are.
    """

    def __init__(self, oracle: Oracle, devices: int) -> None:
        self.oracle, self.devices = oracle, devices
        self._before: list[tuple[NDArray[Any], NDArray[Any]]] = []
        if isinstance(oracle, Longitudinal):
            self._seeds = oracle.seeds(FRESH, devices)

    def answer(self, items: NDArray[Any]) -> NDArray[np.uint8]:
        """The records of one period."""
        if len(items) != self.devices:
            raise ArgumentError(
                "histories", "must have a value of every device in every period"
            )
        if not isinstance(self.oracle, Longitudinal):
            return self._kept(items, self.oracle.randomize(items, FRESH))
        keys = self.oracle.memo_keys(items, self._seeds)
        kept = self._kept(items, self.oracle.permanent(keys, FRESH))
        return self.oracle.instant(kept, self._seeds, FRESH)

    def _kept(self, items: NDArray[Any], drawn: NDArray[Any]) -> NDArray[Any]:
        """What was kept for an item earlier, where a device had it before."""
        for earlier, kept in self._before:
            same = earlier == items
            again = (
                same if same.ndim == 1 else same.all(axis=tuple(range(1, same.ndim)))
            )
            drawn[again] = kept[again]
        self._before.append((items, drawn))
        return drawn
