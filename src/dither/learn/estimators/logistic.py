"""`LogisticRegression`: noisy gradient descent over all rows, with settings that follow
from what is public and from a first noisy look at the columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.learn.estimators.base import Fitted, Plan
from dither.learn.estimators.boxes import blur
from dither.learn.estimators.centroids import Centroids
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.descent import FINE, STEPS, Gradients
from dither.learn.estimators.fallback import Fallback, few
from dither.learn.estimators.lines import Line
from dither.learn.estimators.moments import Moments, MomentSums
from dither.learn.estimators.scores import Scored, paired
from dither.learn.estimators.spending import Spending
from dither.mechanisms import Additive
from dither.privacy import Guarantee
from dither.privacy.numbers import whole

__all__ = ["LogisticRegression"]

LOOK = 0.1
"""The part of the cost that looks at the columns before the descent."""
EARLY = (
    "coefficients: from noisy gradient descent that stops early, so closer to 0 than "
    "those of maximum likelihood; without intervals"
)
MANY, WIDE, WIDE_MANY = 120.0, 1.15, 1.5
"""Units times μ from which on the descent is better than class means with pure noise;
and how much larger Gaussian noise on class means may be for the descent to be better:
for two classes, and for more.
"""
MANY_STEPS, MOST_STEPS = 10_000, 40
ITERATIONS = {True: 40, False: 10}
"""Steps with Gaussian noise, where more of them cost only time; and with Laplace noise,
where they do.
"""


class LogisticRegression(Scored):
    """A linear classifier: `LogisticRegression(epsilon=1, bounds=(0, 16),
    classes=range(10), budget=account).fit(X, y, owner=ids)`.

    Where the account has a δ (or `delta` is stated, or `rho`), a tenth of the cost looks
    at means and variances of the columns, and the rest is `max_iter` steps of noisy
    gradient descent over all rows. How far the descent goes follows from the noise, so
    nothing is left to tune. If the cost is pure ε, or `units` are declared and few,
    noisy sums of each class give a linear classifier by the classes' means; if rows are
    many, the same descent follows. A part of the cost chooses how much the columns count:
    all of what was fitted, less of it, or nothing, so that all rows get one class.

    `coef_` and `intercept_` are in the units of the data, as in scikit-learn, but they
    are not those of maximum likelihood: a descent stops early and keeps the mean of its
    last weights, with its noise, which draws them towards 0; class means give those of
    round clouds of one size. They predict well; how far they lie from those without
    noise is not known, so there are no intervals.

    Guarantee: the stated cost, for one unit with all of its rows, under add/remove.
    Why: each row's gradient is clipped to a public radius in whole numbers, so one unit
    moves the sum by no more; noise for that radius; T Gaussian steps of μ/√T are exactly
    μ-GDP together (Dong, Roth & Su 2022), and ε of pure steps add up. The choice is
    permute-and-flip on counts of rows that are right (docs/proofs/estimators.md).
    Assumes: bounds and classes are public, not read off the data.
    """

    _what = "logistic regression"

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
        max_iter: int | None = None,
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
        self.max_iter = max_iter
        self.budget = budget
        self.by = by
        self.several_fits = several_fits

    def _plan(self, declared: Declared, spending: Spending) -> Plan:
        steps = self.max_iter
        if steps is not None:
            steps = whole("max_iter", steps, "pass a number of steps, such as 40")
            if steps > MANY_STEPS:
                raise ArgumentError(
                    "max_iter",
                    f"must be at most {MANY_STEPS:,}, because more steps do not help; "
                    "pass a number such as 40",
                )
        way = spending if steps is not None else route(declared, spending)
        descent = Descent.of(declared, way, steps)
        return descent if way.gaussian else Centroids.of(descent)

    def decision_function(self, X: Any) -> Reals:
        """Scores: of the second class where there are two, else one for each."""
        found: Reals = self._read(X) @ self.coef_.T + self.intercept_
        return found[:, 0] if len(self.intercept_) == 1 else found

    def _scores(self, X: Any) -> Reals:
        return paired(self.decision_function(X))


def route(declared: Declared, spending: Spending) -> Spending:
    """Gaussian noise for the descent; or pure noise for class means if declared units
    are few and Gaussian noise on class means would not be much less. Both are public.
    """
    if not few(declared, spending, MANY):
        return spending
    gaussian, pure = spending.ways
    gaussian = replace(gaussian, mu=spending.equal or spending.mu)
    dims = declared.width + 1
    wide = WIDE if len(declared.classes or ()) == 2 else WIDE_MANY
    return pure if blur(pure, dims) * wide < blur(gaussian, dims) else spending


def usual_steps(declared: Declared, spending: Spending) -> int:
    """Steps of the descent. With pure noise they are few, unless declared units are so
    many that the mean gradient is known well.
    """
    count = ITERATIONS[spending.gaussian]
    if spending.gaussian or declared.units is None:
        return count
    classes = len(declared.classes or ())
    numbers = (declared.width + 1) * (1 if classes == 2 else classes)
    each = declared.units * (spending.epsilon or 0.0) / numbers
    return min(max(round(math.sqrt(each)), count), MOST_STEPS)


@dataclass(frozen=True)
class Descent:
    """A look at the columns, and steps of noisy descent."""

    declared: Declared
    fallback: Fallback
    look: MomentSums
    step: Spending
    spending: Spending
    steps: int

    @classmethod
    def of(cls, declared: Declared, spending: Spending, steps: int | None) -> Descent:
        fallback, rest = Fallback.of(declared, spending)
        first, rest = rest.parts(LOOK, 1 - LOOK)
        count = usual_steps(declared, spending) if steps is None else steps
        look = MomentSums(declared, first)
        found = cls(declared, fallback, look, rest.each(count), spending, count)
        _ = (
            found.look.noise,
            found.noise(found.gradients(math.sqrt(declared.width + 1) + 5)),
        )
        return found

    @property
    def guarantee(self) -> Guarantee:
        return self.spending.guarantee

    @property
    def outputs(self) -> int:
        assert self.declared.classes is not None
        count = len(self.declared.classes)
        return 1 if count == 2 else count

    def gradients(self, widened: float = 1.0) -> Gradients:
        """Gradients that are clipped to so many times the least radius: 1 in L2. In L1
        it is a fifth of the number of columns, as gradients are longer there.
        """
        columns, l1 = self.declared.width + 1, not self.spending.gaussian
        least = max(1.0, columns / 5) if l1 else 1.0
        radius = math.floor(widened * least * STEPS * FINE)
        return Gradients(columns, self.outputs, radius, l1)

    def noise(self, gradients: Gradients) -> Additive:
        moved = float(gradients.sensitivity * self.declared.whole)
        return self.step.noise(moved, moved)

    def fit(self, rows: Rows) -> Fitted:
        columns = Columns.of(self.look.release(rows), self.declared)
        pace = self.pace(columns.units)
        line = columns.line(self.descend(rows, columns, pace))
        return line.fitted(rows, self.fallback, self.declared, self.steps, EARLY)

    def descend(self, rows: Rows, columns: Columns, pace: Pace) -> Reals:
        """Ever shorter steps from 0; the mean of the second half of them is kept."""
        gradients = self.gradients(pace.widened)
        noise = self.noise(gradients)
        held = gradients.rows(rows.inputs, columns.center, columns.scale)
        lengths = gradients.lengths(held)
        assert rows.targets is not None
        one = columns.units * self.declared.whole * STEPS * FINE
        weights = np.zeros((self.outputs, self.declared.width + 1))
        kept, late = np.zeros_like(weights), self.steps // 2
        pull = np.zeros_like(weights)
        for step in range(self.steps):
            exact = gradients.sums(held, lengths, rows.targets, rows.weights, weights)
            rate = pace.rate * (1 - SLOWER * step / self.steps)
            pull = pace.momentum * pull - rate / one * noise.release(exact)
            weights = weights + pull
            if step >= late:
                kept += weights / (self.steps - late)
        return kept

    def pace(self, units: float) -> Pace:
        """How long steps are. Noise moves a weight by about rate · √steps · σ / units
        in total, and a public amount of that is allowed to it. If this would allow
        longer steps than are good, gradients are clipped less instead.
        """
        columns, gaussian = self.declared.width + 1, self.spending.gaussian
        scale = self.noise(self.gradients()).scale / (
            self.declared.whole * STEPS * FINE
        )
        deviation = scale if gaussian else math.sqrt(2) * scale
        numbers = columns * self.outputs
        moved = deviation * math.sqrt(numbers * self.steps)
        allowed = REACH * units / moved
        most = math.sqrt(columns) if gaussian else 5.0
        widened = min(max(allowed / LONGEST, 1.0), most)
        left = max(allowed / (LONGEST * widened), 1.0)
        momentum = min(1 - 1 / left, HEAVIEST) if self.steps >= HEAVY else 0.0
        return Pace(min(allowed, LONGEST / widened), widened, momentum)


HEAVIEST, HEAVY = 0.9, 20
"""The most momentum, and the number of steps from which on there is any. It follows if
noise would allow longer steps than are good.
"""
REACH, SLOWER, LONGEST = 10.0, 0.9, 8.0
"""How long noise may make the weights; by how much the last step is shorter than the
first; and the longest step, as the mean gradient is at most 1 long.
"""


@dataclass(frozen=True)
class Pace:
    """The first step's rate, and how much wider than least gradients are clipped."""

    rate: float
    widened: float
    momentum: float = 0.0


@dataclass(frozen=True)
class Columns:
    """How columns are centred and scaled for the descent, and how many units there
    are.
    """

    units: float
    center: Reals
    scale: Reals

    @classmethod
    def of(cls, moments: Moments, declared: Declared) -> Columns:
        """Noisy means and variances, shrunk towards what is usual."""
        center, variance = moments.moderate(USUAL)
        units = moments.units if declared.units is None else declared.units
        scale = np.sqrt(np.maximum(variance, SMALLEST))
        return cls(max(float(units), 10.0), center, scale)

    def line(self, weights: Reals) -> Line:
        """Weights for columns from -1 to 1. The score that is left where all columns are
        at their centre does not belong to the evidence of the columns.
        """
        if len(weights) == 1:
            weights = np.vstack([np.zeros_like(weights), weights])
        slopes = weights[:, :-1] / self.scale
        return Line(slopes, -slopes @ self.center, weights[:, -1])


USUAL, SMALLEST = 0.5, 4e-4
"""The variance of columns that is usual, and the least that counts, where bounds are -1
and 1.
"""
