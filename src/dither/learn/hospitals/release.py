"""A model of several hospitals as a release: what they promise together, and what each
of them has paid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dither.learn.hospitals.joint import joint_in_words
from dither.learn.release import ModelRelease
from dither.ledger import Receipt
from dither.privacy import Guarantee
from dither.wording import cost_of, noted

__all__ = ["JointRelease", "Participation"]


@dataclass(frozen=True)
class Participation:
    """How a hospital took part: what it promises by itself, the receipt of its account,
    and the rounds that it answered. Who answers is public.
    """

    name: str
    guarantee: Guarantee
    epsilon: float
    delta: float
    receipt: Receipt
    weight: float
    answered: tuple[int, ...]
    missed: tuple[int, ...] = ()

    def __str__(self) -> str:
        due = len(self.answered) + len(self.missed)
        return (
            f"{self.name}: ε = {self.epsilon:.4g} at δ = {self.delta:g} by itself, "
            f"answered {len(self.answered)} of {due} rounds"
        )


@dataclass(frozen=True, eq=False)
class JointRelease(ModelRelease):
    """A model that several hospitals trained: `guarantee` is what they promise together,
    and `members` says what each of them did and paid.
    """

    joint: Guarantee | None = None
    words: str = ""
    members: Mapping[str, Participation] = field(default_factory=dict)

    @property
    def guarantee(self) -> Guarantee:
        return super().guarantee if self.joint is None else self.joint

    def _promise(self) -> str:
        if self.joint is None:
            return super()._promise()
        epsilon = self.joint.epsilon_at(self.delta)
        return joint_in_words(self.joint, epsilon, self.delta, self.words)

    def _below(self) -> list[str]:
        if self.joint is None:
            return super()._below()
        costs = (f"cost: {cost_of(one.receipt)}" for one in self.members.values())
        return [f"guarantee: {self._promise()}", *costs, *noted(self.notes)]

    def __repr__(self) -> str:
        kind = type(self.value).__name__
        return f"<JointRelease: {kind} of {len(self.members)} hospitals>"
