"""What all estimators share: public facts are settled, then the charge, then rows."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import dither
from dither import ArgumentError, Budget, BudgetExceeded, PureDP, Unit, UnitMismatch
from dither.learn import LinearRegression, LogisticRegression, Ridge, StandardScaler
from dither.learn.estimators.base import PrivateEstimator
from dither.learn.estimators.data import Declared, source_of
from dither.privacy import GaussianDP, gaussian_mu
from tests.chance import chance
from tests.learn.estimators.data import classified, lined

X, Y = classified()
ROWS, LINE = lined(300)
TWICE = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])


def logistic(**more: Any) -> LogisticRegression:
    plain = {"epsilon": 1.0, "bounds": (-3, 3), "classes": range(3)}
    return LogisticRegression(**(plain | more))


def linear(**more: Any) -> LinearRegression:
    plain = {"epsilon": 1.0, "bounds": (0, 10), "y_bounds": (-10, 20)}
    return LinearRegression(**(plain | more))


def scaler(**more: Any) -> StandardScaler:
    return StandardScaler(**({"epsilon": 1.0, "bounds": (-3, 3)} | more))


EVERY = [
    pytest.param(logistic, X, Y, id="logistic"),
    pytest.param(linear, ROWS, LINE, id="linear"),
    pytest.param(scaler, X, None, id="scaler"),
]


def test_estimators_need_no_torch() -> None:
    code = "import sys; from dither.learn import Ridge; print('torch' in sys.modules)"
    source = str(Path(dither.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": source},
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(("make", "inputs", "target"), EVERY)
def test_a_fit_is_one_charge(make: Any, inputs: Any, target: Any) -> None:
    budget = Budget(3.0, 1e-6)
    fitted = make(budget=budget).fit(inputs, target)
    release = fitted.release_
    assert budget.holds(release.receipt)
    assert release.guarantee == release.receipt.guarantee
    assert release.guarantee in (
        GaussianDP(gaussian_mu(1.0, 1e-6)),
        PureDP(1.0),
    )
    assert fitted.n_features_in_ == inputs.shape[1]
    assert "bounds: declared" in str(release)


@pytest.mark.parametrize(("make", "inputs", "target"), EVERY)
def test_costs_are_stated_in_any_way(make: Any, inputs: Any, target: Any) -> None:
    pure, both = Budget(1.0), Budget(3.0, 1e-6)
    assert make(budget=pure).fit(inputs, target).release_.guarantee == PureDP(1.0)
    with pytest.raises(BudgetExceeded):
        make(budget=pure).fit(inputs, target)
    half = make(epsilon=None, share=0.5, budget=both).fit(inputs, target)
    again = make(epsilon=None, share=0.499, budget=both).fit(inputs, target)
    assert half.release_.receipt.number < again.release_.receipt.number
    stated = make(epsilon=None, rho=0.1).fit(inputs, target).release_.guarantee
    assert stated.mu == pytest.approx(0.2**0.5)
    alone = make(delta=1e-5).fit(inputs, target).release_
    assert alone.receipt is None
    assert alone.guarantee.epsilon_at(1e-5) <= 1 + 1e-9


def test_nothing_is_read_before_the_charge() -> None:
    """An account that cannot pay sees no row."""

    class Watched(dict[str, Any]):
        read = 0

        def __getitem__(self, name: str) -> Any:
            Watched.read += 1
            return super().__getitem__(name)

    held = Watched({"a": X[:, 0], "b": X[:, 1]})
    budget = Budget(0.5)
    with pytest.raises(BudgetExceeded):
        scaler(budget=budget).fit(held)
    assert Watched.read == 0
    scaler(epsilon=0.5, budget=budget).fit(held)
    assert Watched.read == 2


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"bounds": None}, "bounds"),
        ({"bounds": (3, -3)}, "bounds"),
        ({"bounds": (1, 1)}, "bounds"),
        ({"bounds": [(0, 1)] * 3}, "bounds"),
        ({"bounds": (0, float("inf"))}, "bounds"),
        ({"bounds": {"a": (0, 1)}}, "bounds"),
        ({"bounds": "wide"}, "bounds"),
        ({"classes": None}, "classes"),
        ({"classes": [1]}, "classes"),
        ({"classes": [1, 1]}, "classes"),
        ({"classes": "ab"}, "classes"),
        ({"classes": 3}, "classes"),
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"rho": 0.1}, "epsilon"),
        ({"delta": 1e-5}, "delta"),
        ({"units": 0}, "units"),
        ({"rows": 2}, "rows"),
        ({"max_iter": 0}, "max_iter"),
        ({"max_iter": 10**6}, "max_iter"),
        ({"budget": 3.0}, "budget"),
    ],
    ids=lambda one: one if isinstance(one, str) else "-".join(map(str, one)),
)
def test_bad_questions_cost_nothing(change: dict[str, Any], argument: str) -> None:
    budget = Budget(3.0, 1e-6)
    with pytest.raises(ArgumentError) as caught:
        logistic(**({"budget": budget} | change)).fit(X, Y)
    assert caught.value.argument == argument
    assert budget.affords(PureDP(2.9))


@pytest.mark.parametrize(
    ("inputs", "target", "owner", "argument"),
    [
        (X[:, 0], Y, None, "X"),
        (X[:, :0], Y, None, "X"),
        (X + 1j, Y, None, "X"),
        ("text", Y, None, "X"),
        ({"a": [1.0], "b": [1.0, 2.0]}, [0], None, "X"),
        ({}, [], None, "X"),
        (TWICE, [0], None, "X"),
        (X, None, None, "y"),
        (X, Y[:-1], None, "y"),
        (X, np.stack([Y, Y], axis=1), None, "y"),
        (X, Y, Y[:-1], "owner"),
        (X, Y, "patient", "owner"),
        (X, Y, X[:, 0], "owner"),
    ],
    ids=range(13),
)
def test_shapes_are_checked_first(
    inputs: Any, target: Any, owner: Any, argument: str
) -> None:
    budget = Budget(3.0, 1e-6)
    with pytest.raises(ArgumentError) as caught:
        logistic(budget=budget).fit(inputs, target, owner=owner)
    assert caught.value.argument == argument
    assert budget.affords(PureDP(2.9))


def odd() -> list[Any]:
    """Rows that are not as they should be."""
    strange = X.copy()
    strange[::3, 0] = np.nan
    strange[1::3, 1] = np.inf
    strange[2::3, 2] = 1e300
    constant = np.zeros_like(X)
    texts = X.astype(object)
    texts[3, 1], texts[4, 2] = "odd", None
    return [
        (strange, Y),
        (constant, Y),
        (np.full_like(X, np.nan), Y),
        (texts, Y),
        (X[:0], Y[:0]),
        (X[:1], Y[:1]),
        (X, np.full(len(X), 9)),
        (X, np.where(Y == 0, np.nan, Y)),
        (X, np.array(["?"] * len(X))),
        (X, np.zeros_like(Y)),
    ]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("place", range(10))
@pytest.mark.parametrize("delta", [1e-6, None], ids=["gaussian", "pure"])
def test_odd_rows_are_no_error(place: int, delta: float | None) -> None:
    inputs, target = odd()[place]
    fitted = logistic(delta=delta).fit(inputs, target)
    assert np.isfinite(fitted.coef_).all()
    assert set(fitted.predict(X)) <= {0, 1, 2}
    scaled = scaler(delta=delta).fit(inputs)
    assert np.isfinite(scaled.transform(X)).all()
    line = linear(bounds=(-3, 3), delta=delta).fit(inputs, target)
    assert np.isfinite(line.coef_).all()
    low, high = line.release_.interval()
    assert (low <= high).all()


@chance(1e-9)
def test_an_account_about_owners_needs_owners() -> None:
    budget = Budget(3.0, 1e-6, unit=Unit("patient"))
    with pytest.raises(UnitMismatch, match="pass owner= with the patient of each row"):
        scaler(budget=budget).fit(X)
    with pytest.raises(ArgumentError, match=r"pass frame\['patient'\]"):
        scaler(budget=budget).fit(X, owner="patient")
    assert budget.spent == 0
    fitted = scaler(budget=budget, rows=3).fit(X, owner=np.arange(len(X)) // 3)
    assert fitted.release_.guarantee.unit == Unit("patient")
    assert abs(fitted.n_samples_seen_ - 100) < 80
    assert "at most 3 rows of each unit are used" in str(fitted.release_)


def test_replaced_units_cost_twice() -> None:
    budget = Budget(3.0, 1e-6, unit=Unit("row", "replace"))  # type: ignore[arg-type]
    found = logistic(budget=budget).fit(X, Y).release_.guarantee
    assert found.mu == pytest.approx(2 * gaussian_mu(1.0, 1e-6))
    assert str(found.unit.relation) == "replace"


@chance(1e-12)
def test_one_of_many_rows_counts_of_each_owner() -> None:
    """A unit with a thousand rows moves the mean no more than one with a single row."""
    inputs = np.vstack([np.full((1000, 1), 1.0), np.zeros((1000, 1))])
    owners = np.concatenate([np.zeros(1000, int), np.arange(1, 1001)])
    for most in (1, 10):
        fitted = StandardScaler(epsilon=50.0, bounds=(0, 1), rows=most)
        fitted.fit(inputs, owner=owners)
        assert fitted.mean_[0] < 0.05
        assert abs(fitted.n_samples_seen_ - 1001) < 20


@pytest.mark.parametrize(("make", "inputs", "target"), EVERY)
def test_a_clone_pays_from_the_same_account_if_told_so(
    make: Any, inputs: Any, target: Any
) -> None:
    budget = Budget(3.0, 1e-6)
    first = make(budget=budget, several_fits=True).fit(inputs, target)
    other = clone(first)
    assert other.get_params() == first.get_params()
    assert not hasattr(other, "release_")
    other.fit(inputs, target)
    assert other.release_.receipt.number > first.release_.receipt.number


@pytest.mark.parametrize(("make", "inputs", "target"), EVERY)
def test_a_pickle_has_no_account(make: Any, inputs: Any, target: Any) -> None:
    fitted = make(budget=Budget(3.0, 1e-6)).fit(inputs, target)
    text = pickle.dumps(fitted)
    assert b"Budget" not in text
    assert b"Ledger" not in text
    again = pickle.loads(text)
    assert again.release_.receipt == fitted.release_.receipt
    ask = "transform" if target is None else "predict"
    same = getattr(again, ask)(inputs) == getattr(fitted, ask)(inputs)
    assert same.all()
    with pytest.raises(ArgumentError, match="set_params"):
        again.fit(inputs, target)
    again.set_params(budget=Budget(1.0)).fit(inputs, target)


@pytest.mark.parametrize(("make", "inputs", "target"), EVERY)
def test_an_unfitted_one_says_so(make: Any, inputs: Any, target: Any) -> None:
    with pytest.raises(NotFittedError):
        getattr(make(), "transform" if target is None else "predict")(inputs)


@pytest.mark.parametrize("kind", [pd.DataFrame, polars.DataFrame, dict])
def test_frames_bring_names(kind: Any) -> None:
    columns = {"a": X[:, 0].tolist(), "b": X[:, 1].tolist()}
    bounds = {"b": (-3, 3), "a": (-4, 4)}
    fitted = scaler(bounds=bounds).fit(kind(columns))
    assert fitted.feature_names_in_.tolist() == ["a", "b"]
    assert fitted.declared_.low.tolist() == [-4, -3]


@chance(1e-9)
def test_labels_of_any_kind_are_classes() -> None:
    names = np.array(["red", "green", "blue"], dtype=object)
    fitted = logistic(classes=list(names), epsilon=50.0, delta=1e-6).fit(X, names[Y])
    assert fitted.classes_.tolist() == sorted(names)
    assert fitted.score(X, names[Y]) > 0.8
    series = pd.Series(names[Y])
    assert logistic(classes=list(names), epsilon=50.0).fit(X, series).score(X, series)


def test_one_odd_item_of_a_list_changes_no_other() -> None:
    facts = Declared(np.zeros(1), np.full(1, 4.0), (0, 1))
    truths = [True, False] * 50
    rows = source_of([[1.0]] * 101, [*truths, "x"], None).read(None, facts)
    assert rows.targets is not None
    assert rows.targets.tolist() == [1, 0] * 50
    plain = Declared(np.zeros(1), np.full(1, 4.0), None, (0.0, 4.0))
    held = source_of([[True], [1.5], ["x"]], [1.0, True, "x"], None)
    assert held.read(None, plain).inputs.tolist() == [[0.25], [0.375]]
    assert held.columns(None)[0][:2].tolist() == [[1.0], [1.5]]


def test_declared_units_are_the_number_of_rows() -> None:
    plan = logistic(units=300, delta=1e-6)
    assert "300 units: declared" in str(plan.fit(X, Y).release_)


# An opened dataset


@pytest.fixture
def opened(tmp_path: Path) -> Any:
    inputs, target = lined(600)
    frame = pd.DataFrame(inputs, columns=["a", "b", "c"])
    frame["y"] = target
    frame["kind"] = np.where(target > 5, "high", "low")
    frame["patient"] = np.arange(600) // 2
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    with dither.open(
        path,
        unit="patient",
        bounds={"a": (0, 10), "b": (0, 10), "c": (0, 10), "y": (-10, 20)},
        keys={"kind": ["low", "high"]},
        rows=2,
        population=300,
        budget=(30.0, 1e-6),
    ) as data:
        yield data


def test_a_dataset_brings_what_is_declared(opened: Any) -> None:
    model = LogisticRegression(epsilon=8.0)
    found = opened.fit(model, inputs=["a", "b"], target="kind")
    assert found is model
    assert found.classes_.tolist() == ["high", "low"]
    assert found.feature_names_in_.tolist() == ["a", "b"]
    assert opened.account.holds(found.release_.receipt)
    assert found.release_.guarantee.unit.name == "patient"
    assert "300 units: declared" in str(found.release_)
    line = opened.fit(Ridge(epsilon=4.0), inputs=["a", "kind"], target="y")
    assert line.feature_names_in_.tolist() == ["a", "kind=low", "kind=high"]
    opened.fit(StandardScaler(epsilon=1.0), inputs=["a", "b", "c"])


@pytest.mark.parametrize(
    ("model", "words", "argument"),
    [
        (LogisticRegression(epsilon=1, bounds=(0, 1)), {"target": "kind"}, "bounds"),
        (LogisticRegression(epsilon=1, classes=(0, 1)), {"target": "kind"}, "classes"),
        (LogisticRegression(epsilon=1), {"target": "y"}, "target"),
        (LinearRegression(epsilon=1), {"target": "kind"}, "target"),
        (LinearRegression(epsilon=1), {}, "target"),
        (StandardScaler(epsilon=1), {"target": "y"}, "target"),
        (LinearRegression(epsilon=1, units=9), {"target": "y"}, "units"),
        (LinearRegression(epsilon=1, budget=Budget(1)), {"target": "y"}, "budget"),
        ("model", {"target": "y"}, "estimator"),
    ],
    ids=range(9),
)
def test_a_dataset_refuses_what_does_not_fit(
    opened: Any, model: Any, words: dict[str, Any], argument: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        opened.fit(model, inputs=["a", "b"], **words)
    assert caught.value.argument == argument
    assert opened.account.affords(PureDP(29.9, unit=Unit("patient")))


def test_all_are_of_one_kind() -> None:
    for made in (logistic(), linear(), scaler(), Ridge()):
        assert isinstance(made, PrivateEstimator)
        assert made.__doc__
        assert all(one in made.__doc__ for one in ("Guarantee:", "Why:", "Assumes:"))
