"""The parts of a tally: one for each question that devices have sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.evidence import Evidence, sampled
from dither.local.oracles import Oracle, Randomizer, Sampled

if TYPE_CHECKING:
    from dither.local.tally import Tally

__all__ = ["Part", "parts", "times"]

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """The integers of one question: `messages` of all `everyone` sent. A device can have
    sent `periods` of them.
    """

    oracle: Randomizer
    counts: Whole
    messages: int
    everyone: int
    periods: int

    def evidence(self, wanted: NDArray[Any]) -> Evidence:
        """The evidence of the messages about these items, among all devices."""
        assert isinstance(self.oracle, Oracle)
        asked = (self.counts, self.messages, self.periods, wanted)
        found = self.oracle.evidence(*asked)
        if self.messages == self.everyone:
            return found
        return sampled(found, self.everyone, self.periods)


def times(tally: Tally) -> int:
    """Number of answers that one device can have given: what it keeps counts each time."""
    return max(len(tally.periods), 1) * tally.task.messages


def parts(tally: Tally) -> list[Part]:
    """Each question's part; an error if one has too few messages."""
    oracle, everyone = tally.task.oracle, tally.messages
    counts, periods = tally.counts.sum(axis=0), times(tally)
    if not isinstance(oracle, Sampled):
        return [Part(oracle, counts, everyone, everyone, periods)]
    found = []
    for number, part in enumerate(oracle.parts):
        messages, cells = oracle.counts(counts, number)
        if messages < 2:
            raise ArgumentError(
                "tally",
                "has fewer than two messages for one of its questions; collect more "
                "messages first",
            )
        found.append(Part(part, cells, messages, everyone, periods))
    return found
