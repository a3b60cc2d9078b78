"""What accuracy costs: the noise of a count, sum, mean, histogram or quantile against
ε, for a public number of people.

Nothing here reads data: an error law needs the sensitivity, the promise and the
confidence, and all three are public.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

from dither.errors import ArgumentError
from dither.explain import check, laws, words
from dither.explain.explanation import Explanation, Rows
from dither.explain.picture import Panel, document, logarithmic
from dither.privacy import Relation, gaussian_epsilon, gaussian_mu
from dither.privacy.numbers import Number
from dither.text import width_in_words

__all__ = ["EPSILONS", "GOALS", "Law", "Tradeoff", "tradeoff"]

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
GOALS = (0.05, 0.01)
POINTS = 1 << 14
"""The number of public leaves among which a quantile is chosen."""
SIZE = (860, 420)
NARROW = 450
"""The width of a picture without mean squared errors."""
HALVED = (0.2, 0.1)
"""The two ε between which the picture shows what halving costs."""
_NOISE_ONLY = (
    "This is the noise alone, and it comes from public numbers "
    "alone. Clipping to the bounds, and asking a sample of "
    "people instead of all, come on top."
)


@dataclass(frozen=True)
class Law:
    """How far one person moves an answer, what counts as all of it, and among how many
    candidates it is chosen.
    """

    sensitivity: float
    whole: float
    of: str
    relation: Relation = Relation.ADD_REMOVE
    candidates: int = 1


@dataclass(frozen=True)
class Tradeoff(Explanation):
    """The ± of a question at every ε. Laplace noise, or Gaussian noise where there is a
    `delta`.
    """

    query: str
    n: int
    bounds: tuple[float, float] = (0.0, 1.0)
    bins: int = 10
    q: float = 0.5
    delta: float = 0.0
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if self.query not in tuple(LAWS):
            raise ArgumentError(
                "query",
                f"cannot be {self.query!r:.40}; pass one of {', '.join(LAWS)}",
            )
        checked = {
            "n": check.count(
                "n", self.n, "pass a public number of people, such as 10_000"
            ),
            "bounds": check.bounds(self.bounds),
            "bins": check.count(
                "bins", self.bins, "pass how many bins there are, such as 10"
            ),
            "q": check.between(
                "q",
                self.q,
                "pass the level of the quantile, such as 0.5 for the median",
            ),
            "delta": check.delta(self.delta),
            "confidence": check.confidence(self.confidence),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.delta and self.law.candidates > 1:
            raise ArgumentError(
                "delta",
                "does not help a quantile, which is chosen by rank and not noised; leave "
                "delta out",
            )

    @cached_property
    def law(self) -> Law:
        """How far one person moves this answer."""
        return LAWS[self.query](self)

    def error_at(self, epsilon: Number) -> float:
        """The ± at an ε, in the units of the answer; for a quantile, in ranks (people)."""
        return self._error(check.loss(epsilon))

    def mse_at(self, epsilon: Number) -> float:
        """The mean squared error of the noise at an ε: its variance. A
        quantile is chosen, not noised, so this call is refused for it.
        """
        if self.law.candidates > 1:
            raise ArgumentError(
                "query",
                "a quantile does not have a mean squared error, because it is chosen by "
                "rank and not noised; use error_at, which counts ranks",
            )
        loss = check.loss(epsilon)
        if self.delta:
            spread = self.law.sensitivity / gaussian_mu(loss, self.delta)
            return spread * spread
        scale = self.law.sensitivity / loss
        return 2.0 * scale * scale  # infinite beyond the floats, where ** would raise

    def share_at(self, epsilon: Number) -> float:
        """The ± as a part of the whole answer; `law.of` says what the whole is."""
        return self.error_at(epsilon) / self.law.whole

    def epsilon_for(self, share: Number) -> float:
        """The smallest ε at which the noise stays within this part of the whole."""
        way_out = "pass a part such as 0.01 for one percent"
        width = check.between("share", share, way_out) * self.law.whole
        if self.delta:
            return gaussian_epsilon(
                self._spread * self.law.sensitivity / width, self.delta
            )
        return self._spread * self.law.sensitivity / width

    def people_for(self, epsilon: Number, share: Number) -> int:
        """How many people it takes for the noise to stay within this part of the whole,
        at an ε.
        """
        wanted = check.between(
            "share", share, "pass a part such as 0.01 for one percent"
        )
        return math.ceil(self.n * self.share_at(epsilon) / wanted * (1 - 1e-12))

    def to_dict(self) -> dict[str, Any]:
        points = [
            {"epsilon": e, "error": self.error_at(e), "share": self.share_at(e)}
            for e in EPSILONS
        ]
        goals = [{"share": goal, "epsilon": self.epsilon_for(goal)} for goal in GOALS]
        stated = ("query", "n", "bounds", "bins", "q", "delta", "confidence")
        return {
            **{name: getattr(self, name) for name in stated},
            "relation": str(self.law.relation),
            "sensitivity": self.law.sensitivity,
            "whole": {"size": self.law.whole, "what": self.law.of},
            "points": points,
            "goals": goals,
            "sentences": self.sentences,
            "notes": self.notes,
        }

    @property
    def title(self) -> str:
        missed = f", δ = {words.tiny(self.delta)}" if self.delta else ""
        return f"What a {self.query} about {self.n:,} people costs{missed}"

    @property
    def sentences(self) -> tuple[str, str]:
        at = [
            f"{self._width(e)} ({words.at_most(self.share_at(e))}) at ε = {e:g}"
            for e in (1.0, 0.1)
        ]
        goals = [
            f"{words.share(goal)} from ε = {words.plain(self.epsilon_for(goal))}"
            for goal in GOALS
        ]
        halved = "about doubles" if self.delta else "doubles"
        return (
            f"For a {self.query} about {self.n:,} people the noise stays "
            f"within {at[0]} and within {at[1]}, "
            f"{words.share(self.confidence)} of the time.",
            f"It drops to {goals[0]} and to {goals[1]} ({self.law.of}); "
            f"halving ε {halved} the noise, and ten times as "
            "many people make its share ten times smaller.",
        )

    @property
    def heading(self) -> tuple[str, ...]:
        return "ε", f"± at {words.share(self.confidence)}", self.law.of

    @property
    def rows(self) -> Rows:
        asked = sorted({*EPSILONS, *(self.epsilon_for(goal) for goal in GOALS)})
        return tuple(
            (
                words.plain(e),
                self._width(e),
                words.at_most(self._error(e) / self.law.whole),
            )
            for e in asked
            if e
        )

    @property
    def notes(self) -> tuple[str, ...]:
        kind = "Gaussian" if self.delta else "Laplace"
        if self.query == "quantile":
            kind = "chosen by rank, the ± counts people and is a bound"
        return (f"{kind}; neighbours by {self.law.relation}.", _NOISE_ONLY)

    def svg(self) -> str:
        panels = [self._shares()] if self.law.candidates > 1 else []
        panels = panels or [self._shares(), self._squares()]
        width = SIZE[0] if len(panels) > 1 else NARROW
        words_below = " ".join(self.sentences)
        return document(self.title, words_below, (width, SIZE[1]), panels)

    def _shares(self) -> Panel:
        """The ± against ε, relative to the whole answer."""
        low, high = EPSILONS[0], EPSILONS[-1]
        curve = [(e, 100 * self._error(e) / self.law.whole) for e in _along()]
        axis = logarithmic(
            f"± in percent {self.law.of}",
            [*(share for _, share in curve), *(100 * g for g in GOALS)],
        )
        panel = Panel(80, 34, 340, 260, logarithmic("ε", EPSILONS), axis).line(
            curve, accent=True
        )
        panel = panel.legend(
            f"{self.query}, {words.share(self.confidence)} of the time", accent=True
        )
        for goal in GOALS:
            epsilon = self.epsilon_for(goal)
            panel = panel.line([(low, 100 * goal), (high, 100 * goal)], dashed=True)
            panel = panel.words(
                (high, 100 * goal), words.share(goal), anchor="end", shift=(-6.0, -5.0)
            )
            panel = (
                panel.dot((epsilon, 100 * goal)) if low <= epsilon <= high else panel
            )
            panel = panel.legend(
                f"{words.share(goal)} is reached at ε = {words.plain(epsilon)}",
                dashed=True,
            )
        return panel

    def _squares(self) -> Panel:
        """The mean squared error against ε, with one halving of ε marked on it."""
        curve = [(e, self.mse_at(e)) for e in _along()]
        axis = logarithmic("mean squared error", [error for _, error in curve])
        panel = Panel(500, 34, 340, 260, logarithmic("ε", EPSILONS), axis)
        panel = panel.line(curve, accent=True)
        for epsilon in HALVED:
            panel = panel.dot((epsilon, self.mse_at(epsilon)), accent=False)
        larger = self.mse_at(HALVED[1]) / self.mse_at(HALVED[0])
        panel = panel.words(
            (HALVED[1], self.mse_at(HALVED[1])), f"× {larger:.3g}", shift=(8.0, -6.0)
        )
        law = "variance of the noise" if self.delta else "2 · (sensitivity / ε)²"
        panel = panel.legend(law, accent=True)
        return panel.remark(f"black dots: half of ε, {larger:.3g} times the error")

    @cached_property
    def _spread(self) -> float:
        """The ± of noise of scale 1: ln(candidates/tail) for Laplace and choices, z for
        the Gaussian.
        """
        if self.delta:
            return laws.normal_width(self.confidence)
        return math.log(self.law.candidates) - math.log(1.0 - self.confidence)

    def _error(self, epsilon: float) -> float:
        strength = gaussian_mu(epsilon, self.delta) if self.delta else epsilon
        return self.law.sensitivity * self._spread / strength

    def _width(self, epsilon: float) -> str:
        return width_in_words(self._error(epsilon))


def _along() -> list[float]:
    """The ε that curves are drawn through."""
    low, high = EPSILONS[0], EPSILONS[-1]
    return [low * (high / low) ** (i / 60) for i in range(61)]


def _count(asked: Tradeoff) -> Law:
    return Law(1.0, asked.n, "of the people")


def _sum(asked: Tradeoff) -> Law:
    largest = max(map(abs, asked.bounds))
    return Law(largest, asked.n * largest, "of the largest possible sum")


def _mean(asked: Tradeoff) -> Law:
    """With a public n the mean moves by (high − low)/n, and neighbours replace one
    person.
    """
    width = asked.bounds[1] - asked.bounds[0]
    return Law(width / asked.n, width, "of the width of the bounds", Relation.REPLACE)


def _histogram(asked: Tradeoff) -> Law:
    """Each person is in one bin, so every bin has the noise of one count."""
    return Law(1.0, asked.n / asked.bins, "of an average bin")


def _quantile(asked: Tradeoff) -> Law:
    """Half of ε chooses the value (the rest its interval), and one person moves a rank
    by max(q, 1 − q).
    """
    return Law(
        4.0 * max(asked.q, 1.0 - asked.q), asked.n, "of the ranks", candidates=POINTS
    )


LAWS: dict[str, Callable[[Tradeoff], Law]] = {
    "count": _count,
    "sum": _sum,
    "mean": _mean,
    "histogram": _histogram,
    "quantile": _quantile,
}


def tradeoff(
    query: str,
    n: SupportsIndex,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    bins: SupportsIndex = 10,
    q: Number = 0.5,
    delta: Number = 0.0,
    confidence: Number = 0.95,
) -> Tradeoff:
    """The error of a "count", "sum", "mean", "histogram" or "quantile" about n people,
    against ε.

    `bounds` are the public limits of the values (sum and mean), `bins` those of a
    histogram, `q` the quantile's level. The number of people is public, or a public
    guess. With a `delta` the noise is Gaussian.
    """
    return Tradeoff(query, n, bounds, bins, q, delta, confidence)  # type: ignore[arg-type]
