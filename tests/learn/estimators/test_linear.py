"""Least squares on noisy sums of products."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge as PlainRidge

from dither import ArgumentError, Budget
from dither.learn import LinearRegression, Ridge
from dither.learn.estimators.linear import RIDGE, LeastSquares
from dither.learn.estimators.products import NoisyProducts, ProductSums
from dither.mechanisms.sums import noise_variance
from tests.chance import chance
from tests.learn.estimators.data import GAUSSIAN, PURE, declared, lined, rows

X, Y = lined(20_000)
WORDS: dict[str, Any] = {"bounds": (0, 10), "y_bounds": (-10, 24)}


@chance(1e-12)
@pytest.mark.parametrize("delta", [1e-6, None], ids=["gaussian", "pure"])
def test_many_rows_give_the_line(delta: float | None) -> None:
    found = LinearRegression(epsilon=3.0, delta=delta, **WORDS).fit(X, Y)
    assert found.coef_ == pytest.approx([1.5, -1.0, 0.0], abs=0.15)
    assert found.intercept_ == pytest.approx(4.0, abs=1.0)
    assert found.score(X, Y) > 0.98


def test_predictions_stay_within_bounds() -> None:
    found = LinearRegression(epsilon=3.0, **WORDS).fit(X, Y)
    far = found.predict([[1e9, 0, 0], [-1e9, 0, 0]])
    assert far.min() >= -10
    assert far.max() <= 24


def test_a_ridge_is_that_of_scikit_learn() -> None:
    """With hardly any noise, the penalty is in the units of the data. Its rows are those
    that were not brought down.
    """
    near = np.abs(X - 5).max(axis=1) < 2.4
    inputs, target = X[near][:500], Y[near][:500]
    words = WORDS | {"epsilon": 1e7}
    for alpha in (0.0, 1e3):
        mine = Ridge(alpha, **words).fit(inputs, target)
        plain = PlainRidge(alpha).fit(inputs, target)
        assert mine.coef_ == pytest.approx(plain.coef_, abs=0.02)
        assert mine.intercept_ == pytest.approx(plain.intercept_, abs=0.15)


def test_noise_as_large_as_the_ridge_does_no_harm() -> None:
    """An eigenvalue that noise brings near to minus the ridge would make coefficients of
    any size.
    """
    plan = LeastSquares.of(declared(2), PURE, 0.0)
    noisy = plan.sums.release(rows(np.full((50, 2), 0.5), np.full(50, 0.9)))
    sums = noisy.sums.copy()
    sums[1:3, :] = sums[:, 1:3] = 0.0
    sums[1, 3] = sums[3, 1] = noisy.deviation(1, 3)
    for share in np.linspace(0.5, 1.5, 101):
        sums[1, 1] = -share * 1.3 * plain_ridge(noisy)
        found = plan.solved(replace(noisy, sums=sums))
        assert np.abs(found).max() < 5


def plain_ridge(noisy: NoisyProducts) -> float:
    return RIDGE * noisy.deviation(1, 2) * math.sqrt(6)


@pytest.mark.parametrize("alpha", [-1.0, float("inf"), "much"])
def test_a_penalty_is_checked(alpha: Any) -> None:
    budget = Budget(1.0)
    with pytest.raises(ArgumentError, match="alpha"):
        Ridge(alpha, epsilon=1.0, budget=budget, **WORDS).fit(X, Y)
    Ridge(epsilon=1.0, budget=budget, **WORDS).fit(X, Y)


def exact(plan: ProductSums, inputs: Any, target: Any) -> Any:
    """What least squares gives without noise, over rows as they are brought down."""
    held = plan.vectors(inputs, target) / plan.steps
    return np.linalg.lstsq(held[:, :-1], held[:, -1], rcond=None)[0]


@chance(1e-8)
@pytest.mark.parametrize("spending", [GAUSSIAN, PURE], ids=["gaussian", "pure"])
def test_intervals_hold_the_coefficients(spending: Any) -> None:
    """Of 4 coefficients in 100 fits, about 20 intervals of 400 miss. Those of a fit miss
    together: by Chernoff's bound for what fits miss, 90 are as many as chance allows.
    """
    facts = declared(3)
    plan = LeastSquares(ProductSums(facts, spending), 0.0)
    inputs, target = X[:3000] / 10, (Y[:3000] + 10) / 34
    missed = 0
    for _ in range(100):
        fitted = plan.fit(rows(inputs, target))
        spread: Any = fitted.spread
        truth = spread.real(exact(plan.sums, inputs, target))
        low, high = spread.ends(0.95)
        assert np.isfinite(low).all()
        missed += int(((truth < low) | (truth > high)).sum())
    assert 1 <= missed <= 90


def test_what_noise_hides_has_no_interval() -> None:
    found = LinearRegression(epsilon=0.01, **WORDS).fit(X[:20], Y[:20])
    low, high = found.release_.interval()
    assert np.isinf(low).any() or (high - low).max() > 100


@chance(1e-12)
def test_a_release_names_its_coefficients() -> None:
    found = LinearRegression(epsilon=3.0, **WORDS).fit(X, Y).release_
    assert found.keys == ("intercept", "column 1", "column 2", "column 3")
    assert "intercept" in str(found)
    assert float(found["column 1"]) == pytest.approx(1.5, abs=0.2)


def test_sums_do_not_leave_64_bits() -> None:
    """Weights that would overflow are held at the end of the range."""
    plan = ProductSums(declared(2), GAUSSIAN)
    heavy = np.full(4, 1 << 36)
    found = plan.exact(rows(np.ones((4, 2)), np.ones(4), heavy))
    assert (found > 0).all()


@chance(1e-8)
@pytest.mark.parametrize("delta", [1e-5, None], ids=["gaussian", "pure"])
def test_much_noise_leaves_a_constant(delta: float | None) -> None:
    """Slopes and intercept are drawn together, so they do not run away: half of all fits
    to 60 rows have an R² above -0.35.
    """
    model = LinearRegression(epsilon=0.3, delta=delta, **WORDS)
    found = [model.fit(X[:60], Y[:60]).score(X, Y) for _ in range(40)]
    assert np.median(found) > -1


@chance(1e-8)
@pytest.mark.parametrize("spending", [GAUSSIAN, PURE], ids=["gaussian", "pure"])
@pytest.mark.parametrize("sign", [1.0, -1.0, 0.0])
def test_the_noise_of_a_sum_is_known(spending: Any, sign: float) -> None:
    """Without rows the sums are noise alone; its deviation is estimated within 10 %."""
    plan = ProductSums(declared(1), spending)
    left, right = np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.0, sign])
    none = rows(np.zeros((0, 1)), np.zeros(0))
    seen = []
    for _ in range(3000):
        noisy = plan.release(none)
        seen.append(left @ noisy.sums @ right)
    shares = noisy.shares(left, right)
    wanted = np.sqrt(noise_variance(plan.noise) * (shares**2).sum())
    assert np.std(seen) == pytest.approx(wanted, rel=0.1)
    if not sign:
        assert noisy.deviation(0, 0) == pytest.approx(wanted)


@chance(1e-8)
def test_intervals_of_a_ridge_hold_its_coefficients() -> None:
    """Rows near the middle are not brought down; a large penalty moves both."""
    near = np.abs(X - 5).max(axis=1) < 2.4
    inputs, target = X[near], Y[near]
    plain = PlainRidge(1e5).fit(inputs, target)
    missed = 0
    for _ in range(30):
        found = Ridge(1e5, epsilon=1.0, delta=1e-6, **WORDS).fit(inputs, target)
        low, high = found.release_.interval()
        missed += int(((plain.coef_ < low[1:]) | (plain.coef_ > high[1:])).sum())
    assert missed <= 30  # of 90, where 4 or 5 are expected


def test_so_many_units_fit_64_bits() -> None:
    """A million units of 100 columns, several rows each, are summed without an end."""
    for spending in (GAUSSIAN, PURE):
        plan = ProductSums(declared(100, rows=5), spending)
        one = plan.exact(rows(np.ones((1, 100)), [1.0], np.array([256])))
        assert int(np.abs(one).max()) * 10**6 < 1 << 62
        assert np.abs(one).max() > 0
    with pytest.raises(ArgumentError, match="too large"):
        ProductSums(declared(2000, rows=5, units=10**9), PURE).check()


def test_a_release_says_what_its_intervals_are_about() -> None:
    found = LinearRegression(epsilon=3.0, **WORDS).fit(X, Y).release_
    assert "have less weight" in str(found)
