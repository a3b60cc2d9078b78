"""The cost of a run over several hospitals, for each of them and for all together."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass

from dither.learn.hospitals.joint import joint_in_words
from dither.learn.previewing import Preview
from dither.privacy import Guarantee
from dither.text import aligned, percent
from dither.wording import REFUSED

__all__ = ["JointPreview"]

HEADS = ("hospital", "units", "batch", "steps", "noise", "ε", "δ", "of its account")


@dataclass(frozen=True)
class JointPreview:
    """What a run will do, hospital by hospital. `shares` are the public weights of their
    updates; `mean_noise` is the deviation of the noise in each number of the averaged
    mean gradient.
    """

    members: Mapping[str, Preview]
    shares: Mapping[str, float]
    guarantee: Guarantee
    delta: float
    words: str

    @property
    def epsilon(self) -> float:
        return self.guarantee.epsilon_at(self.delta)

    @property
    def mean_noise(self) -> float:
        """Each hospital's noise is drawn by itself, so variances add up."""
        found = 0.0
        for name, share in self.shares.items():
            _, most = self.members[name].mean_noise or (0.0, 0.0)
            found += (share * most) ** 2
        return math.sqrt(found)

    def __str__(self) -> str:
        lines = [HEADS, *(_line(name, one) for name, one in self.members.items())]
        about = (self.guarantee, self.epsilon, self.delta, self.words)
        promise = joint_in_words(*about)
        refused = [
            f"refused by {name}: {one.refused or REFUSED}"
            for name, one in self.members.items()
            if not one.affordable
        ]
        return "\n".join(
            [
                *aligned([list(one) for one in lines], range(1, len(HEADS))),
                f"noise of a step's mean gradient, averaged: {self.mean_noise:.4g} in "
                "each number; each hospital adds its own noise",
                f"guarantee: {promise}",
                *refused,
            ]
        )

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def _line(name: str, one: Preview) -> tuple[str, ...]:
    return (
        name,
        f"{one.units:,}",
        f"{one.batch:,}",
        f"{one.steps:,}",
        f"{one.noise[1]:.4g}",
        f"{one.epsilon:.4g}",
        f"{one.delta:g}",
        "" if one.share is None else percent(one.share),
    )
