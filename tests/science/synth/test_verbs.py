"""`Dataset.synth` asks for a synthetic table over what the dataset declares."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import dither
from dither import ArgumentError, Unit
from dither.science import synth
from dither.science.synth import Domain, categories
from dither.science.synth.verbs import domain_of


def opened() -> Any:
    frame = pd.DataFrame(
        {"id": range(40), "age": [20, 40] * 20, "ward": ["a", "b", "a", "c"] * 10}
    )
    return dither.open(
        frame,
        unit="id",
        name="t",
        bounds={"age": (0, 110)},
        keys={"ward": ["a", "b", "c"]},
        rows=1,
        budget=dither.Budget(10.0, 1e-6, unit=Unit("id")),
    )


def test_the_domain_is_what_is_declared() -> None:
    dataset = opened()
    assert domain_of(dataset) == Domain.of(dataset)
    assert domain_of(dataset, columns=["ward"]).names == ("ward",)
    assert domain_of(dataset, bins=4)["age"].size == 5
    assert domain_of(dataset, bins={"age": [0, 18, 110]})["age"].size == 3
    stated = {"ward": ["a", "b"], "age": categories([20, 40])}
    assert domain_of(dataset, stated).sizes == (2, 2)
    assert domain_of(dataset, Domain(stated), ["age"]).names == ("age",)
    with pytest.raises(ArgumentError, match="bins cannot be combined with domain="):
        domain_of(dataset, stated, bins=3)
    with pytest.raises(ArgumentError, match="must be one of 't'"):
        domain_of(dataset, table="u")


def test_the_question_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(
        synth, "mst", lambda *args, **words: asked.append((args, words)), raising=False
    )
    dataset = opened()
    dataset.synth(rows=1, pairs=[("age", "ward")], n=7, table="t", epsilon=1.0, by="x")
    (args, words), *_ = asked
    assert args == (dataset,)
    assert words.pop("domain") == Domain.of(dataset)
    assert words == {
        "name": "t",
        "rows": 1,
        "pairs": [("age", "ward")],
        "n": 7,
        "epsilon": 1.0,
        "by": "x",
    }


def test_columns_in_memory_say_how_to_be_opened() -> None:
    held = dither.Dataset.of({"ward": ["a"]}, keys={"ward": ["a"]})
    with pytest.raises(ArgumentError, match=r"dither\.open"):
        held.synth(epsilon=1.0)


def test_a_table_has_the_declared_types_and_is_charged() -> None:
    dataset = opened()
    made = dataset.synth(pairs=[("age", "ward")], n=30, rho=0.5, bins={"age": 4})
    frame = made.to_pandas()
    assert list(frame.columns) == ["age", "ward"]
    assert len(frame) == 30
    assert str(frame["age"].dtype) == "Int64"
    assert frame["age"].dropna().between(0, 110).all()
    assert set(frame["ward"]) <= {"a", "b", "c"}
    assert dataset.account.holds(made.receipt)
    assert made.guarantee.unit == Unit("id")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"columns": ["height"]}, "no column 'height'"),
    ({"domain": {"ward": {"a"}}}, "never read off the data"),
    ({"domain": {"height": ["a"]}}, "no column 'height'"),
    ({"pairs": [("age", "height")]}, "height"),
    ({"table": "u"}, "must be one of 't'"),
    ({"rows": 0}, "at least 1"),
    ({"n": -1}, "n must be a whole number of rows"),
    ({"bins": {"age": [0, 0]}}, "two or more increasing numbers"),
    ({"bins": 10**8}, "bins must be at most .* not 100,000,000"),
    ({"budget": dither.Budget(1.0)}, "own account"),
]


@pytest.mark.parametrize(("stated", "words"), WRONG)
def test_wrong_questions_cost_nothing(stated: dict[str, Any], words: str) -> None:
    dataset = opened()
    with pytest.raises(ArgumentError, match=words):
        dataset.synth(**{"epsilon": 1.0} | stated)
    assert dataset.account.spent == 0


@pytest.mark.parametrize("odd", [None, "zzz"])
def test_tables_without_a_row_that_counts_are_answered(odd: str | None) -> None:
    frame = pd.DataFrame({"ward": pd.Series([odd] * 3, dtype="str")})
    budget = dither.Budget(3.0)
    keys = {"ward": ["a", "b"]}
    dataset = dither.open(frame, unit="row", name="t", keys=keys, budget=budget)
    made = dataset.synth(epsilon=1.0, n=5)
    assert len(made.to_pandas()) == 5
