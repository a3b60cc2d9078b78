"""The messages that left the device, for its owner to read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime

import numpy as np
from numpy.typing import NDArray

from dither.local.oracles import Sampled
from dither.local.task import Task
from dither.text import clean

__all__ = ["Sent", "in_words"]

PLACE = re.compile(r"\{(\d+)\}")


@dataclass(frozen=True)
class Sent:
    """A message that was handed to the app: when, for which task and period, and what
    it says. It says nothing for sure: `epsilon` bounds how much.
    """

    at: datetime
    task: str
    version: int
    first: date
    until: date
    slot: int
    said: str
    epsilon: float
    message: bytes = field(repr=False)
    id: bytes = field(default=b"", repr=False)
    """An id by which a collector recognizes repeats; it links to nothing else that was
    sent.
    """

    def __str__(self) -> str:
        """The entry as text, without the control characters and direction marks that a
        value may have.
        """
        more = f", message {self.slot + 1}" if self.slot else ""
        return clean(
            f"{self.at:%Y-%m-%d %H:%M} UTC  {self.task} (version {self.version}), "
            f"period from {self.first}{more}: your answer was turned into "
            f"“{self.said}”, ε = {self.epsilon:.4g}, {len(self.message)} bytes"
        )


def in_words(task: Task, record: NDArray[np.uint8], stratum: str | None = None) -> str:
    """The content of a message, with the values' own names."""
    said, domain = task.oracle.describe(record), task.domain
    part = int(record[0, 0]) if isinstance(task.oracle, Sampled) else 0
    if domain is not None:
        said = PLACE.sub(lambda found: domain.name(part, int(found[1])), said)
    return said + (f", stratum {stratum}" if stratum is not None else "")
