"""The total cost of several answers of the same ε, by every rule that textbooks quote,
and which rule is best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

from dither.errors import ArgumentError
from dither.explain import check, words
from dither.explain.explanation import Explanation, Rows
from dither.explain.picture import Panel, document, logarithmic
from dither.privacy.advanced import advanced_epsilon
from dither.privacy.conversions import pure_rho
from dither.privacy.gaussian import gaussian_epsilon, pure_mu
from dither.privacy.losses import pure_loss
from dither.privacy.numbers import Number
from dither.privacy.optimal import repeated_epsilon
from dither.privacy.renyi import best_epsilon

__all__ = ["Together", "composition"]

WALKED = 10**7
"""Number of answers up to which the exact total is summed loss by loss (in a tenth of a
second); beyond, Rényi divergences are within a few percent.
"""
SIZE = (560, 420)
STEPS = 40
USUAL = 1e-6
"""The δ whose savings the picture shows if none is stated."""
_ADAPTIVE = (
    "These totals are for costs that were fixed before the first "
    "answer. If each cost is chosen after the last answer, "
    "the account decides."
)


@dataclass(frozen=True)
class Together(Explanation):
    """Totals of `answers` answers of pure ε each. With a `delta`, weaker promises with
    a smaller ε exist as well.
    """

    epsilon: float
    answers: int
    delta: float = 0.0

    def __post_init__(self) -> None:
        way_out = "pass how many answers there are, such as 100"
        object.__setattr__(self, "epsilon", check.epsilon(self.epsilon))
        object.__setattr__(
            self, "answers", check.count("answers", self.answers, way_out)
        )
        object.__setattr__(self, "delta", check.delta(self.delta))

    @property
    def basic(self) -> float:
        """The sum k·ε: pure, and no smaller pure ε holds for all mechanisms."""
        return self.answers * self.epsilon

    @cached_property
    def advanced(self) -> float | None:
        """The textbook √(2k ln(1/δ))·ε + k·ε(e^ε − 1)."""
        return self._if_any(
            lambda: advanced_epsilon({self.epsilon: self.answers}, self.delta)
        )

    @cached_property
    def concentrated(self) -> float | None:
        """By zCDP: ρ = k·ε·tanh(ε/2)."""
        return self._if_any(
            lambda: _by_rho(self.answers * pure_rho(self.epsilon), self.delta)
        )

    @cached_property
    def gaussian(self) -> float | None:
        """By Gaussian privacy: each answer is at most μ = 2Φ⁻¹(e^ε/(1 + e^ε)), and μ²
        adds up.
        """
        return self._if_any(
            lambda: gaussian_epsilon(
                math.sqrt(self.answers) * pure_mu(self.epsilon), self.delta
            )
        )

    @cached_property
    def best(self) -> float:
        """The smallest total known; up to ten million answers the smallest there is."""
        others = (
            self.advanced,
            self.concentrated,
            self.gaussian,
            self._if_any(self._tightest),
        )
        return min([self.basic, *(other for other in others if other is not None)])

    @property
    def advanced_pays_from(self) -> int | None:
        """The fewest answers for which the textbook's advanced total is below the sum;
        never from ε = ln 2 on.
        """
        room = 2.0 - math.exp(min(self.epsilon, 1.0))
        if not self.epsilon or not self.delta or room <= 0.0:
            return None
        return math.floor(-2.0 * math.log(self.delta) / (room * room)) + 1

    def to_dict(self) -> dict[str, Any]:
        names = (
            "epsilon",
            "answers",
            "delta",
            "basic",
            "advanced",
            "concentrated",
            "gaussian",
            "best",
        )
        found = {name: getattr(self, name) for name in names}
        return {
            **found,
            "advanced_pays_from": self.advanced_pays_from,
            "sentences": self.sentences,
            "notes": self.notes,
        }

    @property
    def title(self) -> str:
        missed = f", at δ = {words.tiny(self.delta)}" if self.delta else ""
        return f"{self._answers()} of ε = {words.tiny(self.epsilon)} together{missed}"

    @property
    def sentences(self) -> tuple[str, str]:
        stated, total = words.tiny(self.epsilon), words.plain(self.basic)
        if self.answers == 1:
            return (
                f"One answer of ε = {stated} costs ε = {total}: there is nothing "
                "to add to it.",
                self._second(),
            )
        first = f"{self._answers()} of ε = {stated} cost ε = {total} together"
        return f"{first}: their costs add up.", self._second()

    def _second(self) -> str:
        if not self.epsilon:
            return "Answers that do not depend on data cost nothing, whatever their number."
        if self.advanced is None:
            return (
                "Without a δ no rule gives less: there are mechanisms that lose "
                "exactly the sum."
            )
        total, pays = words.plain(self.advanced), self.advanced_pays_from
        when = (
            "for an ε of 0.7 or more the advanced rule never pays"
            if pays is None
            else f"at this δ the advanced rule pays from {pays:,} answers on"
        )
        best = words.plain(self.best)
        if self.advanced >= self.basic:
            known = (
                f", and the best known rule says {best}"
                if self.best < self.basic
                else ""
            )
            return (
                f"The advanced rule of the textbooks would say {total}, which is "
                f"worse{known}; {when}."
            )
        missed = words.tiny(self.delta)
        return (
            f"With a δ of {missed} the advanced rule lowers that to {total}, "
            f"and the best known to {best}; {when}."
        )

    @property
    def rows(self) -> Rows:
        lines = [
            ("sum (basic)", self.basic),
            ("advanced, as in textbooks", self.advanced),
        ]
        lines += [
            ("zCDP", self.concentrated),
            ("Gaussian", self.gaussian),
            ("best known", self.best),
        ]
        return tuple(
            (name, f"ε = {words.plain(total)}")
            for name, total in lines
            if total is not None
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return (_ADAPTIVE,)

    def svg(self) -> str:
        last = min(10 ** max(2, math.ceil(math.log10(self.answers)) + 1), check.LARGEST)
        counts = sorted({round(last ** (i / STEPS)) for i in range(STEPS + 1)})
        curve = [self._for(count, self.delta) for count in counts]
        loose = [self._for(count, self.delta or USUAL) for count in counts]
        totals = [one.best for one in loose] + [curve[-1].basic]
        panel = Panel(
            70,
            34,
            460,
            260,
            logarithmic("answers", counts),
            logarithmic("ε together", totals),
        )
        panel = panel.line([(one.answers, one.basic) for one in curve]).legend(
            "sum (basic)"
        )
        if self.delta and self.epsilon:
            panel = panel.line(
                [(one.answers, one.advanced or 0.0) for one in curve], dashed=True
            )
            panel = panel.legend(
                f"advanced, at δ = {words.tiny(self.delta)}", dashed=True
            )
        allowed = f", if a δ of {words.tiny(USUAL)} is allowed"
        best = "best known" + ("" if self.delta else allowed)
        panel = panel.line(
            [(one.answers, one.best) for one in loose], accent=True
        ).legend(best, accent=True)
        panel = panel.dot((self.answers, self.best))
        return document(self.title, " ".join(self.sentences), SIZE, [panel])

    def _tightest(self) -> float:
        if self.answers <= WALKED:
            return repeated_epsilon(self.epsilon, self.answers, self.delta)
        return best_epsilon(
            lambda order: self.answers * pure_loss(self.epsilon, order), self.delta
        )

    def _if_any(self, total: Any) -> float | None:
        """A total that needs a δ; nothing is lost where ε is 0, and beyond the floats
        there is no bound.
        """
        if not self.delta:
            return None
        try:
            return float(total()) if self.epsilon else 0.0
        except (OverflowError, ArgumentError):
            return math.inf

    def _for(self, answers: int, delta: float) -> Together:
        return Together(self.epsilon, answers, delta)

    def _answers(self) -> str:
        return f"{self.answers:,} answers" if self.answers > 1 else "One answer"


def _by_rho(rho: float, delta: float) -> float:
    return best_epsilon(lambda order: rho * order, delta)


def composition(
    epsilon: Number, answers: SupportsIndex, *, delta: Number = 0.0
) -> Together:
    """What so many answers of pure ε each cost together: the sum, and with a δ the
    other rules beside it.
    """
    return Together(epsilon, answers, delta)  # type: ignore[arg-type]
