"""`audit.training`: tries to refute the guarantee of a trained model with canaries, in
one run.

A fair coin decides for each canary whether it is in the training data. A score says how
much the model looks as if it were (the canary's negative loss, how well the model's
change aligns with its gradient). The highest scores are guessed to be in, the lowest to
be out, and the rest is not guessed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.criteria import criterion_of
from dither.audit.finding import Finding
from dither.errors import ArgumentError
from dither.noise import uniform_integers
from dither.privacy import ApproxDP, Guarantee, PureDP
from dither.privacy.binomial import log_tail
from dither.privacy.numbers import confidence_level, down, float_down, whole

__all__ = ["Canaries", "training"]

SHARES = (1.0, 0.5, 0.2, 0.1)
"""Shares of the canaries that are guessed. All are judged and share the alarm rate."""
FEWEST = 20
LARGEST = 60.0
STEPS = 60
MARGIN = 1 - 1e-6

Included = NDArray[np.bool_]


@dataclass(frozen=True)
class Canaries(Finding):
    """What an audit of one training run found. `right` of `guesses` about canaries were
    right; `draws` is how many canaries there were.
    """

    @property
    def sentences(self) -> tuple[str, str]:
        sure = f"{100 * (1 - self.false_alarm):.12g} %"
        guessed = (
            f"{self.right:,} of {self.guesses:,} guesses about {self.draws:,} canaries "
            "were right"
        )
        if self.refuted:
            return (
                f"Refuted: ε is at least {self.lower:.4g} with {sure} confidence, but "
                f"was claimed to be {self._stated:.4g} ({self.claimed}).",
                f"In one training run {guessed}.",
            )
        return (
            f"Not refuted: {guessed}, so ε is at least {self.lower:.4g}, with {sure} "
            f"confidence, which the claim allows ({self.claimed}).",
            "This does not prove that the claim holds: other canaries, other scores or "
            "more of them may still refute it.",
        )


def training(
    f: Callable[[Included], Any],
    canaries: int = 1000,
    *,
    claimed: Guarantee,
    delta: float = 1e-5,
    confidence: float = 0.999,
) -> Canaries:
    """Tries to refute the guarantee of one training run.

    `f(included)` trains with those canaries of which `included` is true, and returns a
    score for every canary, higher where it looks included. `delta` is where a claim is
    looked at that is neither pure nor (ε, δ).

    Guarantee: a claim that holds is called refuted with probability at most 1 −
    confidence.
    Why: given the model, each coin of an ε-DP run shows either side with odds of at
    most e^ε, so right guesses are at most binomial, whatever the scores; δ adds at most
    2·δ·canaries times the steepest mean slope of that tail (Steinke, Nasr & Jagielski
    2023, theorem 5.2). Four numbers of guesses share the alarm rate.
    Assumes: the claim is about adding or removing one canary, with all its rows, and f
    uses `included` for nothing else.
    """
    promise = _stated(claimed, delta)
    many = whole("canaries", canaries, "pass how many to use, such as 1000")
    if many < FEWEST:
        raise ArgumentError(
            "canaries", f"must be {FEWEST} or more; pass a number such as 1000"
        )
    alarm = float_down(1 - confidence_level("confidence", confidence))
    included = np.asarray(uniform_integers(2, many) == 1)
    scores = _scores(f(included.copy()), many)
    order, each = _order(scores), alarm / len(SHARES)
    found = [_judged(included[order], share, promise, each) for share in SHARES]
    lower, right, guesses = max(found)
    return Canaries(
        refuted=lower > promise.epsilon,
        claimed=promise,
        measure="ε",
        lower=lower,
        epsilon_lower=lower,
        event="the canaries with the highest scores are in, those with the lowest out",
        right=right,
        guesses=guesses,
        draws=many,
        false_alarm=alarm,
    )


def _stated(claimed: Any, delta: float) -> PureDP | ApproxDP:
    if isinstance(claimed, PureDP | ApproxDP):
        return claimed
    if not isinstance(claimed, Guarantee):
        criterion_of(claimed)
    found: ApproxDP = claimed.approx(delta)
    return found


def _scores(found: Any, many: int) -> NDArray[np.float64]:
    try:
        scores = np.asarray(found, np.float64)
    except (TypeError, ValueError):
        scores = np.zeros(0)
    if scores.shape != (many,):
        raise ArgumentError(
            "f",
            f"the function must return {many:,} scores, not {type(found).__name__} of "
            "another shape; return one number for each canary",
        )
    # Of what is no number nothing is known: it goes to the middle
    known = scores[~np.isnan(scores)]
    middle = float(np.median(known)) if known.size else 0.0
    return np.where(np.isnan(scores), middle, scores)


def _order(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """From the highest score to the lowest; chance decides between equal ones."""
    ties = np.asarray(uniform_integers(1 << 62, scores.size))
    return np.lexsort((ties, -scores))


def _judged(
    ranked: Included, share: float, claim: PureDP | ApproxDP, alarm: float
) -> tuple[float, int, int]:
    """A lower bound on ε, right guesses, and guesses."""
    each = max(int(len(ranked) * share) // 2, 1)
    right = int(ranked[:each].sum()) + int((~ranked[-each:]).sum())
    slack = 2 * len(ranked) * getattr(claim, "delta", 0.0)
    low, high = 0.0, LARGEST
    if _chance(right, 2 * each, low, slack) > alarm * MARGIN:
        return 0.0, right, 2 * each
    for _ in range(STEPS):
        middle = (low + high) / 2
        fits = _chance(right, 2 * each, middle, slack) > alarm * MARGIN
        low, high = (low, middle) if fits else (middle, high)
    return max(down(low), 0.0), right, 2 * each


def _chance(right: int, guesses: int, epsilon: float, slack: float) -> float:
    """The largest probability of this number of right guesses under (ε, δ)-DP."""
    each = 1 / (1 + math.exp(-epsilon))
    tail = math.exp(log_tail(right, guesses, each))
    if not slack or right < 1:
        return tail
    below = np.arange(right - 1, -1, -1)
    logs = np.array([_log_mass(int(k), guesses, each) for k in below])
    slopes = np.cumsum(np.exp(logs)) / np.arange(1, right + 1)
    return min(tail + slack * float(slopes.max()), 1.0)


def _log_mass(hits: int, draws: int, chance: float) -> float:
    """ln P(X = hits) of a binomial X."""
    ways = (
        math.lgamma(draws + 1) - math.lgamma(hits + 1) - math.lgamma(draws - hits + 1)
    )
    return ways + hits * math.log(chance) + (draws - hits) * math.log1p(-chance)
