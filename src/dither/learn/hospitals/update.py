"""The data that leaves a hospital: a noisy change of the weights."""

from __future__ import annotations

from dataclasses import dataclass, field

from dither.learn.hospitals.weights import Arrays, digest_of

__all__ = ["Update"]


@dataclass(frozen=True, eq=False)
class Update:
    """How a hospital would change the weights, after a round. `arrays` has a float32
    array for each trained parameter, in the model's order: safe to send to anybody.
    """

    hospital: str
    round: int
    arrays: Arrays = field(repr=False)

    @property
    def digest(self) -> str:
        """The hash of all numbers, which the hospital's book has noted."""
        return digest_of(self.arrays)
