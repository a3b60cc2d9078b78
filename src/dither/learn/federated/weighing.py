"""The weight of a client: equal for all, or by their sizes up to a public bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dither.errors import ArgumentError
from dither.privacy.numbers import positive

__all__ = ["ALIKE", "Weighted", "weight_of"]


@dataclass(frozen=True)
class Weighted:
    """A client counts by its number of rows, or by the size that it reports, and by at
    most `most`: a client that lies about its size gains no more than that. `mean` is the
    mean weight by public knowledge; sums are divided by it and the declared cohort.

    Guarantee: a client moves a round's sum by `most` times the radius at most.
    Why: its clipped update is as long as the radius at most, and its weight is clipped
    (docs/proofs/federated.md).
    Assumes: both numbers are public, and not read off the clients.
    """

    most: float
    mean: float

    def __post_init__(self) -> None:
        positive("most", self.most, "pass the largest weight of a client, such as 50")
        positive("mean", self.mean, "pass the mean weight of a client, such as 20")
        if self.mean > self.most:
            raise ArgumentError(
                "mean",
                "must be at most the largest weight, `most`; pass a smaller mean",
            )

    def of(self, sizes: Tensor) -> Tensor:
        """The weight of each client, by what it says its size is."""
        usual = torch.nan_to_num(sizes.to(torch.float64), nan=0.0, posinf=self.most)
        return usual.clamp(0.0, self.most)


@dataclass(frozen=True)
class _Alike(Weighted):
    most: float = 1.0
    mean: float = 1.0

    def of(self, sizes: Tensor) -> Tensor:
        return torch.ones_like(sizes, dtype=torch.float64)


ALIKE: Weighted = _Alike()
"""Each client counts once, whatever it says."""


def weight_of(weight: Any) -> Weighted:
    if weight is None:
        return ALIKE
    if not isinstance(weight, Weighted):
        raise ArgumentError(
            "weight",
            "must be a Weighted with the publicly known largest and mean weight of a "
            "client; pass Weighted(most=50, mean=20)",
        )
    return weight
