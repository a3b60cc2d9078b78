"""`ExplainableBoostingClassifier`: a sum of one curve for each column, grown in rounds
from noisy histograms of what is still wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.learn.estimators.base import Fitted
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.fallback import Fallback, few
from dither.learn.estimators.likelihoods import Likelihoods
from dither.learn.estimators.rounds import Boosting, places_of, root_up
from dither.learn.estimators.scores import Scored, paired
from dither.learn.estimators.spending import Spending, quieter
from dither.privacy import Guarantee
from dither.privacy.numbers import whole

__all__ = ["ExplainableBoostingClassifier"]

BINS, MANY_BINS, MANY_ROUNDS = 8, 256, 1000
FEWEST = 10.0
"""There are no fewer units, as far as rounds are concerned."""
MANY, MANY_PURE = 500.0, 1000.0
"""Units times μ from which on rounds pay; and units times ε for each column."""


class ExplainableBoostingClassifier(Scored):
    """A sum of curves, one for each column, which can be drawn and read:
    `ExplainableBoostingClassifier(epsilon=1, bounds=(0, 16), classes=range(10),
    budget=account).fit(X, y, owner=ids)`.

    Each column is cut into `max_bins` equal parts of its bounds. Where units are few
    for the cost, curves come from one release of noisy counts of each class by bin; pure
    ε then uses a random choice of the columns, if they are many. Else, or where
    `max_rounds` is stated, the difference between what is predicted and what is true is
    summed up by bin in each round, with noise, and the curves move against it. How far
    they move follows from the noise. Where `units` are not known, a twentieth of the
    cost counts them. A part of the cost chooses how much the curves count: all of what
    they say, less of it, or nothing, so that all rows get one class.

    `term_scores_[j]` has a line for each bin of a column, with a number for each class
    (one where there are two); `bins_[j]` has the ends of the bins, and `intercept_`
    what all rows share.

    Guarantee: the stated cost, for one unit with all of its rows, under add/remove; pure
    where the cost is.
    Why: a row is in one bin of each of d columns, with a difference of at most 1 (√2
    with more than two classes, 2 in L1): so a unit moves a round's sums by √d times
    that in L2, and d times in L1. Rounds compose: T Gaussian ones of μ/√T are exactly
    μ-GDP together, and ε of pure ones add up. Sums are of whole numbers. Of counts by
    bin and class, a unit moves one in each column, by 1. The choice is permute-and-flip
    on counts of rows that are right (docs/proofs/estimators.md).
    Assumes: bounds and classes are public, not read off the data.
    """

    _what = "boosting"

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        share: float | None = None,
        delta: float | None = None,
        bounds: Any = None,
        classes: Any = None,
        units: int | None = None,
        rows: int | None = None,
        max_bins: int = BINS,
        max_rounds: int | None = None,
        budget: Any = None,
        by: str | None = None,
        several_fits: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.rho = rho
        self.share = share
        self.delta = delta
        self.bounds = bounds
        self.classes = classes
        self.units = units
        self.rows = rows
        self.max_bins = max_bins
        self.max_rounds = max_rounds
        self.budget = budget
        self.by = by
        self.several_fits = several_fits

    def _plan(self, declared: Declared, spending: Spending) -> Curves:
        bins = whole("max_bins", self.max_bins, "pass a number such as 8")
        if not 2 <= bins <= MANY_BINS:
            raise ArgumentError(
                "max_bins", f"must be from 2 to {MANY_BINS}; pass one such as 8"
            )
        rounds = self.max_rounds
        if rounds is not None:
            rounds = whole("max_rounds", rounds, "pass a number such as 30")
            if rounds > MANY_ROUNDS:
                raise ArgumentError(
                    "max_rounds",
                    f"must be at most {MANY_ROUNDS:,}, because more rounds do not "
                    "help; pass a number such as 30",
                )
        return Curves.of(declared, spending, bins, rounds)

    def decision_function(self, X: Any) -> Reals:
        """Scores: of the second class where there are two, else one for each."""
        inputs = self._read(X)
        shares = self.declared_.shares(inputs)
        scores: Reals = self.intercept_ + scores_of(shares, self.term_scores_)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _scores(self, X: Any) -> Reals:
        return paired(self.decision_function(X))


def scores_of(shares: Reals, curves: Reals) -> Reals:
    """The sum of what all curves say of each row."""
    found = np.zeros((len(shares), curves.shape[2]))
    for column, curve in enumerate(curves):
        found += curve[places_of(shares[:, column], len(curve))]
    return found


def paired_lines(scores: Reals) -> Reals:
    """A score for each class, also where one of two classes has them all."""
    found: Reals = paired(scores[:, 0]) if scores.shape[1] == 1 else scores
    return found


@dataclass(frozen=True)
class Curves:
    """Rounds, or one release of counts: whichever suits as many units as there are.
    Both cost the same.
    """

    boosting: Boosting
    stated: bool
    fallback: Fallback
    spending: Spending

    @classmethod
    def of(
        cls, declared: Declared, spending: Spending, bins: int, rounds: int | None
    ) -> Curves:
        width, units = declared.width, declared.units
        known = units is not None and units * (spending.mu or 0.0) >= MANY
        if few(declared, spending):
            chosen = spending.ways[1]
        elif spending.gaussian and (known or rounds is not None):
            chosen = replace(spending, epsilon=None)
        else:
            chosen = quieter(spending, float(width), root_up(width))
        fallback, rest = Fallback.of(declared, chosen)
        boosting = Boosting.of(declared, rest, bins, rounds)
        found = cls(boosting, rounds is not None, fallback, chosen)
        _ = found.likelihoods.noise(width)
        return found

    @property
    def guarantee(self) -> Guarantee:
        return self.spending.guarantee

    @property
    def likelihoods(self) -> Likelihoods:
        return Likelihoods(self.boosting)

    def fit(self, rows: Rows) -> Fitted:
        units = self.boosting.count.release(rows, FEWEST)
        by_rounds = self.stated or self.many(units)
        fit = self.boosting.fit if by_rounds else self.likelihoods.fit
        return self.tempered(rows, fit(rows, units))

    def tempered(self, rows: Rows, fitted: Fitted) -> Fitted:
        """Multiply the curves by what the choice says."""
        curves, base = (
            fitted.attributes[one] for one in ("term_scores_", "intercept_")
        )
        evidence = paired_lines(scores_of(rows.inputs, curves))
        alone = self.boosting.outputs == 1
        start = np.array([0.0, base[0]]) if alone else base
        chosen = self.fallback.choose(rows, start, evidence)
        base = chosen.base[1:] - chosen.base[:1] if alone else chosen.base
        held = {"term_scores_": chosen.scale * curves, "intercept_": base}
        value = chosen.scale * fitted.value
        return Fitted({**fitted.attributes, **held}, value, notes=chosen.notes)

    def many(self, units: float) -> bool:
        """Whether units are enough for rounds."""
        spending, width = self.boosting.rest, self.boosting.declared.width
        if spending.mu is not None:
            return units * spending.mu >= MANY
        return units * (spending.epsilon or 0.0) >= MANY_PURE * width
