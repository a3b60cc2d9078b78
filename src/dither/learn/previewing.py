"""What a run would cost and how noisy it would be. Nothing is read or spent."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from fractions import Fraction

from torch import nn

from dither.learn.clipping import Adapting
from dither.learn.gradients.oracle import trained
from dither.learn.planning import Plan
from dither.privacy import Guarantee

__all__ = ["Preview", "preview_of"]

REFUSED = (
    "this does not fit into what is left of the account, or it is frozen: it would be "
    "refused and nothing charged"
)


@dataclass(frozen=True)
class Preview:
    """What a run will do. `noise` is the multiplier of the noise (its deviation over the
    clipping radius), from the least to the most of a schedule; `probability` is how
    likely a unit enters a batch. `mean_noise` is the deviation of the noise in each of
    the `numbers` of a step's mean gradient: that is what an optimizer sees (of an
    adaptive radius, at first). Of a run that goes on from a checkpoint, `left` steps will
    run, `lost` ones never do, and nothing more is charged. A run that is not `affordable`
    would be refused now: too little is left of the account, or it is frozen.
    """

    noise: tuple[float, float]
    probability: Fraction
    steps: int
    units: int
    batch: int
    rows: int
    epsilon: float
    delta: float
    share: float | None
    guarantee: Guarantee
    micro: int
    route: str
    reading: tuple[str, ...] = ()
    validation: str = ""
    left: int | None = None
    lost: int = 0
    mean_noise: tuple[float, float] | None = None
    numbers: int = 0
    optimizer: str = ""
    affordable: bool = True

    def __str__(self) -> str:
        t = self.probability * (1 << 32)
        cost = f"cost: ε = {self.epsilon:.4g} at δ = {self.delta:g} by itself"
        if self.share is not None:
            cost += f", {100 * self.share:.4g} % of the account"
        rows = "" if self.rows == 1 else f", at most {self.rows} rows of each"
        rest = [] if self.left is None else [self._rest()]
        return "\n".join(
            [
                f"steps: {self.steps:,}, each on about {self.batch:,} of "
                f"{self.units:,} declared units{rows}",
                f"sampling: each unit by itself, q = {int(t)}/2^32 "
                f"≈ {float(self.probability):.4g}",
                f"noise: {_range(self.noise)} times the clipping radius",
                *self._seen(),
                *([self.optimizer] if self.optimizer else []),
                cost,
                *([] if self.affordable else [REFUSED]),
                f"gradients: {self.route}{', ' if self.route else ''}{self.micro:,} "
                "units at a time",
                *([f"{self.validation}: part of the cost"] if self.validation else []),
                *self.reading,
                *rest,
            ]
        )

    def _seen(self) -> list[str]:
        if self.mean_noise is None:
            return []
        low, high = self.mean_noise
        whole = low * math.sqrt(self.numbers), high * math.sqrt(self.numbers)
        return [
            f"noise of a step's mean gradient: {_range(self.mean_noise)} in each of "
            f"{self.numbers:,} numbers, {_range(whole)} in all"
        ]

    def _rest(self) -> str:
        lost = f", {self.lost:,} were lost" if self.lost else ""
        return f"goes on: {self.left:,} steps are left{lost}; all of it is paid for"

    def _repr_html_(self) -> str:
        return "<br>".join(html.escape(line) for line in str(self).split("\n"))


def _range(ends: tuple[float, float]) -> str:
    low, high = ends
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def preview_of(
    plan: Plan,
    radius: Adapting,
    model: nn.Module,
    micro: int,
    route: str = "",
    reading: tuple[str, ...] = (),
    optimizer: str = "",
) -> Preview:
    least, most = min(plan.noises), max(plan.noises)
    seen = radius.deviation(least) / plan.batch, radius.deviation(most) / plan.batch
    return Preview(
        noise=(least, most),
        mean_noise=seen,
        numbers=sum(one.numel() for one in trained(model).values()),
        probability=plan.run.probability,
        steps=plan.steps,
        units=plan.units,
        batch=plan.batch,
        rows=plan.rows,
        epsilon=plan.epsilon_after(plan.steps),
        delta=plan.delta,
        share=plan.share,
        guarantee=plan.charged,
        micro=micro,
        route=route,
        reading=reading,
        optimizer=optimizer,
        affordable=plan.affordable,
        validation="" if plan.validation is None else str(plan.validation),
    )
