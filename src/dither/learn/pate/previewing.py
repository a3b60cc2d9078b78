"""The cost of votes and the size of their noise. Nothing is read or spent."""

from __future__ import annotations

from dataclasses import dataclass

from dither.learn.pate.planning import Plan
from dither.learn.pate.voting import ConfidentGNMax, NoisyMax, Voting
from dither.learn.run.cost import Forecast, price_of

__all__ = ["VotePreview"]

CONFIDENCE = 0.95
DISPLAY = (
    "display: the ε on this data is shown, with noise; its cost is added to that of the "
    "labels, and guarantee and cost are those of both"
)


@dataclass(frozen=True)
class VotePreview(Forecast):
    """What a vote will do. `answers` is how many of the queries can be answered; `lead` is
    by how many votes a class must lead to win with a probability of 95 %. `share` is the
    part of the account that the votes cost, `cost` the same in words, and `remaining` the
    budget that remains after them, or now if they would be refused.
    """

    voting: Voting
    queries: int
    answers: int
    teachers: int
    lead: float
    display: bool = False

    @classmethod
    def of(cls, plan: Plan) -> VotePreview:
        return cls(
            voting=plan.voting,
            queries=plan.queries,
            answers=plan.voting.at_most(plan.queries),
            teachers=plan.teachers,
            lead=plan.voting.lead(plan.classes, CONFIDENCE),
            display=plan.display is not None,
            **price_of(plan),
        )

    def _work(self) -> list[str]:
        some = "all" if self.answers == self.queries else f"at most {self.answers:,}"
        few = (
            ", which is more than there are teachers"
            if self.lead > self.teachers
            else ""
        )
        return [
            f"votes: {self.teachers:,} teachers on {self.queries:,} queries, {some} "
            "answered",
            f"noise: {_noise(self.voting)}",
            f"a class that leads by {self.lead:,.1f} votes wins with probability "
            f"{CONFIDENCE:g}{few}",
        ]

    def _ways(self) -> list[str]:
        return [DISPLAY] if self.display else []


def _noise(voting: Voting) -> str:
    if isinstance(voting, NoisyMax):
        return f"{voting.noise}, ε = {voting.epsilon:.4g} for each query"
    sigma = getattr(voting, "sigma", 0.0)
    if isinstance(voting, ConfidentGNMax):
        return (
            f"Gaussian, σ = {sigma:.4g} votes; test at {voting.threshold:g} votes with "
            f"σ = {voting.sigma_threshold:.4g}"
        )
    return f"Gaussian, σ = {sigma:.4g} votes"
