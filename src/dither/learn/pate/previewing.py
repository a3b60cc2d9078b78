"""What votes would cost, and how large their noise would be. Nothing is read or spent."""

from __future__ import annotations

import html
from dataclasses import dataclass

from dither.learn.pate.planning import Plan
from dither.learn.pate.voting import ConfidentGNMax, NoisyMax, Voting
from dither.privacy import Guarantee

__all__ = ["VotePreview"]

CONFIDENCE = 0.95
REFUSED = (
    "this does not fit into what is left of the account, or it is frozen: it would be "
    "refused and nothing charged"
)


@dataclass(frozen=True)
class VotePreview:
    """What a vote will do. `answers` is how many of the queries can be answered; `lead` is
    by how many votes a class must lead to win with a probability of 95 %.
    """

    voting: Voting
    queries: int
    answers: int
    teachers: int
    lead: float
    epsilon: float
    delta: float
    share: float | None
    guarantee: Guarantee
    affordable: bool = True
    display: bool = False

    @classmethod
    def of(cls, plan: Plan) -> VotePreview:
        return cls(
            voting=plan.voting,
            queries=plan.queries,
            answers=plan.voting.at_most(plan.queries),
            teachers=plan.teachers,
            lead=plan.voting.lead(plan.classes, CONFIDENCE),
            epsilon=plan.epsilon,
            delta=plan.delta,
            share=plan.share,
            guarantee=plan.charged,
            affordable=plan.affordable,
            display=plan.display is not None,
        )

    def __str__(self) -> str:
        at = f" at δ = {self.delta:g}" if self.delta else ""
        cost = f"cost: ε = {self.epsilon:.4g}{at} by itself"
        if self.share is not None:
            cost += f", {100 * self.share:.4g} % of the account"
        some = "all" if self.answers == self.queries else f"at most {self.answers:,}"
        return "\n".join(
            [
                f"votes: {self.teachers:,} teachers on {self.queries:,} queries, {some} "
                "answered",
                f"noise: {_noise(self.voting)}",
                f"a class that leads by {self.lead:,.1f} votes wins with probability "
                f"{CONFIDENCE:g}",
                cost,
                *(["the ε on this data: shown with noise"] if self.display else []),
                *([] if self.affordable else [REFUSED]),
            ]
        )

    def _repr_html_(self) -> str:
        return "<br>".join(html.escape(line) for line in str(self).split("\n"))


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
