"""What holds for every estimator: copies, odd rows, and questions that are refused."""

from __future__ import annotations

import json
import pickle
import re
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from dither import ArgumentError, Budget
from dither.chart import MOST
from tests.learn.estimators.data import classified
from tests.learn.estimators.test_spending import EVERY

X, Y = classified(80)
CLASSIFIERS = [one for one in EVERY if "classes" in one[1]]


def made(kind: Any, more: dict[str, Any], **stated: Any) -> Any:
    return kind(**{"epsilon": 1.0, "bounds": (-3, 3)} | more | stated)


def fit(model: Any, inputs: Any = X, labels: Any = Y) -> Any:
    return model.fit(inputs, labels if model._target else None)


def asked(model: Any) -> Any:
    """What a fitted one says of rows."""
    return (model.predict if hasattr(model, "predict") else model.transform)(X)


@pytest.mark.parametrize(("kind", "more"), EVERY)
def test_copies(kind: Any, more: dict[str, Any]) -> None:
    account = Budget(5.0, 1e-6)
    model = fit(made(kind, more, budget=account))
    other = clone(model)
    assert other.budget is account
    assert other.get_params() == model.get_params()
    assert not hasattr(other, "release_")
    held = pickle.dumps(model)
    numbers = rb"dither\.ledger\.(receipt|left|state|terms|policy)"
    assert b"ledger" not in re.sub(numbers, b"", held)
    again = pickle.loads(held)
    assert (asked(again) == asked(model)).all()
    assert again.release_.guarantee == model.release_.guarantee
    with pytest.raises(ArgumentError, match="set_params"):
        fit(again)
    assert account.charges == 1


@pytest.mark.parametrize(("kind", "more"), EVERY)
def test_an_unfitted_one_says_so(kind: Any, more: dict[str, Any]) -> None:
    with pytest.raises(NotFittedError):
        asked(made(kind, more))


@pytest.mark.parametrize(("kind", "more"), EVERY)
@pytest.mark.parametrize(
    ("wrong", "argument"),
    [
        ({"bounds": None}, "bounds"),
        ({"bounds": (3, -3)}, "bounds"),
        ({"bounds": (2, 2)}, "bounds"),
        ({"bounds": (0, np.nan)}, "bounds"),
        ({"epsilon": 0}, "epsilon"),
        ({"units": 0}, "units"),
    ],
)
def test_bad_questions_cost_nothing(
    kind: Any, more: dict[str, Any], wrong: dict[str, Any], argument: str
) -> None:
    account = Budget(3.0, 1e-6)
    with pytest.raises(ArgumentError) as caught:
        fit(made(kind, more, budget=account, **wrong))
    assert caught.value.argument == argument
    assert account.charges == 0


@pytest.mark.parametrize(("kind", "more"), CLASSIFIERS)
@pytest.mark.parametrize("classes", [None, [1], [], "ab"])
def test_classes_are_two_or_more(kind: Any, more: dict[str, Any], classes: Any) -> None:
    account = Budget(3.0, 1e-6)
    with pytest.raises(ArgumentError, match="classes"):
        fit(made(kind, more, budget=account, classes=classes))
    assert account.charges == 0


def odd() -> dict[str, Any]:
    holes = X.copy()
    holes[::3, 0], holes[1::3, 1], holes[2::3, 2] = np.nan, np.inf, -1e300
    objects = X.astype(object)
    objects[3, 1], objects[4, 2] = "odd", None
    return {
        "missing": (np.full_like(X, np.nan), Y),
        "constant": (np.zeros_like(X), Y),
        "out of bounds": (1e6 * X, Y),
        "holes": (holes, Y),
        "objects": (objects, Y),
        "none": (X[:0], Y[:0]),
        "one": (X[:1], Y[:1]),
        "other labels": (X, Y + 100),
        "one label": (X, np.zeros_like(Y)),
        "no labels": (X, np.full(len(Y), np.nan)),
    }


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("kind", "more"), EVERY)
@pytest.mark.parametrize("way", odd())
@pytest.mark.parametrize("total", [(2.0,), (2.0, 1e-6)], ids=["pure", "gaussian"])
def test_odd_rows_are_charged_as_any(
    kind: Any, more: dict[str, Any], way: str, total: Any
) -> None:
    account = Budget(*total)
    model = fit(made(kind, more, budget=account), *odd()[way])
    assert account.charges == 1
    if np.asarray(asked(model)).dtype.kind == "f":
        assert np.isfinite(asked(model)).all()


@pytest.mark.parametrize(("kind", "more"), EVERY)
def test_all_forms_of_a_release_hold_all_numbers(
    kind: Any, more: dict[str, Any]
) -> None:
    released = fit(made(kind, more)).release_
    numbers = np.ravel(released.value)
    rows = json.loads(released.to_json())["rows"]
    assert [row["values"][-1] for row in rows] == pytest.approx(numbers)
    frame = released.to_pandas()
    assert list(frame[released.what]) == pytest.approx(numbers)
    assert frame["key"].is_unique
    assert len(released.to_csv().splitlines()) == len(numbers) + 1
    for text in (repr(released), released.to_markdown(), released._repr_html_()):
        assert released.what in text
    assert released[0] is not None
    if len(numbers) > MOST:
        with pytest.raises(ArgumentError, match=r"read \.value"):
            released.plot()
    else:
        assert len(released.plot().bars) == len(numbers)
