"""The preview of a federated run: its plan and cost. Nothing is read or spent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dither.learn.run.cost import Forecast, between, noise_of_means

__all__ = ["Preview"]


@dataclass(frozen=True)
class Preview(Forecast):
    """What a run will do. `noise` is the multiplier: of sampled rounds the deviation over
    how far a client moves a round, of correlated noise over how far it moves all rounds
    together. `mean_noise` is the deviation of the noise in each of the `numbers` of a
    round's mean update, from the least to the most of all rounds. `probability` is how
    likely a client is drawn; None where clients are not sampled. A run that is not
    `affordable` would be refused now. `share` is the part of the account that it costs,
    `cost` the same in words, and `remaining` the budget that remains after it, or now if
    it would be refused.
    """

    rounds: int
    units: int
    cohort: int
    rows: int
    noise: tuple[float, float]
    mean_noise: tuple[float, float]
    numbers: int
    probability: Fraction | None
    sampling: str
    route: str

    def _work(self) -> list[str]:
        return [
            f"rounds: {self.rounds:,}, each with about {self.cohort:,} of "
            f"{self.units:,} declared clients",
            self.sampling,
            f"noise: {between(*self.noise)} times how far a client moves "
            f"{'all rounds' if self.probability is None else 'a round'}",
            noise_of_means("round's mean update", self.mean_noise, self.numbers),
        ]

    def _ways(self) -> list[str]:
        return [f"clients: {self.route}"]
