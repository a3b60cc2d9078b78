"""Which definition of privacy to take when: pure ε, (ε, δ), zCDP and GDP, local; with
their prices.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, SupportsIndex

from dither.explain import check, laws, words
from dither.explain.explanation import Explanation, Rows
from dither.explain.picture import Axis, Panel, document, logarithmic
from dither.privacy import gaussian_mu
from dither.privacy.numbers import Number
from dither.text import width_in_words

__all__ = ["Definition", "Definitions", "definitions"]

CONFIDENCE = 0.95
SIZE = (640, 300)


@dataclass(frozen=True)
class Definition:
    """One kind of promise: what it says, whom one has to trust, when to take it, and
    the ± of each count under it.
    """

    name: str
    promise: str
    trust: str
    when: str
    error: float


@dataclass(frozen=True)
class Definitions(Explanation):
    """The kinds of promise side by side, at the price of `answers` counts about n
    people that share ε (and δ).
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    n: int = 10_000
    answers: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check.loss(self.epsilon))
        object.__setattr__(self, "delta", check.delta(self.delta, zero=False))
        object.__setattr__(
            self,
            "n",
            check.count("n", self.n, "pass a public number of people, such as 10_000"),
        )
        way_out = "pass how many counts share the budget, such as 20"
        object.__setattr__(
            self, "answers", check.count("answers", self.answers, way_out)
        )

    @cached_property
    def mu(self) -> float:
        """The largest μ that keeps (ε, δ): what all answers together may use up."""
        return gaussian_mu(self.epsilon, self.delta)

    @property
    def rho(self) -> float:
        """The same in zCDP."""
        return self.mu * self.mu / 2.0

    @property
    def pure_error(self) -> float:
        """Laplace noise, each answer with its part of ε."""
        return laws.laplace_error(self.epsilon / self.answers, CONFIDENCE)

    @property
    def gaussian_error(self) -> float:
        """Gaussian noise: μ² adds up, so k answers need √k times the noise."""
        return laws.normal_width(CONFIDENCE) * math.sqrt(self.answers) / self.mu

    @property
    def local_error(self) -> float:
        """Randomized response, each answer with its part of ε."""
        return laws.response_error(self.epsilon / self.answers, self.n, CONFIDENCE)

    @property
    def gaussian_pays_from(self) -> int:
        """The fewest answers for which Gaussian noise is smaller than Laplace noise."""
        for_one = laws.normal_width(CONFIDENCE) / self.mu
        return (
            math.floor((for_one / laws.laplace_error(self.epsilon, CONFIDENCE)) ** 2)
            + 1
        )

    @cached_property
    def kinds(self) -> tuple[Definition, ...]:
        """The kinds of promise, one by one."""
        missed = words.tiny(self.delta)
        return (
            Definition(
                "pure ε",
                f"every outcome at most {words.factor(self.epsilon)} times as "
                "likely with you as without",
                "the curator",
                "few answers, or a promise without exceptions",
                self.pure_error,
            ),
            Definition(
                "(ε, δ)",
                f"the same for every event, except for a probability of {missed}",
                "the curator",
                "to give one guarantee for many answers",
                self.gaussian_error,
            ),
            Definition(
                "zCDP and GDP",
                f"no easier to notice you than a shift of {self.mu:.4g} standard "
                f"deviations (ρ = {self.rho:.4g})",
                "the curator",
                "to count many answers: ρ and μ² add up exactly",
                self.gaussian_error,
            ),
            Definition(
                "local ε",
                "whatever you truly answer, each report at most "
                f"{words.factor(self.epsilon)} times as likely",
                "nobody",
                "nobody may hold the data, and people are many",
                self.local_error,
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "n": self.n,
            "answers": self.answers,
            "mu": self.mu,
            "rho": self.rho,
            "confidence": CONFIDENCE,
            "gaussian_pays_from": self.gaussian_pays_from,
            "kinds": [asdict(kind) for kind in self.kinds],
            "sentences": self.sentences,
            "notes": self.notes,
        }

    @property
    def title(self) -> str:
        shared = "one count" if self.answers == 1 else f"{self.answers:,} counts"
        return (
            f"Which promise to take: ε = {words.tiny(self.epsilon)} for "
            f"{shared} about {self.n:,} people"
        )

    @property
    def sentences(self) -> tuple[str, str]:
        pure, gaussian, local = map(
            width_in_words, (self.pure_error, self.gaussian_error, self.local_error)
        )
        return (
            "With a trusted curator, take pure ε for few answers and "
            "Gaussian noise for many, stated as (ε, δ) and "
            f"counted as zCDP or GDP: {pure} against {gaussian} on each count "
            "here, and Gaussian noise wins from "
            f"{self.gaussian_pays_from:,} counts on.",
            "If nobody may hold the data, everybody adds noise before "
            f"sending (local ε): {local} on each count here, "
            "an error that grows with the root of the number of people.",
        )

    @property
    def heading(self) -> tuple[str, ...]:
        return "promise", "± at 95 %", "trusted", "take it for"

    @property
    def rows(self) -> Rows:
        return tuple(
            (kind.name, width_in_words(kind.error), kind.trust, kind.when)
            for kind in self.kinds
        )

    @property
    def notes(self) -> tuple[str, ...]:
        says = tuple(f"{kind.name}: {kind.promise}." for kind in self.kinds)
        return (
            *says,
            "Noise that a server adds to a total is not local, whatever it "
            "is called: there the server is trusted.",
        )

    def svg(self) -> str:
        names = tuple(
            (float(place), kind.name) for place, kind in enumerate(reversed(self.kinds))
        )
        across = logarithmic(
            "± of each count, 95 % of the time", [kind.error for kind in self.kinds]
        )
        panel = Panel(
            120, 34, 440, 190, across, Axis("promise", -0.5, len(names) - 0.5, names)
        )
        for (place, _), kind in zip(names, reversed(self.kinds), strict=True):
            panel = panel.line([(across.low, place), (kind.error, place)]).dot(
                (kind.error, place)
            )
            panel = panel.words(
                (kind.error, place), width_in_words(kind.error), shift=(9.0, 4.0)
            )
        return document(self.title, " ".join(self.sentences), SIZE, [panel])


def definitions(
    epsilon: Number = 1.0,
    *,
    delta: Number = 1e-6,
    n: SupportsIndex = 10_000,
    answers: SupportsIndex = 1,
) -> Definitions:
    """Which of pure ε, (ε, δ), zCDP and GDP, and local ε to take, at the price of so
    many counts that share ε.
    """
    return Definitions(epsilon, delta, n, answers)  # type: ignore[arg-type]
