"""The result of an audit, in numbers and in two sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dither.privacy import Guarantee

__all__ = ["Finding"]


@dataclass(frozen=True)
class Finding:
    """The result of an audit.

    `lower` bounds the number that the claim states from below (`measure` names it: ε,
    range ε, μ or ρ); it is too high with probability `false_alarm` at most.
    `epsilon_lower` is the same about ε (at the claim's δ). A guarantee that is not
    refuted is not proved: only this event, on these inputs, was looked at.
    """

    refuted: bool
    claimed: Guarantee
    measure: str
    lower: float
    epsilon_lower: float
    event: str
    right: int
    guesses: int
    draws: int
    false_alarm: float
    pair: int = 0
    pairs: int = 1

    @property
    def sentences(self) -> tuple[str, str]:
        """What was found, and what it means."""
        sure, which = (
            f"{100 * (1 - self.false_alarm):.12g} %",
            f" of pair {self.pair + 1}" if self.pairs > 1 else "",
        )
        if not self.draws:
            return (
                f"Refuted without a draw: {self.event}.",
                "This event tells the inputs apart with certainty, and no guarantee "
                f"allows it ({self.claimed}).",
            )
        if self.refuted:
            return (
                f"Refuted: {self.measure} is at least {self.lower:.4g} with "
                f"{sure} confidence, but was claimed to "
                f"be {self._stated:.4g} ({self.claimed}).",
                f"By this event, {self.right:,} of {self.guesses:,} guesses of the "
                f"input{which} were right, among {self.draws:,} draws of each input: "
                f"{self.event}.",
            )
        return (
            f"Not refuted: {self.draws:,} draws of each input show that "
            f"{self.measure} is at least {self.lower:.4g}, "
            f"with {sure} confidence, which the claim allows ({self.claimed}).",
            "This does not prove that the claim holds: other inputs, other events or "
            "more draws may still refute it.",
        )

    @property
    def _stated(self) -> float:
        names = {"ε": "epsilon", "range ε": "epsilon", "μ": "mu", "ρ": "rho"}
        return float(getattr(self.claimed, names[self.measure]))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data; a bound beyond every number is null."""
        return {
            "refuted": self.refuted,
            "claimed": str(self.claimed),
            "measure": self.measure,
            "stated": self._stated,
            "lower": _finite(self.lower),
            "epsilon_lower": _finite(self.epsilon_lower),
            "event": self.event,
            "right": self.right,
            "guesses": self.guesses,
            "draws": self.draws,
            "false_alarm": self.false_alarm,
        }

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
