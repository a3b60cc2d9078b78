"""Tables become codes: rows without a place count for nobody, and of each unit at most
so many rows count, chosen by that unit's rows alone.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dither
from dither import ArgumentError, Unit
from dither.science.synth import Domain, booleans, categories, numbers
from dither.science.synth.keeping import kept
from dither.science.synth.reading import Source, source_of
from tests.chance import chance

DOMAIN = Domain({"sex": ["f", "m"], "age": numbers([0, 10, 20], missing=True)})
FRAME = pd.DataFrame(
    {
        "id": ["p", "p", "p", "q", None, "q"],
        "sex": ["f", "m", "x", "m", "f", "m"],
        "age": [1.0, 15.0, 2.0, np.nan, 3.0, 99.0],
    }
)
HELD: dict[str, Any] = {
    "pandas": FRAME,
    "polars": pl.from_pandas(FRAME),
    "arrow": pa.Table.from_pandas(FRAME),
    "lists": {name: FRAME[name].tolist() for name in FRAME},
    "arrays": {name: FRAME[name].to_numpy() for name in FRAME},
}


def rows_of(codes: Any) -> list[tuple[int, ...]]:
    return sorted(map(tuple, codes.tolist()))


@pytest.mark.parametrize("held", HELD)
def test_frames_are_read_alike(held: str) -> None:
    """A row with a label that is not declared counts for nobody."""
    found = source_of(HELD[held], DOMAIN).read()
    assert found.dtype == np.int32
    assert found.tolist() == [[0, 0], [1, 1], [1, 2], [0, 0], [1, 1]]


@pytest.mark.parametrize("held", HELD)
def test_rows_without_an_owner_do_not_count(held: str) -> None:
    source = source_of(HELD[held], DOMAIN, owner="id", rows=5)
    assert source.read().tolist() == [[0, 0], [1, 1], [1, 2], [1, 1]]
    one = source_of(HELD[held], DOMAIN, owner="id", rows=1).read()
    assert len(one) == 2


def test_ids_may_come_by_themselves() -> None:
    ids = [7, "7", 7.0, "q", None, "q"]
    source = source_of(FRAME, DOMAIN, owner=ids, rows=1)
    assert len(source.read()) == 2


OWNERS: list[Any] = [
    [3, 1, 1, 2, 1, 2],
    np.array([3, 1, 1, 2, 1, 2], np.uint8),
    pd.Series([3, 1, 1, 2, 1, 2]),
    pd.Series([3, 1, 1, 2, 1, 2], dtype="Int64"),
    pd.Series(["3", "1", "1", "2", "1", "2"]),
    pl.Series([3, 1, 1, 2, 1, 2]),
    pa.array([3, 1, 1, 2, 1, 2]),
    pa.chunked_array([["3", "1", "1"], ["2", "1", "2"]]),
    ["3", 1, 1.0, 2, "01", "2.0"],
    [Decimal(3), 1, Decimal("1.0"), b"2", "1", Decimal(2)],
    pa.array(list(map(Decimal, (3, 1, 1, 2, 1, 2)))),
    pl.Series(list(map(Decimal, (3, 1, 1, 2, 1, 2)))),
]


@pytest.mark.parametrize("owners", OWNERS, ids=lambda owners: type(owners).__name__)
def test_owners_of_all_types_are_told_apart(owners: Any) -> None:
    codes = np.arange(6, dtype=np.int32)[:, None]
    everything = np.arange(6)
    for most, left in ((1, 3), (2, 5), (3, 6)):
        assert len(kept(codes, everything, owners, most, (6,))) == left
    assert (
        len(source_of(FRAME, {"age": DOMAIN["age"]}, owner=owners, rows=2).read()) == 5
    )


def test_large_ids_are_not_merged() -> None:
    ids = pd.Series([2**60, 2**60 + 1, None], dtype="Int64")
    codes = np.zeros((3, 1), np.int32)
    assert len(kept(codes, np.arange(3), ids, 1, (2,))) == 2
    arrow = pa.array([2**60, 2**60 + 1, None])
    assert len(kept(codes, np.arange(3), arrow, 1, (2,))) == 2


def test_a_unit_that_comes_or_goes_moves_its_own_rows_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All tables of 5 rows of up to 3 units, with and without unit 0: what others keep
    is the same with the same key, and the unit adds at most `most` rows.
    """
    monkeypatch.setattr("dither.science.synth.keeping.secret_bytes", bytes)
    codes = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], np.int32)
    names = np.array(["a", "b", "c"], object)
    for places in product(range(3), repeat=5):
        owners = names[list(places)]
        others = owners != "a"
        for most in (1, 2):
            with_a = Counter(rows_of(kept(codes, np.arange(5), owners, most, (2, 2))))
            rest = codes[others], np.arange(others.sum()), owners[others]
            without = Counter(rows_of(kept(*rest, most, (2, 2))))
            assert not without - with_a
            assert (with_a - without).total() == min(most, 5 - others.sum())


def test_the_order_of_rows_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dither.science.synth.keeping.secret_bytes", bytes)
    random = np.random.default_rng(3)  # allowed: test inputs, not noise
    codes = random.integers(0, 3, (400, 30)).astype(np.int32)
    owners = random.integers(0, 40, 400)
    sizes = (2**31,) * 30
    want = rows_of(kept(codes, np.arange(400), owners, 3, sizes))
    order = random.permutation(400)
    again = kept(codes[order], np.arange(400), owners[order], 3, sizes)
    assert rows_of(again) == want
    texts = owners.astype(str).astype(object)
    assert rows_of(kept(codes, np.arange(400), texts, 3, sizes)) == want


@chance(5e-9)
def test_units_choose_apart_and_evenly() -> None:
    """Each of 20,000 units has two rows and keeps one: either is as likely."""
    count = 20_000
    codes = np.tile(np.array([[0], [1]], np.int32), (count, 1))
    owners = np.repeat(np.arange(count), 2)
    found = kept(codes, np.arange(2 * count), owners, 1, (2,))
    assert len(found) == count
    assert abs(int(found.sum()) - count / 2) <= 6 * (count / 4) ** 0.5


def test_hostile_values_and_ids_cost_nobody_else_a_row() -> None:
    class Odd:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError

        def __hash__(self) -> int:
            raise RuntimeError

    table = {"id": ["p", Odd(), "q"], "sex": ["f", "f", Odd()], "age": [1, 2, Odd()]}
    assert source_of(table, DOMAIN).read().tolist() == [[0, 0], [0, 0]]
    assert source_of(table, DOMAIN, owner="id", rows=1).read().tolist() == [[0, 0]]


def test_empty_tables_have_no_rows() -> None:
    empty = {"sex": [], "age": [], "id": []}
    assert source_of(empty, DOMAIN).read().shape == (0, 2)
    assert source_of(empty, DOMAIN, owner="id", rows=2).read().shape == (0, 2)
    nowhere = {"sex": ["x"], "age": [1], "id": ["p"]}
    assert source_of(nowhere, DOMAIN).read().shape == (0, 2)
    assert source_of(nowhere, DOMAIN, owner="id", rows=2).read().shape == (0, 2)


@pytest.mark.parametrize("held", ["pandas", "polars", "arrow"])
def test_columns_may_be_called_what_frames_call_theirs(held: str) -> None:
    names = {"sex": "column_names", "age": "columns"}
    frame = FRAME.rename(columns=names)
    domain = Domain({names[name]: DOMAIN[name] for name in ("sex", "age")})
    whole = {"pandas": lambda x: x, "polars": pl.from_pandas}
    table = whole.get(held, pa.Table.from_pandas)(frame)
    want = source_of(HELD[held], DOMAIN).read().tolist()
    assert source_of(table, domain).read().tolist() == want


def test_one_column_is_enough() -> None:
    found = source_of({"well": [True, None, False]}, {"well": booleans()}).read()
    assert found.tolist() == [[1], [0]]


WRONG: list[tuple[Any, dict[str, Any], str]] = [
    (FRAME, {"rows": 2}, "rows must be 1, because each row is one unit"),
    (FRAME, {"owner": "id"}, "rows must be declared"),
    (FRAME, {"owner": "id", "rows": 0}, "rows must be at least 1"),
    (FRAME, {"owner": "id", "rows": 1.5}, "rows must be a whole number"),
    (FRAME, {"owner": "id", "rows": 10**12}, "rows must be at most 1,000,000,000"),
    (FRAME, {"owner": "who", "rows": 1}, "the table has no column 'who'"),
    (FRAME, {"owner": "age", "rows": 1}, "owner must be a column of strings"),
    (FRAME, {"owner": pa.array([1.0] * 6), "rows": 1}, "owner must be a column of"),
    (FRAME, {"owner": np.zeros(6, "M8[D]"), "rows": 1}, "owner must be a column of"),
    (
        FRAME,
        {"owner": [1], "rows": 1},
        "table must have columns (and owner ids) of equal",
    ),
    (FRAME, {"owner": 3, "rows": 1}, "owner must be a column"),
    (FRAME, {"name": "t"}, "table can be passed only with a dataset"),
    (FRAME[["sex"]], {}, "the table has no column 'age'"),
    (
        FRAME.rename(columns={"id": "sex"}),
        {},
        "the table must have exactly one column 'sex'",
    ),
    (
        {"sex": ["f"], "age": [1, 2]},
        {},
        "table must have columns (and owner ids) of equal",
    ),
    ({"sex": ["f"], "age": 3}, {}, "the table must have exactly one column 'age'"),
    ({"sex": "ff", "age": [1, 2]}, {}, "the table must have exactly one column 'sex'"),
    (np.zeros((2, 2)), {}, "table cannot be of type ndarray"),
    (pl.from_pandas(FRAME).lazy(), {}, "table cannot be of type LazyFrame"),
    ([("f", 1)], {}, "table cannot be of type list"),
    (None, {}, "table cannot be of type NoneType"),
]


@pytest.mark.parametrize(("table", "stated", "words"), WRONG)
def test_wrong_questions_are_refused_before_anything_is_read(
    table: Any, stated: dict[str, Any], words: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        source_of(table, DOMAIN, **stated)
    assert str(caught.value).startswith(words)


def test_columns_that_are_not_declared_are_not_looked_at() -> None:
    class Closed(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            assert name != "secret"
            return super().__getitem__(name)

    table = Closed(sex=["f"], age=[1], secret=["x"])
    assert source_of(table, DOMAIN).read().tolist() == [[0, 0]]


def test_releases_protect_the_unit_of_the_account_where_it_is_the_same() -> None:
    source = source_of(FRAME, DOMAIN)
    assert source.unit() == dither.ROW
    replaced = dither.Budget(1.0, unit=dither.ROW.replacing())
    assert source.unit(replaced) == dither.ROW.replacing()
    owned = source_of(FRAME, DOMAIN, owner="id", rows=1)
    assert owned.unit() == Unit("id")
    assert (
        owned.unit(dither.Budget(1.0, unit=Unit("id", "replace"))).relation == "replace"
    )
    # owners are no rows, whatever their column is called
    named = FRAME.rename(columns={"id": "row"})
    for_rows = dither.Budget(1.0, unit=dither.ROW)
    assert source_of(named, DOMAIN, owner="row", rows=1).unit(for_rows).name == "owner"
    ids = source_of(FRAME, DOMAIN, owner=FRAME["id"], rows=1)
    assert ids.unit() == Unit("owner")
    assert ids.unit(dither.Budget(1.0, unit=Unit("patient"))) == Unit("patient")


def opened(**declared: Any) -> Any:
    budget = dither.Budget(3.0, unit=Unit("id"))
    frame = FRAME.assign(well=[True, False, None, True, True, False])
    told = {"bounds": {"age": (0.0, 20.0)}, "keys": {"sex": ["f", "m"]}} | declared
    types = {"well": "boolean"}
    return dither.open(frame, unit="id", name="t", budget=budget, types=types, **told)


def test_a_dataset_is_read_against_a_receipt() -> None:
    dataset = opened(rows=2)
    source = source_of(dataset, DOMAIN)
    assert (source.rows, source.owned, source.unit()) == (2, True, Unit("id"))
    with pytest.raises(ArgumentError, match="receipt"):
        source.read()
    receipt = dataset.account.charge(dither.PureDP(0.1, unit=dataset.unit))
    assert rows_of(source.read(receipt)) == [(0, 0), (1, 1), (1, 1), (1, 2)]
    narrow = source_of(dataset, DOMAIN, rows=1)
    assert len(narrow.read(receipt)) == 2
    whole = source_of(dataset, None)
    assert whole.domain == Domain.of(dataset)


def test_questions_about_a_dataset_are_checked_first() -> None:
    dataset = opened()
    for stated, words in (
        ({}, "rows must be declared"),
        ({"owner": "id", "rows": 1}, "owner is declared by the dataset"),
        ({"rows": 1, "name": "u"}, "table must be one of 't'"),
    ):
        with pytest.raises(ArgumentError, match=words):
            source_of(dataset, DOMAIN, **stated)
    with pytest.raises(ArgumentError, match="no column 'height'"):
        source_of(dataset, {"height": ["a"]}, rows=1)
    held = dither.Dataset.of({"sex": ["f"]})
    with pytest.raises(ArgumentError, match="columns in memory"):
        source_of(held, {"sex": ["f"]})


def test_notes_say_how_rows_were_read() -> None:
    source: Source = source_of(opened(), DOMAIN, rows=3)
    said = " | ".join(source.notes)
    assert "declared" in said
    assert "are left out" in said
    assert "at most 3 rows of each unit" in said
    assert "bounds" in said
    plain = " | ".join(source_of(FRAME, DOMAIN).notes)
    assert "at most" not in plain


def test_categories_with_other_keep_their_rows() -> None:
    domain = Domain({"sex": categories(["f", "m"], other="else")})
    assert source_of(FRAME, domain).read()[:, 0].tolist() == [0, 1, 2, 1, 0, 1]
