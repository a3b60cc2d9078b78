"""`LinearRegression` and `Ridge`: least squares on noisy sums of products, with as much
of a ridge as the noise asks for, and intervals of the coefficients.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from dither.errors import ArgumentError
from dither.learn.estimators.base import Fitted, PrivateEstimator
from dither.learn.estimators.coefficients import Coefficients
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.moments import BLUR
from dither.learn.estimators.products import NoisyProducts, ProductSums
from dither.learn.estimators.spending import Spending
from dither.mechanisms.sums import noise_variance
from dither.privacy import Guarantee
from dither.privacy.numbers import not_negative

__all__ = ["LinearRegression", "Ridge"]

INTERCEPT = "intercept"
MOST_COLUMNS = 4096
RIDGED = (
    "coefficients are shrunk towards 0 by a ridge penalty as large as the noise; if "
    "that moves one out of the interval of the noise, its interval reaches to it"
)
WEIGHED = (
    "intervals are for least squares in which rows far from the middle of the bounds "
    "have less weight; they are for ordinary least squares only if the relation is "
    "linear"
)


class LinearRegression(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    """Least squares: `LinearRegression(epsilon=1, bounds=(0, 10), y_bounds=(0, 50),
    budget=account).fit(X, y, owner=ids)`.

    Sums of products are released once, and a ridge is added that is as large as their
    noise: it vanishes as rows become many. `coef_` and `intercept_` are in the units of
    the data; predictions are cut to `y_bounds`.

    Rows that lie far from the middle of the bounds in many columns weigh less. `release_.
    interval()` says between which ends the coefficients lie, intercept first, that least
    squares *with these weights* would give without noise and without the ridge. Where the relation is no line,
    those of all rows alike may lie elsewhere. Where noise hides how columns vary, ends
    are infinite.

    Guarantee: the stated cost, for one unit with all of its rows, under add/remove.
    Why: with v = (1, columns) of length r at most and y between -1 and 1, the parts vvᵀ,
    vy and y², weighted 1, r and r²/2, are r², r² and r²/2 long at most, in L2, and in L1
    where v is clipped in L1; they are summed in whole steps (AdaSSP: Wang 2018;
    docs/proofs/estimators.md).
    Assumes: bounds of columns and target are public, not read off the data.
    """

    _what = "linear regression"
    _target = "y_bounds"

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        share: float | None = None,
        delta: float | None = None,
        bounds: Any = None,
        y_bounds: Any = None,
        units: int | None = None,
        rows: int | None = None,
        budget: Any = None,
        by: str | None = None,
        several_fits: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.rho = rho
        self.share = share
        self.delta = delta
        self.bounds = bounds
        self.y_bounds = y_bounds
        self.units = units
        self.rows = rows
        self.budget = budget
        self.by = by
        self.several_fits = several_fits

    def _plan(self, declared: Declared, spending: Spending) -> LeastSquares:
        return LeastSquares.of(declared, spending, 0.0)

    def predict(self, X: Any) -> Reals:
        """The target of each row, within its bounds."""
        found = self._read(X) @ self.coef_ + self.intercept_
        assert self.declared_.target is not None
        return np.asarray(np.clip(found, *self.declared_.target))


class Ridge(LinearRegression):
    """Least squares with a penalty: `alpha` times the squares of the coefficients, in
    the units of the data, as in scikit-learn. Beside it, rows that weigh less than
    others count for less. Intervals are those of the penalized coefficients. All else is
    as in LinearRegression.

    Guarantee: the stated cost, for one unit with all of its rows, under add/remove.
    Why: the penalty is added after the release.
    Assumes: bounds of columns and target are public, not read off the data.
    """

    _what = "ridge regression"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        share: float | None = None,
        delta: float | None = None,
        bounds: Any = None,
        y_bounds: Any = None,
        units: int | None = None,
        rows: int | None = None,
        budget: Any = None,
        by: str | None = None,
        several_fits: bool = False,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            rho=rho,
            share=share,
            delta=delta,
            bounds=bounds,
            y_bounds=y_bounds,
            units=units,
            rows=rows,
            budget=budget,
            by=by,
            several_fits=several_fits,
        )
        self.alpha = alpha

    def _plan(self, declared: Declared, spending: Spending) -> LeastSquares:
        alpha = not_negative("alpha", self.alpha, "pass a penalty such as 1.0")
        if not math.isfinite(alpha):
            raise ArgumentError("alpha", "must be finite; pass a penalty such as 1.0")
        return LeastSquares.of(declared, spending, alpha)


@dataclass(frozen=True)
class LeastSquares:
    """One release of sums of products, and what follows from it."""

    sums: ProductSums
    alpha: float

    @classmethod
    def of(cls, declared: Declared, spending: Spending, alpha: float) -> LeastSquares:
        if declared.width > MOST_COLUMNS:
            raise ArgumentError(
                "X", f"has more than {MOST_COLUMNS:,} columns; pass fewer columns"
            )
        chosen = spending.choose(lambda one: _blur(ProductSums(declared, one)))
        best = ProductSums(declared, chosen)
        best.check()
        return cls(best, alpha)

    @property
    def guarantee(self) -> Guarantee:
        return self.sums.spending.guarantee

    def fit(self, rows: Rows) -> Fitted:
        declared, noisy = self.sums.declared, self.sums.release(rows)
        spread = Coefficients(noisy, declared, self.penalty)
        found = spread.real(self.solved(noisy))
        fitted = {"coef_": found[1:], "intercept_": float(found[0])}
        names = tuple(f"column {place}" for place in range(1, declared.width + 1))
        return Fitted(fitted, found, spread, (INTERCEPT, *names), (RIDGED, WEIGHED))

    @property
    def penalty(self) -> Reals:
        """`alpha` for coefficients between -1 and 1; none for the intercept."""
        half = self.sums.declared.span / 2
        return np.append(0.0, self.alpha / half**2)

    def solved(self, noisy: NoisyProducts) -> Reals:
        """Coefficients between -1 and 1, with a ridge."""
        known, size = noisy.known.copy(), self.sums.size
        known[0, 0] = max(known[0, 0], 1.0)  # there is no smaller count
        kept = trust_of(noisy)
        known[0, 1:] *= kept
        known[1:, 0] *= kept
        usual = ridge_of(noisy)
        ridge = np.full(size, usual)
        ridge[0] = FIRST * noisy.deviation(0, 0)
        ridge += self.penalty
        level, turned = np.linalg.eigh(known + np.diag(ridge))
        least = 1e-9 + LEAST * usual
        inverse = turned / np.maximum(level, least) @ turned.T
        found: Reals = inverse @ noisy.wanted
        return found


RIDGE, KEPT, FIRST, LEAST = 2.0, 0.3, 3.0, 0.2
"""The ridge is up to so many times the noise on eigenvalues; this part of it is kept
however large they are; the intercept has so many times the noise on the count; and no
eigenvalue counts for less than this part of the ridge, as noise may exceed all of it.
"""


def ridge_of(noisy: NoisyProducts) -> float:
    """About as much as noise can hide of the least eigenvalue (AdaSSP: Wang 2018). It is
    taken from the noisy sums themselves, so it costs nothing.
    """
    size = len(noisy.known)
    noise = RIDGE * noisy.deviation(1, 2 if size > 2 else 1) * math.sqrt(2 * size)
    least = float(np.linalg.eigvalsh(noisy.known)[0])
    return max(noise - max(least, 0.0), 0.0) + KEPT * noise


def trust_of(noisy: NoisyProducts) -> float:
    """How much of the sums of columns is not noise. Noise there would tie the intercept
    to the slopes, which then fail together.
    """
    units = max(float(noisy.known[0, 0]), 1.0)
    usual = BLUR * units**2
    return usual / (usual + noisy.deviation(0, 1) ** 2)


def _blur(sums: ProductSums) -> float:
    """The noise on a sum of products."""
    return math.sqrt(noise_variance(sums.noise)) / float(sums.weights[1, 1])
