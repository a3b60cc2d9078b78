"""Points of the polar method: uniform in the square [−1, 1)². The Gaussian and Cauchy
samplers keep those in the unit disc.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dither.noise.stream import Source, Words

__all__ = ["CHUNK", "Point", "coordinates", "heads"]

CHUNK = 1 << 13
"""Points a chunk."""

WORD = 64


def coordinates(words: Words, bits: int = WORD) -> NDArray[np.float64]:
    """Two rows of floats in [−1, 1): the first half of the words as U, the second as V,
    from their first bits.
    """
    signed = words.view(np.int64)
    if bits < WORD:
        # The exact path keeps these bits and draws fresh ones after them, so the float
        # must not see the others either.
        signed = signed >> (WORD - bits) << (WORD - bits)
    points = signed.astype(np.float64)
    points *= 2.0**-63
    return points.reshape(2, -1)


def heads(words: Words, i: int, bits: int) -> tuple[int, int]:
    """The first bits of both coordinates of one point, as signed integers."""
    signed = words.view(np.int64)
    return int(signed[i]) >> (WORD - bits), int(signed[i + signed.size // 2]) >> (
        WORD - bits
    )


class Point:
    """One point: U and V lie in [u, u + 1) / one and [v, v + 1) / one; more bits are
    drawn when needed.
    """

    __slots__ = ("_source", "bits", "uv")

    def __init__(self, u: int, v: int, bits: int, source: Source) -> None:
        self.uv, self.bits, self._source = (u, v), bits, source

    @property
    def one(self) -> int:
        return 1 << (self.bits - 1)

    def refine(self) -> None:
        u, v = (head << WORD | self._source.word() for head in self.uv)
        self.uv = u, v
        self.bits += WORD

    def positive(self, side: int) -> bool:
        return self.uv[side] >= 0

    def magnitude(self, side: int) -> tuple[int, int]:
        """The least and most that |U| (side 0) or |V| (side 1) can be, in units of 1 /
        one.
        """
        head = self.uv[side]
        return (head, head + 1) if head >= 0 else (-head - 1, -head)

    def square(self) -> tuple[int, int]:
        """The least and most that U² + V² can be, in units of 1 / one²."""
        (a, b), (c, d) = self.magnitude(0), self.magnitude(1)
        return a * a + c * c, b * b + d * d

    def inside(self) -> bool:
        """Whether the point lies in the unit disc."""
        while True:
            least, most = self.square()
            if most <= self.one**2:
                return True
            if least >= self.one**2:
                return False
            self.refine()
