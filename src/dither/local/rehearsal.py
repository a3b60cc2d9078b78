"""Made-up devices that keep their noise, to try a task over several periods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.oracles import Longitudinal, Randomizer, Sampled
from dither.local.words import FRESH

__all__ = ["Rehearsal", "rehearsal"]


def rehearsal(oracle: Randomizer, devices: int) -> Rehearsal | SampledRehearsal:
    """Made-up devices for an oracle."""
    made = SampledRehearsal if isinstance(oracle, Sampled) else Rehearsal
    return made(oracle, devices)  # type: ignore[arg-type]


class Rehearsal:
    """As many devices; each keeps what it answered for each of its values. Nothing
    limits how many values that are.
    """

    def __init__(self, oracle: Randomizer, devices: int) -> None:
        self.oracle, self.devices = oracle, devices
        self._before: list[tuple[NDArray[Any], NDArray[Any]]] = []
        if isinstance(oracle, Longitudinal):
            self._seeds = oracle.seeds(FRESH, devices)

    def answer(self, items: NDArray[Any]) -> NDArray[np.uint8]:
        """The records of one period."""
        _check_devices(items, self.devices)
        if not isinstance(self.oracle, Longitudinal):
            return self._kept(items, self.oracle.randomize(items, FRESH))
        keys = self.oracle.memo_keys(items, self._seeds)
        told_apart = keys if self.oracle.rounds else items
        kept = self._kept(told_apart, self.oracle.permanent(keys, FRESH))
        return self.oracle.instant(kept, self._seeds, FRESH)

    def _kept(self, items: NDArray[Any], drawn: NDArray[Any]) -> NDArray[Any]:
        """The kept answer for an item, if a device had it before."""
        for earlier, kept in self._before:
            same = earlier == items
            again = (
                same if same.ndim == 1 else same.all(axis=tuple(range(1, same.ndim)))
            )
            drawn[again] = kept[again]
        self._before.append((items, drawn))
        return drawn


class SampledRehearsal:
    """As many devices, each of which answers one part for ever."""

    def __init__(self, oracle: Sampled, devices: int) -> None:
        self.oracle, self.devices = oracle, devices
        drawn = oracle.draw(FRESH, devices)
        self._mine = [np.flatnonzero(drawn == part) for part in range(oracle.items)]
        self._parts = [
            Rehearsal(part, len(mine))
            for part, mine in zip(oracle.parts, self._mine, strict=True)
        ]

    def answer(self, items: NDArray[Any]) -> NDArray[np.uint8]:
        """The records of one period."""
        _check_devices(items, self.devices)
        out = np.empty((self.devices, self.oracle.record), np.uint8)
        for number, (part, mine) in enumerate(
            zip(self._parts, self._mine, strict=True)
        ):
            records = part.answer(items[mine, number])
            out[mine] = self.oracle.wrapped(number, records)
        return out


def _check_devices(items: NDArray[Any], devices: int) -> None:
    if len(items) != devices:
        raise ArgumentError(
            "histories",
            "must have a value for every device in every period; pass None "
            "for a device without one",
        )
