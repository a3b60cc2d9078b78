"""What a federated run would do and cost. Nothing is read or spent."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from fractions import Fraction

from dither.learn.previewing import REFUSED
from dither.privacy import Guarantee

__all__ = ["Preview"]


@dataclass(frozen=True)
class Preview:
    """What a run will do. `noise` is the multiplier: of sampled rounds the deviation over
    how far a client moves a round, of correlated noise over how far it moves all rounds
    together. `mean_noise` is the deviation of the noise in each of the `numbers` of a
    round's mean update, from the least to the most of all rounds. `probability` is how
    likely a client is drawn; None where clients are not sampled. A run that is not
    `affordable` would be refused now.
    """

    rounds: int
    units: int
    cohort: int
    rows: int
    noise: tuple[float, float]
    mean_noise: tuple[float, float]
    numbers: int
    epsilon: float
    delta: float
    share: float | None
    guarantee: Guarantee
    probability: Fraction | None
    sampling: str
    route: str
    affordable: bool = True

    def __str__(self) -> str:
        cost = f"cost: ε = {self.epsilon:.4g} at δ = {self.delta:g} by itself"
        if self.share is not None:
            cost += f", {100 * self.share:.4g} % of the account"
        low, high = (one * math.sqrt(self.numbers) for one in self.mean_noise)
        return "\n".join(
            [
                f"rounds: {self.rounds:,}, each with about {self.cohort:,} of "
                f"{self.units:,} declared clients",
                self.sampling,
                f"noise: {_range(*self.noise)} times how far a client moves "
                f"{'all rounds' if self.probability is None else 'a round'}",
                f"noise of a round's mean update: {_range(*self.mean_noise)} in each of "
                f"{self.numbers:,} numbers, {_range(low, high)} in all",
                cost,
                *([] if self.affordable else [REFUSED]),
                f"clients: {self.route}",
            ]
        )

    def _repr_html_(self) -> str:
        return "<br>".join(html.escape(line) for line in str(self).split("\n"))


def _range(low: float, high: float) -> str:
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
