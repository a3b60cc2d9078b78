"""Clipping of a unit's gradient in a step, as callers state it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from dither.errors import ArgumentError
from dither.learn.gaussian import gaussians
from dither.learn.gradients.clipping import Automatic, Clipping, Flat, PerLayer
from dither.learn.gradients.oracle import trained
from dither.privacy.numbers import positive, share

__all__ = ["Adapting", "Adaptive", "Automatic", "Clipping", "Flat", "PerLayer"]

WAY_OUT = "pass a clipping norm such as 1.0"
LEAST, MOST = 2.0**-40, 2.0**40
"""Radii whose weights are usual numbers in float32."""
FINEST = 64
"""Parts of a unit that a noisy count tells apart."""


@dataclass(frozen=True)
class Adaptive:
    """A radius that follows the norms of gradients: about a `quantile` of all units stay
    below it (Andrew, Thakkar, McMahan, Ramaswamy 2021).

    How many units do is a noisy count, with noise of deviation `count_noise` (a
    twentieth of the batch, if not given). It is part of each step's cost: gradients get
    a little more noise, σ_g = (σ⁻² − (2σ_b)⁻²)^(−1/2).
    """

    radius: float = 1.0
    quantile: float = 0.5
    rate: float = 0.2
    count_noise: float | None = None

    def __post_init__(self) -> None:
        positive("radius", self.radius, WAY_OUT)
        positive(
            "rate", self.rate, "pass the rate at which the radius changes, such as 0.2"
        )
        share("quantile", self.quantile, "pass a fraction of the units, such as 0.5")
        if self.count_noise is not None:
            way_out = "pass a standard deviation such as 10.0"
            positive("count_noise", self.count_noise, way_out)


KNOWN = (Flat, PerLayer, Automatic, Adaptive)
"""Kinds of clipping whose sums are proved to stay within the radius."""


@dataclass
class Adapting:
    """The radius of one run: fixed, or moved after each step."""

    clipping: Clipping
    rule: Adaptive | None
    batch: int
    below: float = field(default=0.0, repr=False)

    @classmethod
    def of(cls, clip: Any, model: nn.Module, batch: int) -> Adapting:
        """A stated clipping: a number is the radius of a whole gradient."""
        if isinstance(clip, Adaptive | Clipping) and type(clip) not in KNOWN:
            names = ", ".join(one.__name__ for one in KNOWN)
            raise ArgumentError(
                "clip", f"must be a number or one of {names}; pass a norm such as 1.0"
            )
        for one in _radii(clip):
            if not LEAST <= one <= MOST:
                raise ArgumentError(
                    "clip", f"must be between {LEAST:.0e} and {MOST:.0e}; {WAY_OUT}"
                )
        if isinstance(clip, Adaptive):
            return cls(Flat(clip.radius), clip, batch)
        if isinstance(clip, PerLayer):
            _check_names(clip.radii, model)
        if not isinstance(clip, Clipping):
            return cls(Flat(_radii(clip)[0]), None, batch)
        return cls(clip, None, batch)

    @property
    def count_noise(self) -> float:
        assert self.rule is not None
        return self.rule.count_noise or max(self.batch / 20, 1.0)

    def check(self, noise: float) -> None:
        """Check that the count leaves something of a step's cost."""
        if self.rule is not None and not self.count_noise > noise / 2:
            raise ArgumentError(
                "clip",
                f"the count_noise of Adaptive must be above {noise / 2:.4g}, half the "
                "noise multiplier of the gradients; pass a larger count_noise",
            )

    def deviation(self, noise: float) -> float:
        """The standard deviation of the gradient's noise, where a step has this
        multiplier.
        """
        if self.rule is None:
            return noise * self.clipping.radius
        left = noise**-2 - (2 * self.count_noise) ** -2
        return self.clipping.radius * (1 + 2.0**-40) / math.sqrt(left)

    def weights(self, there: Tensor) -> Any:
        """Weights from norms; `there` marks the units that are present."""
        if self.rule is None:
            return self.clipping

        def counted(squares: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
            norms = torch.stack(list(squares.values())).sum(0).sqrt()
            below = (norms <= self.clipping.radius).to(torch.float64) - 0.5
            self.below += float((below * there.to(below)).sum())
            return self.clipping(squares)

        return counted

    def restore(self, radius: float) -> None:
        """Continue with the radius of an earlier step."""
        if self.rule is not None:
            if not LEAST <= radius <= MOST:
                raise ArgumentError(
                    "resume",
                    "the checkpoint does not hold a usable clipping norm; pass an "
                    "intact copy as resume=",
                )
            self.clipping = Flat(radius)

    def step(self) -> None:
        """Move the radius, by a noisy count."""
        if self.rule is None:
            return
        noisy = self.below + self.count_noise * float(gaussians(1))
        # Coarser than the noise: bits that it lacks would show the count.
        noisy = round(noisy * FINEST) / FINEST
        part = noisy / self.batch + 0.5
        change = math.exp(-self.rule.rate * (min(max(part, 0), 1) - self.rule.quantile))
        moved = min(max(self.clipping.radius * change, LEAST), MOST)
        self.clipping = Flat(moved)
        self.below = 0.0


def _radii(clip: Any) -> list[float]:
    """The stated radii."""
    if isinstance(clip, PerLayer):
        return [positive("clip", one, WAY_OUT) for one in clip.radii.values()]
    radius = clip.radius if isinstance(clip, Adaptive | Clipping) else clip
    return [positive("clip", radius, WAY_OUT)]


def _check_names(radii: Mapping[str, float], model: nn.Module) -> None:
    names = set(trained(model))
    if set(radii) != names:
        listed = ", ".join(map(repr, sorted(names)[:8]))
        more = ", …" if len(names) > 8 else ""
        raise ArgumentError(
            "clip",
            "must have exactly one radius for each trained parameter; pass a PerLayer "
            f"with the names {listed}{more}",
        )
