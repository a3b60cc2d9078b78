"""Domains are declared, never read off data, and refused where they are too large."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dither
from dither import ArgumentError
from dither.question import Question
from dither.science.synth import Domain, booleans, categories, dates, numbers
from dither.science.synth.limits import MOST_CELLS, MOST_COLUMNS, MOST_PAIR
from dither.science.synth.planning import plan
from dither.science.synth.reading import source_of


def small() -> Domain:
    return Domain(
        {
            "age": numbers([0, 18, 65, 110], whole=True, missing=True),
            "sex": ["f", "m"],
            "day": dates("2020-01-01", "2020-12-31"),
            "smokes": booleans(),
        },
        provenance="the form that everybody fills in",
    )


def test_names_and_sizes() -> None:
    found = small()
    assert found.names == ("age", "sex", "day", "smokes")
    assert found.sizes == (4, 2, 12, 2)
    assert found.size == 4 * 2 * 12 * 2
    assert len(found) == 4
    assert "4 columns and 192 different rows" in found.note
    assert "the form that everybody fills in" in found.note
    assert "not stated" in Domain({"a": ["x"]}).note
    assert found.only(["sex"]).names == ("sex",)
    assert found == small()


def test_rows_become_codes_and_codes_rows() -> None:
    domain = small()
    frame = pd.DataFrame(
        {
            "other": [1, 2, 3],
            "sex": ["m", "f", "x"],
            "age": [17, None, 70],
            "day": pd.to_datetime(["2020-03-01", "1999-01-01", None]),
            "smokes": [True, False, True],
        }
    )
    codes = domain.code(frame)
    assert codes.dtype == np.int32
    assert codes.tolist() == [[0, 1, 2, 1], [3, 0, 0, 0], [2, -1, -1, 1]]
    made = domain.frame_columns(codes[:2])
    assert tuple(made) == domain.names
    assert domain.code(made).tolist() == codes[:2].tolist()


def test_no_rows_become_no_rows() -> None:
    made = small().frame_columns(np.empty((0, 4), np.int32))
    assert [len(column) for column in made.values()] == [0] * 4


@pytest.mark.parametrize("name", ["from_frame", "from_pandas", "infer", "fit"])
def test_ways_to_read_a_domain_off_data_say_why_not(name: str) -> None:
    with pytest.raises(AttributeError, match="never read off the data"):
        getattr(Domain, name)
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        Domain.other  # noqa: B018


FRAME = pd.DataFrame({"sex": pd.Categorical(["f", "m"]), "age": [1, 2]})
READ_OFF: list[Any] = [
    FRAME,
    FRAME["sex"],
    [("sex", ["f", "m"])],
    {"sex": FRAME["sex"]},
    {"sex": FRAME["sex"].dtype},
    {"sex": FRAME["sex"].cat.categories},
    {"sex": FRAME["sex"].unique()},
    {"age": FRAME["age"].unique()},
    {"age": (FRAME["age"],)},
    {"age": "0-110"},
    {"age": None},
    {"age": 110},
    {"age": {"low": 0}},
    {"age": numbers},
    {},
    {1: ["f"]},
    {"": ["f"]},
]


@pytest.mark.parametrize("given", READ_OFF, ids=lambda given: repr(given)[:22])
def test_other_things_are_no_domain(given: Any) -> None:
    with pytest.raises(ArgumentError):
        Domain(given)


def test_refusals_name_the_column_and_the_reason() -> None:
    with pytest.raises(ArgumentError, match=r"2405\.10994") as caught:
        Domain({"sex": FRAME["sex"].dtype})
    assert caught.value.argument == "sex"
    with pytest.raises(ArgumentError, match="list each value once") as caught:
        Domain({"sex": ["f", "f"]})
    assert caught.value.argument == "sex"
    with pytest.raises(ArgumentError, match="use one of 'age'"):
        small().only(["height"])
    with pytest.raises(ArgumentError, match="characters"):
        Domain({"sex": ["f"]}, provenance="")


def test_domains_too_large_to_count_are_refused_by_their_size() -> None:
    wide = categories(range(1 << 13))
    with pytest.raises(ArgumentError, match="67,108,864 cells together"):
        Domain({"a": wide, "b": wide})
    assert wide.size**2 > MOST_PAIR
    middle = categories(range(1 << 11))
    many = {f"c{i}": middle for i in range(7)}
    with pytest.raises(ArgumentError, match="88,080,384 cells"):
        Domain(many)
    assert 21 * middle.size**2 > MOST_CELLS
    assert middle.size**2 == MOST_PAIR
    with pytest.raises(ArgumentError, match="257 columns"):
        Domain({f"c{i}": ["a"] for i in range(MOST_COLUMNS + 1)})
    assert Domain({"only": categories(range(100_000))}).sizes == (100_000,)


def test_a_domain_is_refused_with_the_words_with_which_a_question_is() -> None:
    sizes = [2050, 3, 2050]
    with pytest.raises(ArgumentError, match="'a' and 'c' have 2,050 × 2,050") as one:
        Domain({n: range(s) for n, s in zip("abc", sizes, strict=True)})
    question = Question.of("synthetic table", {"rho": 1.0})
    with pytest.raises(ArgumentError, match="'column 0' and 'column 2' have") as two:
        plan(sizes, [], question)
    words = two.value.message.replace("column 0", "a").replace("column 2", "c")
    assert (one.value.argument, one.value.message) == ("domain", words)


def test_a_domain_may_have_more_rows_than_a_float_can_say() -> None:
    many = Domain({f"c{i}": range(30) for i in range(256)})
    assert "10^378 different rows" in many.note
    plan(many.sizes, [], Question.of("synthetic table", {"rho": 1.0}))


def opened(**more: Any) -> Any:
    frame = pd.DataFrame(
        {
            "person": [1, 2],
            "age": [3, 4],
            "stars": [1, 5],
            "height": [1.5, 1.7],
            "ward": ["a", None],
            "day": [date(2020, 1, 1), date(2021, 1, 1)],
            "well": [True, False],
            "doctor": ["x", "y"],
        }
    )
    declared: dict[str, Any] = {
        "bounds": {
            "age": (0, 110),
            "stars": (1, 5),
            "height": (0.5, 2.5),
            "day": ("2020-01-01", "2021-12-31"),
        },
        "keys": {"ward": ["a", "b", None]},
        "types": {"well": "boolean", "day": "date"},
    }
    words = declared | more
    budget = dither.Budget(1.0, unit=dither.Unit("person"))
    return dither.open(frame, unit="person", name="t", budget=budget, **words)


COLUMNS = ["age", "stars", "height", "ward", "day", "well"]


def test_a_dataset_declares_a_domain_already() -> None:
    dataset = opened()
    found = Domain.of(dataset, columns=COLUMNS)
    assert found.names == tuple(COLUMNS)
    assert found.sizes == (17, 6, 17, 3, 9, 3)
    assert found["ward"] == categories(["a", "b"], missing=True, exact=True)
    assert found["stars"] == categories([1, 2, 3, 4, 5], missing=True)
    assert found["well"] == booleans(missing=True)
    assert found["age"].kind == "whole"
    assert found["age"].labels[0] == "0 to 5"
    assert found["age"].labels[-2] == "104 to 110"
    assert "catalogue" in found.note
    narrow = Domain.of(
        dataset,
        columns=COLUMNS,
        bins={"age": [0, 18, 110], "height": 4, "day": ["2020-01-01", "2021-12-31"]},
        missing=False,
    )
    assert narrow.sizes == (2, 5, 4, 3, 1, 2)
    for bins in (1, 2, 5, 7, 100, 1000):
        wide = Domain.of(dataset, columns=["age", "height", "day"], bins=bins)
        assert all(size <= bins + 1 for size in wide.sizes)


def test_what_is_not_declared_is_named() -> None:
    dataset = opened()
    with pytest.raises(ArgumentError, match="has no declared keys") as caught:
        Domain.of(dataset)
    assert caught.value.argument == "doctor"
    with pytest.raises(ArgumentError, match="has no declared bounds or keys"):
        Domain.of(dataset, columns=["person"])
    for columns in ("age", [], [3]):
        with pytest.raises(ArgumentError, match="list of names"):
            Domain.of(dataset, columns=columns)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="no column"):
        Domain.of(dataset, columns=["weight"])
    with pytest.raises(ArgumentError, match="bins are declared for 'weight'"):
        Domain.of(dataset, columns=["age"], bins={"weight": 3})
    with pytest.raises(ArgumentError, match="whole number"):
        Domain.of(dataset, columns=["age"], bins=2.5)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="must be one of 't'"):
        Domain.of(dataset, table="u")
    with pytest.raises(ArgumentError, match=r"dither\.open"):
        Domain.of(FRAME)  # type: ignore[arg-type]


def test_bins_beyond_the_bounds_are_refused() -> None:
    dataset = opened()
    beyond: dict[str, list[Any]] = {
        "age": [0, 18, 111],
        "height": [0.25, 1, 2.5],
        "day": ["2020-01-01", "2022-01-01"],
    }
    for name, edges in beyond.items():
        with pytest.raises(
            ArgumentError, match=f"bins must lie within .* for '{name}'"
        ):
            Domain.of(dataset, columns=[name], bins={name: edges})
    whole = opened(bounds={"height": (0, 3)})
    assert Domain.of(whole, columns=["height"])["height"].kind == "real"
    rows = pd.DataFrame({"person": [1], "at": [pd.Timestamp("2020-03-01")]})
    bounds = {"at": ("2020-01-01", "2020-12-31")}
    times = dither.open(
        rows, unit="person", bounds=bounds, budget=1.0, ledger=":memory:"
    )
    edges = ["2020-01-01", "2020-06-01", "2020-12-31"]
    assert Domain.of(times, columns=["at"], bins={"at": edges}).sizes == (3,)
    with pytest.raises(ArgumentError, match="bins must lie within the bounds"):
        Domain.of(times, columns=["at"], bins={"at": [*edges, "2021-01-01"]})


def test_texts_of_a_dataset_are_told_apart_as_by_its_sql() -> None:
    keys = ["7", "007", "7 ", "7.0", "NaN", "true"]
    frame = pd.DataFrame({"who": range(7), "code": [*keys, "Inf"]})
    dataset = dither.open(
        frame, unit="who", keys={"code": keys}, rows=1, budget=1.0, ledger=":memory:"
    )
    domain = Domain.of(dataset)
    receipt = dataset.account.charge(dither.PureDP(0.1, unit=dataset.unit))
    codes = source_of(dataset, domain).read(receipt)[:, 0].tolist()
    assert codes == [0, 1, 2, 3, 4, 5]
    assert domain["code"].decode(np.arange(6)).tolist() == keys
    # numbers have no other writing than their digits
    assert domain["code"].code([7, b"007", 7.0, None]).tolist() == [0, 1, 0, -1]
    assert domain["code"].code(np.array([7, 1])).tolist() == [0, -1]
    with pytest.raises(ArgumentError, match="must be strings with exact=True"):
        categories([1, 2], exact=True)


def test_two_numbers_may_be_bounds() -> None:
    for pair in ((0, 110), (0.5, 1), (np.int64(0), 2)):
        with pytest.raises(ArgumentError, match="like bounds") as caught:
            Domain({"age": pair})
        assert caught.value.argument == "age"
    assert Domain({"a": [0, 1], "b": (0, 1, 2), "c": ("x", "y")}).sizes == (2, 3, 2)


def test_keys_that_are_no_categories_are_refused() -> None:
    dataset = opened(keys={"day": ["2020-01-01"], "ward": ["a"]})
    with pytest.raises(ArgumentError, match=r"keys that cannot be categories \(date\)"):
        Domain.of(dataset, columns=["day"])
