"""Success rate of an attack, next to guessing and to the bound of a guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.roc import Allowed
from dither.privacy import Guarantee

__all__ = ["Rate", "coin", "rate", "right_among", "with_or_without"]

Reals = NDArray[np.float64]
Codes = NDArray[np.intp]
Z = 1.96
MARGIN = 3
"""Standard errors by which a measured rate may lie above its bound."""


@dataclass(frozen=True)
class Rate:
    """How often an attacker who saw one release was right.

    `guessing` is how often they are right without that release, or with one that the
    person is not in. `bound` is the most that the guarantee of the release allows; a
    release that promises nothing has none. A guess among ties counts in part.
    """

    release: str
    right: float
    tries: int
    guessing: float
    bound: float | None = None

    @property
    def share(self) -> float:
        return self.right / self.tries if self.tries else 0.0

    @property
    def standard_error(self) -> float:
        """Of the share, over independent tries; never below that of one try more or
        less, so that a share of 0 or 1 is not called exact.
        """
        least = min(1 / max(self.tries, 1), 0.5)
        return _error(min(max(self.share, least), 1 - least), self.tries)

    @property
    def within(self) -> float:
        """How far the true rate may lie from the share at 95 %: the longer side of
        Wilson's interval, which is no point where all tries are right or none is.
        """
        share, many = min(max(self.share, 0.0), 1.0), Z**2 / max(self.tries, 1)
        half = math.sqrt(many * share * (1 - share) + many**2 / 4)
        return (half + many * abs(0.5 - share)) / (1 + many)

    @property
    def kept(self) -> bool | None:
        """Whether the share is within three standard errors of the bound or below it;
        None where nothing is promised.
        """
        if self.bound is None:
            return None
        slack = MARGIN * _error(self.bound, self.tries)
        return self.share <= self.bound + slack + 1e-12

    @property
    def above(self) -> float | None:
        """By how many standard errors the share lies above the bound, less than 0 where
        it lies below; None where nothing is promised.
        """
        if self.bound is None:
            return None
        far, error = self.share - self.bound, _error(self.bound, self.tries)
        if abs(far) <= 1e-12:
            return 0.0
        return far / error if error else math.copysign(math.inf, far)

    def to_dict(self) -> dict[str, Any]:
        return {
            "release": self.release,
            "share": self.share,
            "standard_error": self.standard_error,
            "tries": self.tries,
            "guessing": self.guessing,
            "bound": self.bound,
            "kept": self.kept,
        }


def rate(release: str, right: Any, guessing: float, bound: float | None = None) -> Rate:
    """The rate of some tries, each right (1), wrong (0), or in part."""
    tries = np.asarray(right, np.float64)
    return Rate(release, float(tries.sum()), tries.size, float(guessing), bound)


def _error(share: float, tries: int) -> float:
    held = min(max(share, 0.0), 1.0)
    return math.sqrt(held * (1 - held) / max(tries, 1))


def coin(guarantee: Guarantee) -> float:
    """How often any attacker is right about a bit that a fair coin decided, if the
    guarantee compares both worlds: (1 + δ(0))/2, and e^ε/(1 + e^ε) for pure ε.

    Why: the best test of two worlds is right in (1 + their total variation)/2, and δ at
    ε = 0 bounds that.
    """
    return (1 + guarantee.delta_at(0)) / 2


def with_or_without(guarantee: Guarantee, without: float) -> float:
    """The most that an attacker may be right about people in a release, if they are
    right so often on releases without them.

    Why: for each person naming the true value is a test of the release with them
    against the one without, and the most power is concave in the rate of false
    positives, so the bound of the mean is no less than the mean of the bounds.
    """
    return Allowed(guarantee).power(min(max(without, 0.0), 1.0))


def right_among(scores: Reals, truth: Codes) -> Reals:
    """Whether the largest score is the true one; a tie of m counts 1/m."""
    best = scores.max(axis=1, keepdims=True)
    ties = scores == best
    own = ties[np.arange(len(scores)), truth]
    return np.asarray(own / ties.sum(axis=1))
