"""Columns of a dataset are read in the same way by a fit and by what it is asked with."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dither
from dither import ArgumentError, learn
from tests.chance import chance

PLANS = ["basic", "plus", "pro"]
INPUTS = ["months", "plan"]
FRAME = pd.DataFrame(
    {
        "id": range(600),
        "months": np.arange(600) % 24,
        "plan": [PLANS[place % 3] for place in range(600)],
        "left": ["yes" if place % 3 == 2 else "no" for place in range(600)],
        "paid": [100.0 * (place % 3) for place in range(600)],
    }
)


def opened() -> Any:
    return dither.open(
        FRAME,
        name="customers",
        unit="id",
        bounds={"months": (0, 24), "paid": (0, 200)},
        keys={"plan": PLANS, "left": ["no", "yes"]},
        rows=1,
        population=600,
        budget=(100.0, 1e-6),
        ledger=":memory:",
    )


def asked() -> Any:
    return learn.LogisticRegression(epsilon=8)


@pytest.mark.filterwarnings("error")
def test_a_frame_with_keys_is_read_as_in_the_fit() -> None:
    fitted = opened().fit(asked(), inputs=INPUTS, target="left")
    rows = {"plan": ["pro", "basic", "none", None], "months": [3, 3, None, 3]}
    wanted = ["yes", "no"]
    for frame in (pd.DataFrame(rows), pl.DataFrame(rows, strict=False), rows):
        assert fitted.predict(frame)[:2].tolist() == wanted
    assert pickle.loads(pickle.dumps(fitted)).predict(rows)[:2].tolist() == wanted
    by_hand = np.array([[3, 0, 0, 1], [3, 1, 0, 0], [np.nan, 0, 0, 0], [3, 0, 0, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an array has no names
        same = fitted.predict_proba(by_hand)
    assert np.array_equal(fitted.predict_proba(rows), same)
    named = pd.DataFrame(by_hand, columns=fitted.feature_names_in_)
    assert np.array_equal(fitted.predict_proba(named), same)


def test_a_column_that_is_not_there_is_named() -> None:
    fitted = opened().fit(asked(), inputs=INPUTS, target="left")
    with pytest.raises(ArgumentError, match="there is no column 'months'"):
        fitted.predict(pd.DataFrame({"plan": ["pro"]}))


@chance(1e-9)
def test_a_search_and_a_pipeline_read_it_too() -> None:
    data = opened()
    public = FRAME[INPUTS][:90], FRAME["left"][:90]
    search = learn.GridSearch(
        learn.LogisticRegression(), {"max_iter": [20, 40]}, epsilon=8, public=public
    )
    data.fit(search, inputs=INPUTS, target="left")
    assert search.best_score_ > 0.9
    assert search.score(*public) == search.best_score_
    steps = learn.make_pipeline(learn.StandardScaler(epsilon=8), asked())
    data.fit(steps, inputs=INPUTS, target="left")
    assert steps.predict(FRAME[INPUTS][:3]).tolist() == ["no", "no", "yes"]


def test_public_rows_in_another_order_are_refused() -> None:
    account = dither.Budget(9.0, 1e-6)
    inputs = FRAME[["months", "paid"]]
    search = learn.GridSearch(
        learn.LogisticRegression(bounds=(0, 200), classes=["no", "yes"]),
        {"max_iter": [20, 40]},
        epsilon=1,
        budget=account,
        public=(FRAME[["paid", "months"]], FRAME["left"]),
    )
    with pytest.raises(ArgumentError, match="in the same order; pass months, paid"):
        search.fit(inputs, FRAME["left"])
    assert account.spent == 0


def test_a_release_names_its_columns_and_what_it_costs() -> None:
    line = opened().fit(learn.Ridge(epsilon=0.05), inputs=INPUTS, target="paid")
    shown = str(line.release_)
    assert "ridge regression (95 % intervals)" in shown
    assert "  plan=pro: ≈" in shown
    assert "declare rows" not in shown
    assert "spend more" in shown
    assert "guarantee: ε = 0.05 at δ = 1e-06, protects one" in shown
    pure = learn.StandardScaler(epsilon=1, bounds=(0, 24)).fit(FRAME[["months"]])
    assert "at δ" not in str(pure.release_)


def test_a_column_of_dates_is_refused_before_the_charge() -> None:
    dated = FRAME.assign(joined=pd.Timestamp("2026-01-01"))
    bounds = {"joined": ("2020-01-01", "2027-01-01")}
    data = dither.open(
        dated,
        name="customers",
        unit="id",
        bounds=bounds,
        keys={"left": ["no", "yes"]},
        budget=(9.0, 1e-6),
        ledger=":memory:",
    )
    with pytest.raises(ArgumentError, match=r"does not hold numbers.*convert dates"):
        data.fit(asked(), inputs=["joined"], target="left")
    assert data.account.spent == 0


@pytest.mark.parametrize(
    ("estimator", "inputs", "words"),
    [
        (learn.LogisticRegression, INPUTS, r"pass LogisticRegression\(epsilon=1\)"),
        (asked(), ["months", "left"], "must not contain the target 'left'"),
    ],
    ids=["class", "target"],
)
def test_what_cannot_be_fitted_costs_nothing(
    estimator: Any, inputs: list[str], words: str
) -> None:
    data = opened()
    with pytest.raises(ArgumentError, match=words):
        data.fit(estimator, inputs=inputs, target="left")
    assert data.account.charges == 0


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"months": (0, 24), "paid": (0, 200), "oops": (0, 1)}, "not have 'oops'"),
        ({"months": (0, 24)}, "the pair of 'paid' is missing"),
        (dict.fromkeys("abcde", (0, 1)), "'a', 'b', 'c' and 2 more; remove"),
    ],
)
def test_bounds_of_unknown_columns_are_named(bounds: Any, words: str) -> None:
    model = learn.PCA(epsilon=1, bounds=bounds)
    with pytest.raises(ArgumentError, match=words):
        model.fit(FRAME[["months", "paid"]])


def test_one_row_of_a_unit_is_one() -> None:
    fitted = opened().fit(asked(), inputs=INPUTS, target="left")
    said = str(fitted.release_)
    assert "at most 1 row of each unit is used" in said
