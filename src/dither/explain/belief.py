"""The meaning of an ε for one person: how far it lets a belief move, and how well
anybody can tell that they took part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, SupportsIndex

from dither.errors import ArgumentError
from dither.explain import belief_words, check, laws
from dither.explain.belief_picture import draw
from dither.explain.belief_words import ALARMS
from dither.explain.explanation import Explanation, Rows
from dither.privacy import Relation, gaussian_mu
from dither.privacy.numbers import Number

__all__ = ["MARGIN", "AsGaussian", "Meaning", "epsilon"]

MARGIN = 1.1
"""With a δ, no factor holds for every answer; ten percent above e^ε is exceeded with a
small, known chance only.
"""


@dataclass(frozen=True)
class AsGaussian:
    """The least Gaussian noise that keeps an (ε, δ): a known curve, where (ε, δ) alone
    allows more.
    """

    mu: float
    epsilon: float

    def power(self, false_positives: float = ALARMS) -> float:
        """The most true positives of a test with so many false ones."""
        return laws.gaussian_power(false_positives, self.mu)

    @property
    def advantage(self) -> float:
        """The largest difference between true and false positives; also the total
        variation distance.
        """
        return laws.gaussian_advantage(self.mu)

    @property
    def kl(self) -> float:
        """The KL divergence between neighbours, in nats."""
        return self.mu * self.mu / 2.0

    @property
    def chance_beyond(self) -> float:
        """How often an answer moves odds by more than e^ε: more often than δ."""
        return laws.gaussian_beyond(self.mu, self.epsilon)

    def to_dict(self) -> dict[str, float]:
        """Everything as plain data."""
        return {
            "mu": self.mu,
            "power": self.power(),
            "advantage": self.advantage,
            "kl": self.kl,
            "chance_beyond": self.chance_beyond,
        }


@dataclass(frozen=True)
class Meaning(Explanation):
    """What (ε, δ) means for one person, or for a group of them whose records go
    together.

    `prior` is what someone would believe without the record: from all else they know,
    and even from a release that left it out. Under add/remove the belief is that the
    record is in the data; under replace, that it is the true one and not one made up in
    its place.
    """

    epsilon: float
    delta: float = 0.0
    prior: float = 0.5
    group: int = 1
    relation: Relation = Relation.ADD_REMOVE

    def __post_init__(self) -> None:
        way_out = (
            "pass the belief before the release, such as 0.5; a certain belief never "
            "changes"
        )
        checked = {
            "epsilon": check.epsilon(self.epsilon),
            "delta": check.delta(self.delta),
            "prior": check.between("prior", self.prior, way_out),
            "group": check.count(
                "group",
                self.group,
                "pass the number of people who belong together, such as 5",
            ),
            "relation": _relation(self.relation),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.promise[1] >= 1.0:
            raise ArgumentError(
                "group",
                f"δ grows to 1 for a group of {self.group:,} people, which protects none of "
                "them; pass a smaller group",
            )

    @cached_property
    def promise(self) -> tuple[float, float]:
        """ε and δ of the whole group."""
        return laws.group(self.epsilon, self.delta, self.group)

    @property
    def perfect(self) -> bool:
        """Whether nothing at all is told: ε and δ are both 0."""
        return self.promise == (0.0, 0.0)

    @property
    def odds_factor(self) -> float:
        """e^ε: how many times likelier any answer may be with the record than without
        it, δ aside.
        """
        return laws.exp(self.promise[0])

    @property
    def posterior(self) -> tuple[float, float]:
        """The least and the largest belief afterwards; with a δ, `outside` says how
        rarely it leaves them.
        """
        return self.belief(self.prior)

    def belief(self, prior: float) -> tuple[float, float]:
        """The least and the largest belief that can come of another prior, from 0 to 1."""
        if not 0.0 <= prior <= 1.0:
            raise ArgumentError(
                "prior",
                f"must be between 0 and 1, not {prior}; pass the belief before the "
                "release, such as 0.5",
            )
        loss = self._widest()
        return laws.posterior(prior, -loss), laws.posterior(prior, loss)

    @property
    def outside(self) -> float:
        """The chance that a belief leaves `posterior` because of the record, at most: 0
        for a pure ε.
        """
        return laws.chance_outside(*self.promise, MARGIN)

    @property
    def advantage(self) -> float:
        """How far true positives can exceed false ones in any test: (e^ε − 1 + 2δ)/(e^ε
        + 1).
        """
        return laws.advantage(*self.promise)

    @property
    def total_variation(self) -> float:
        """How far the chance of any event can differ with and without the record: the
        same number.
        """
        return self.advantage

    @property
    def guess(self) -> float:
        """How often the best guess from the prior is right, at most."""
        return laws.guess(self.prior, *self.promise)

    @property
    def kl(self) -> float:
        """The largest KL divergence between neighbours in nats, ε·tanh(ε/2); a δ leaves
        it without bound.
        """
        return math.inf if self.promise[1] else laws.pure_kl(self.promise[0])

    def power(self, false_positives: float = ALARMS) -> float:
        """The most true positives of any test with so many false ones."""
        way_out = "pass the share of false positives, such as 0.05"
        return laws.power(
            check.between("false_positives", false_positives, way_out), *self.promise
        )

    @cached_property
    def gaussian(self) -> AsGaussian | None:
        """The promise to one person kept by Gaussian noise, seen by the group; none for
        a pure ε.
        """
        if not self.epsilon or not self.delta:
            return None
        try:
            return AsGaussian(
                self.group * gaussian_mu(self.epsilon, self.delta), self.promise[0]
            )
        except ArgumentError:  # no such Gaussian among the floats
            return None

    def for_group(self, size: SupportsIndex) -> Meaning:
        """The same for so many people whose records go together: ε and δ both grow."""
        return replace(self, group=size)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "prior": self.prior,
            "group": self.group,
            "relation": str(self.relation),
            "promise": {"epsilon": self.promise[0], "delta": self.promise[1]},
            "odds_factor": self.odds_factor,
            "posterior": self.posterior,
            "outside": self.outside,
            "advantage": self.advantage,
            "total_variation": self.total_variation,
            "guess": self.guess,
            "power": {"false_positives": ALARMS, "true_positives": self.power()},
            "kl": self.kl,
            "gaussian": None if self.gaussian is None else self.gaussian.to_dict(),
            "sentences": self.sentences,
            "notes": self.notes,
        }

    @property
    def title(self) -> str:
        return belief_words.title(self)

    @property
    def sentences(self) -> tuple[str, str]:
        return belief_words.sentences(self)

    @property
    def rows(self) -> Rows:
        return belief_words.rows(self)

    @property
    def notes(self) -> tuple[str, ...]:
        return belief_words.notes(self)

    def svg(self) -> str:
        return draw(self, ALARMS)

    def _widest(self) -> float:
        """The loss that `posterior` is made of."""
        return self.promise[0] + (math.log(MARGIN) if self.promise[1] else 0.0)


def _relation(value: Any) -> Relation:
    try:
        return Relation(value)
    except ValueError:
        raise ArgumentError(
            "relation",
            f'{value!r:.40} is not a relation; pass "add/remove" or "replace"',
        ) from None


def epsilon(
    epsilon: Number,
    *,
    delta: Number = 0.0,
    prior: Number = 0.5,
    group: SupportsIndex = 1,
    relation: str = "add/remove",
) -> Meaning:
    """What an ε (and a δ) means for someone of whom `prior` was believed, alone or in a
    `group` of so many.

    ε = 0 is perfect privacy and no information; it can be explained, but no mechanism
    takes it.
    """
    return Meaning(epsilon, delta, prior, group, relation)  # type: ignore[arg-type]
