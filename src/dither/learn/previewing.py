"""The cost and noise of a run. Nothing is read or spent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from torch import nn

from dither.learn.clipping import Adapting
from dither.learn.gradients.oracle import trained
from dither.learn.planning import Plan
from dither.learn.run.cost import Forecast, between, noise_of_means, price_of

__all__ = ["Preview", "preview_of"]


@dataclass(frozen=True)
class Preview(Forecast):
    """What a run will do. `noise` is the multiplier of the noise (standard deviation over
    clipping norm), from the least to the most of a schedule; `probability` is how
    likely a unit enters a batch. `mean_noise` is the standard deviation of the noise in each of
    the `numbers` of a step's mean gradient: that is what an optimizer sees (of an
    adaptive radius, at first). Of a run that goes on from a checkpoint, `left` steps will
    run, `lost` ones never do, and nothing more is charged. A run that is not `affordable`
    would be refused now: too little of the account remains, or it is frozen. `share` is
    the part of the account that it costs, `cost` the same in words, and `remaining` the
    budget that remains after it, or now if it would be refused.
    """

    noise: tuple[float, float]
    probability: Fraction
    steps: int
    units: int
    batch: int
    rows: int
    micro: int
    route: str
    reading: tuple[str, ...] = ()
    validation: str = ""
    left: int | None = None
    lost: int = 0
    mean_noise: tuple[float, float] | None = None
    numbers: int = 0
    optimizer: str = ""

    def _work(self) -> list[str]:
        t = self.probability * (1 << 32)
        rows = "" if self.rows == 1 else f", at most {self.rows} rows of each"
        lines = [
            f"steps: {self.steps:,}, each on about {self.batch:,} of "
            f"{self.units:,} declared units{rows}"
        ]
        if self.left is not None:
            verb = "was" if self.lost == 1 else "were"
            lost = f", {self.lost:,} {verb} lost" if self.lost else ""
            lines.append(f"resumed: {self.left:,} steps remain{lost}")
        lines += [
            f"sampling: each unit independently, q = {int(t)}/2^32 "
            f"≈ {float(self.probability):.4g}",
            f"noise: {between(*self.noise)} times the clipping norm",
        ]
        if self.mean_noise is not None:
            what = "step's mean gradient"
            lines.append(noise_of_means(what, self.mean_noise, self.numbers))
        return lines

    @property
    def _pace(self) -> str:
        if self.route.startswith("one row"):
            return self.route
        start = f"{self.route}, " if self.route else ""
        return f"{start}up to {self.micro:,} units at a time"

    def _ways(self) -> list[str]:
        return [
            *([self.optimizer] if self.optimizer else []),
            f"gradients: {self._pace}",
            *([f"{self.validation}, part of the cost"] if self.validation else []),
            *self.reading,
        ]


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
    return Preview(
        noise=(least, most),
        mean_noise=(
            radius.deviation(least) / plan.batch,
            radius.deviation(most) / plan.batch,
        ),
        numbers=sum(one.numel() for one in trained(model).values()),
        probability=plan.run.probability,
        steps=plan.steps,
        units=plan.units,
        batch=plan.batch,
        rows=plan.rows,
        micro=micro,
        route=route,
        reading=reading,
        optimizer=optimizer,
        validation="" if plan.validation is None else str(plan.validation),
        **price_of(plan),
    )
