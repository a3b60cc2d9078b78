"""Noise that lies far out, to find tests of chance that are not marked as such.

Two words in sixteen of every stream get leading bits that make extreme draws, as they
otherwise come once in a hundred thousand times. A test that fails then depends on
chance: its rate may be tiny, but somebody must have worked it out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dither.noise.stream import Stream

__all__ = ["draw_wild_noise"]

LEADING = np.uint64(((1 << 17) - 1) << 46)
"""What follows the sign. 17 bits: from 18 on, every draw would be decided exactly."""


def draw_wild_noise() -> None:
    """From now on, in this process."""
    honest = Stream._encrypt

    def encrypt(stream: Stream, out: Any) -> None:
        honest(stream, out)
        out[::16] &= ~LEADING
        out[1::16] &= ~LEADING

    Stream._encrypt = encrypt  # type: ignore[method-assign]
