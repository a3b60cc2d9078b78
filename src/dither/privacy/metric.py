"""Metric privacy: what is promised about two values falls with the distance between
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from dither.errors import ArgumentError, NoConversion
from dither.privacy.guarantees import Guarantee, PureDP
from dither.privacy.numbers import Number, float_up, fraction, not_negative, positive
from dither.privacy.units import facts_in_words

__all__ = ["MetricDP"]

LARGEST = 10**300


@dataclass(frozen=True)
class MetricDP(Guarantee):
    """ε-metric privacy (Chatzikokolakis et al. 2013), of locations geo-
    indistinguishability (Andrés et al. 2013): no output is more than e^(ε·d) times
    likelier for one value than for another at distance d, counted in `per`. Values nearer
    to each other than `beyond` count as that far apart: rounding to a lattice tells the
    nearest ones apart a little, however near they are.

    It hides where within a neighbourhood a value lies, and not in which part of the
    world. So no account takes it: it turns into ε-differential privacy where all values
    lie within a public diameter, and is then as strong as that diameter is small.
    """

    epsilon: float
    per: str = "metre"
    beyond: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        way_out = "pass the ε of one unit of distance, such as 0.01"
        object.__setattr__(self, "epsilon", positive("epsilon", self.epsilon, way_out))
        least = not_negative("beyond", self.beyond, f"pass a distance in {self.per}s")
        object.__setattr__(self, "beyond", least)

    def within(self, diameter: Number) -> PureDP:
        """The promise where no two values can lie farther apart than this, by public
        knowledge: then an account can be charged.
        """
        way_out = f"pass the largest possible distance in {self.per}s"
        positive("diameter", diameter, way_out)
        wide = max(fraction("diameter", diameter, way_out), Fraction(self.beyond))
        exact = wide * Fraction(self.epsilon)
        if exact > LARGEST:
            raise ArgumentError(
                "diameter", f"is too large for a finite guarantee; {way_out}"
            )
        return PureDP(float_up(exact), unit=self.unit.replacing())

    def _refused(self) -> NoReturn:
        raise NoConversion(
            "guarantee",
            "metric privacy is differential privacy only if distances have a public "
            "limit; declare it with .within(diameter)",
        )

    def _loss(self, order: float) -> float:  # noqa: ARG002
        self._refused()

    def _epsilon(self, delta: float) -> float:  # noqa: ARG002
        self._refused()

    def _delta(self, epsilon: float) -> float:  # noqa: ARG002
        self._refused()

    def for_replacement(self) -> Guarantee:
        """It already speaks of replacing one value by another."""
        return self

    def _group(self, size: int) -> Guarantee:  # noqa: ARG002
        raise NoConversion(
            "guarantee",
            "metric privacy does not extend to groups directly; call "
            ".within(diameter).for_group(size)",
        )

    @property
    def measure(self) -> str:
        far = f" from {self.beyond:g} {self.per}s on" if self.beyond else ""
        return f"ε = {self.epsilon:.6g} per {self.per}{far} (metric)"

    def __str__(self) -> str:
        facts = facts_in_words(self.given)
        return f"{self.measure}, protects one {self.unit.name}{facts}"
