"""`PCA`: what one unit moves, its audit, odd rows, refusals and how well it does."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import sklearn.decomposition
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine

import dither
from dither import audit
from dither.errors import ArgumentError
from dither.learn import PCA, GaussianNB, KMeans, make_pipeline
from dither.learn.estimators.covariance import Analysis, moderate
from tests.chance import chance
from tests.learn.estimators.support_sums import (
    NORMAL,
    PURE,
    declared,
    joined,
    rows_of,
    units,
)


def plan(width, spending=PURE, rows=1):
    made = declared(width, high=np.arange(1, width + 1), rows=rows)
    return Analysis(made, spending, width)


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("share", [0.02, 0.3, 1.0])
def test_what_one_unit_moves(width, share):
    before = rows_of([[0.2] * width, [0.9] * width])
    mean = np.linspace(-0.3, 0.5, width)
    most, lengths = [], []
    for whole, unit in units(width):
        rows = 1 if whole == 1 else 2
        after = joined(before, unit)
        for spending, order, found in ((PURE, 1, most), (NORMAL, 2, lengths)):
            made = plan(width, spending, rows)
            radius = made.radii(mean)[0] * share
            means = made.exact_mean(after) - made.exact_mean(before)
            ring = made.exact_rings(after, mean) - made.exact_rings(before, mean)
            both = (made.exact(one, mean, radius) for one in (after, before))
            products = np.subtract(*both)
            norm = np.abs(means).max() if order == 1 else np.linalg.norm(means)
            first, second, third = (
                one.sensitivity for one in (made.first, made.second, made.third)
            )
            assert norm <= first
            assert np.linalg.norm(ring, order) <= second
            found.append(np.linalg.norm(products, order) / third)
    assert max(most + lengths) <= 1
    if share < 0.1:
        assert min(max(most), max(lengths)) > 0.99  # reached, but for rounding


def test_rows_are_shortened_to_whole_numbers():
    made = plan(7)
    words = np.asarray(dither.noise.random_words(7 * 500)).reshape(500, 7)
    apart = made.apart(words / 2.0**32, np.zeros(7))
    for radius in (1.0, 1e4, 1e6):
        for spending, norm in ((PURE, 1), (NORMAL, 2)):
            short = plan(7, spending).short(apart, radius)
            lengths = np.linalg.norm(short, norm, axis=1)
            assert lengths.max() <= plan(7, spending).longest
            assert (short == np.rint(short)).all()


def test_parts_add_up():
    pure = Analysis.of(declared(3), PURE, 2)
    parts = (pure.first, pure.second, pure.third)
    assert sum(one.epsilon for one in parts) <= 1 + 1e-15
    normal = Analysis.of(declared(3), NORMAL, 2)
    parts = (normal.first, normal.second, normal.third)
    assert sum(one.mu**2 for one in parts) <= 0.25


DATA = [[0.5, 0.4], [0.6, 0.5], [0.4, 0.5]]


def released(bounds):
    def run(data):
        X = np.asarray(data)
        chosen = bounds or (X.min(), X.max())
        made = PCA(1, epsilon=1, bounds=chosen).fit(X)
        return np.append(made.mean_, made.explained_variance_)

    return run


@chance(2e-8)
def test_audit():
    claimed, near_by = dither.PureDP(1.0), [*DATA, [1.0, 1.0]]
    kept = audit.mechanism(
        released((0, 1)),
        DATA,
        near_by,
        claimed=claimed,
        draws=600,
        confidence=1 - 1e-8,
    )
    assert not kept.refuted
    far = [*DATA, [40.0, 40.0]]
    found = audit.mechanism(
        released(None), DATA, far, claimed=claimed, draws=200, confidence=1 - 1e-8
    )
    assert found.refuted  # bounds were read off the data


def captured(X, components):
    covariance = np.cov(X.T)
    kept = np.trace(components @ covariance @ components.T)
    return kept / np.trace(covariance)


@pytest.mark.parametrize("cost", [{}, {"delta": 1e-6}])
def test_without_noise_it_is_scikit_learns(cost):
    X, _ = load_iris(return_X_y=True)
    made = PCA(2, epsilon=1e6, bounds=(0, 8), **cost).fit(X)
    other = sklearn.decomposition.PCA(2).fit(X)
    assert np.allclose(
        np.abs(made.components_ @ other.components_.T), np.eye(2), atol=0.02
    )
    assert np.allclose(made.explained_variance_, other.explained_variance_, rtol=0.05)
    assert np.allclose(made.mean_, other.mean_, atol=0.01)
    ratio = other.explained_variance_ratio_
    assert np.allclose(made.explained_variance_ratio_, ratio, atol=0.02)
    back = made.inverse_transform(made.transform(X))
    assert np.abs(back - X).mean() < 0.2


@chance(1e-9)
def test_defaults_do_well():
    """Of two directions at random, half of iris; diffprivlib 0.6.6 has 0.70."""
    X, _ = load_iris(return_X_y=True)
    bounds = [(4, 8), (2, 5), (1, 7), (0, 3)]
    found = [PCA(2, epsilon=1, bounds=bounds).fit(X) for _ in range(10)]
    assert np.mean([captured(X, one.components_) for one in found]) > 0.85


@chance(1e-8)
def test_wide_bounds_do_no_harm_where_there_are_many_rows():
    X = np.tile(load_wine().data[:, :4], (100, 1))
    found = [PCA(1, epsilon=10, bounds=(-1000, 1000)).fit(X) for _ in range(5)]
    best = captured(X, sklearn.decomposition.PCA(1).fit(X).components_)
    assert np.median([captured(X, one.components_) for one in found]) > best - 0.1
    assert np.median([one.radius_ for one in found]) < 500


@pytest.mark.parametrize("spending", [PURE, NORMAL])
def test_sums_of_many_rows_fit_64_bits(spending):
    """As many rows as one row of their weight; beyond that sums stay where they are, so
    that one unit still moves them by no more.
    """
    for width, many in ((1, 2**27), (3, 2**27), (3, 2**29)):
        made = plan(width, spending, rows=2)
        rows = rows_of([[1.0] * width], weights=[made.declared.whole * many])
        found = made.exact(rows, np.zeros(width), 1.0)
        assert (found > 0).all()
        assert (found <= 1 << 62).all()
        if many == 2**27:
            one = made.exact(
                replace(rows, weights=rows.weights // many), np.zeros(width), 1.0
            )
            assert found == pytest.approx(one * float(many), rel=1e-9)


def test_limits_along_components():
    X, _ = load_iris(return_X_y=True)
    made = PCA(2, epsilon=1, bounds=(0, 8)).fit(X)
    low, high = made.output_bounds_.T
    corners = np.array(np.meshgrid(*[(0, 8)] * 4)).reshape(4, -1).T
    found = made.transform(corners)
    assert np.allclose(found.min(axis=0), low)
    assert np.allclose(found.max(axis=0), high)
    assert list(made.get_feature_names_out()) == ["pca0", "pca1"]
    assert made.n_components_ == 2
    assert np.allclose(made.components_ @ made.components_.T, np.eye(2))


def test_moderate():
    """Without noise a covariance stays what it is; with nothing but noise all columns
    are alike.
    """
    true = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.2], [0.1, -0.2, 1.5]])
    assert np.allclose(moderate(true, true.diagonal(), 0.0, 0.0), true)
    same = moderate(true, true.diagonal(), 1e6, 4e6)
    assert np.allclose(same.diagonal(), 1.5, atol=1e-3)


def test_odd_rows_are_charged_as_any():
    odd = np.array([[np.nan, 1e300], [np.inf, -np.inf], [5.0, 5.0]])
    account = dither.Budget(epsilon=10)
    for X in (odd, np.zeros((0, 2)), np.ones((1, 2)), np.full((50, 2), 3.0)):
        made = PCA(epsilon=1, bounds=(0, 10), budget=account).fit(X)
        assert np.allclose(made.components_ @ made.components_.T, np.eye(2))
        assert (made.explained_variance_ >= 0).all()
        assert np.isfinite(made.transform(odd[2:])).all()
    assert account.spent == pytest.approx(0.4)
    one = PCA(epsilon=1, bounds=(0, 10)).fit(np.ones((5, 1)))
    assert one.components_.tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"bounds": None}, "bounds"),
        ({"bounds": (1, 0)}, "bounds"),
        ({"n_components": 0}, "n_components"),
        ({"n_components": 3}, "n_components"),
        ({"n_components": "mle"}, "n_components"),
        ({"epsilon": 1e-12}, "epsilon"),
    ],
)
def test_refused_before_the_charge(wrong, named):
    account = dither.Budget(epsilon=10)
    asked = {"epsilon": 1, "bounds": (0, 1), "n_components": 2, "budget": account}
    with pytest.raises(ArgumentError, match=named):
        PCA(**(asked | wrong)).fit(np.zeros((3, 2)))
    assert account.spent == 0


def test_copies():
    made = PCA(1, epsilon=1, bounds=(0, 1))
    assert clone(made).get_params() == made.get_params()
    made.fit(DATA)
    again = pickle.loads(pickle.dumps(made))
    assert (again.transform(DATA) == made.transform(DATA)).all()


@pytest.mark.parametrize(
    "step", [PCA(2, epsilon=1, bounds=(0, 8)), KMeans(3, epsilon=1, bounds=(0, 8))]
)
def test_steps_of_a_pipeline_change_the_width(step):
    X, y = load_iris(return_X_y=True)
    last = GaussianNB(epsilon=1, classes=range(3))
    made = make_pipeline(clone(step), last).fit(X, y)
    assert last.n_features_in_ == made.steps[0]._n_features_out
    assert len(made.predict(X)) == 150
    assert make_pipeline(clone(step), clone(last)).fit(X[:0], y[:0]).releases_


def test_a_row_is_transformed_alike_whoever_else_is_there():
    made = np.random.default_rng(4)  # allowed: made-up data
    X = made.uniform(0, 8, size=(500, 33))
    for step in (PCA(7, epsilon=1, bounds=(0, 8)), KMeans(7, epsilon=1, bounds=(0, 8))):
        step.fit(X)
        whole = step.transform(X)
        for start in (1, 2, 3, 499):
            assert (step.transform(X[start:]) == whole[start:]).all()
