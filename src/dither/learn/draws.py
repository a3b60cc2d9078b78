"""What a model draws for itself: masks of dropout, layers that are left out, changes of
images.

It draws from generators that anybody may have seeded. A known mask breaks the bound: with
one unit more, all others get masks of other rows. So they are seeded with secret words
for each step, and callers find them as they left them (docs/proofs/training.md).
"""

from __future__ import annotations

import hashlib
import random  # allowed: its state is put back, and nothing is drawn here
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dither.noise import secret_bytes

__all__ = ["Draws", "apart", "secret", "secretly", "sow"]


@dataclass(frozen=True)
class Draws:
    """States of all generators that a model may draw from, at some moment."""

    device: torch.device
    pytorch: Tensor
    cuda: Tensor | None
    python: Any
    numpy: Any

    @classmethod
    def now(cls, device: torch.device) -> Draws:
        return cls(
            device,
            torch.get_rng_state(),
            torch.cuda.get_rng_state(device) if device.type == "cuda" else None,
            random.getstate(),
            np.random.get_state(),  # allowed: what models draw, and no noise
        )

    def restore(self) -> None:
        torch.set_rng_state(self.pytorch)
        if self.cuda is not None:
            torch.cuda.set_rng_state(self.cuda, self.device)
        random.setstate(self.python)
        np.random.set_state(self.numpy)  # allowed: as above

    @property
    def moved(self) -> bool:
        """Whether anything was drawn since."""
        now = Draws.now(self.device)
        same = torch.equal(self.pytorch, now.pytorch)
        if self.cuda is not None and now.cuda is not None:
            same = same and torch.equal(self.cuda, now.cuda)
        return not same or self.moved_elsewhere

    @property
    def moved_elsewhere(self) -> bool:
        """Whether anything was drawn by Python or NumPy."""
        now = Draws.now(self.device)
        drawn = [(one[1], one[2]) for one in (self.numpy, now.numpy)]
        arrays = np.array_equal(drawn[0][0], drawn[1][0]) and drawn[0][1] == drawn[1][1]
        return self.python != now.python or not arrays


def secret() -> bytes:
    """Seeds of the generators, which nobody can learn."""
    return secret_bytes(64)


def sow(device: torch.device, seed: bytes) -> None:
    """Seed all of them. The same seed gives the same draws, for a part that is computed
    twice.
    """
    words = np.frombuffer(seed, np.uint64)
    torch.default_generator.manual_seed(int(words[0]))
    if device.type == "cuda":
        with torch.cuda.device(device):
            torch.cuda.manual_seed(int(words[1]))
    random.seed(seed[16:40])
    np.random.seed(words[5:].view(np.uint32))  # allowed: secret words, no noise


def apart(device: torch.device) -> Callable[[int], None]:
    """A function that seeds all generators for one of several rows. Code that seeds them
    by itself, for some records, then decides nothing for later ones.
    """
    base = bytes(torch.randint(256, (32,)).tolist())  # allowed: from a secret seed

    def begin(row: int) -> None:
        sow(device, hashlib.sha512(base + row.to_bytes(8, "little")).digest())

    return begin


@contextmanager
def secretly(device: torch.device) -> Iterator[None]:
    """Draw from secret seeds, and leave all generators as they were."""
    before = Draws.now(device)
    try:
        sow(device, secret())
        yield
    finally:
        before.restore()
