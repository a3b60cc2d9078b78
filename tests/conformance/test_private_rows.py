"""What the other rooms get from every engine, against a receipt: rows and counts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import dither


@pytest.fixture
def receipt(pure: dither.Dataset) -> dither.Receipt:
    return pure.account.charge(dither.PureDP(0.1, unit=pure.unit))


def counted(pure: dither.Dataset, receipt: dither.Receipt, most: int) -> Any:
    found = pure.histogram(["ward"], rows=most, table="visits", receipt=receipt)
    return found.counts


def test_rows_and_counts_agree(pure: Any, receipt: dither.Receipt) -> None:
    """Nothing is cut off, so the engine counts what the rows say."""
    rows = pure.fetch(["ward", "cost", "day"], table="visits", receipt=receipt)
    wards = Counter(rows.columns["ward"].tolist())
    keys = pure.facts["visits.ward"].keys
    assert counted(pure, receipt, 10**9).tolist() == [wards[key] for key in keys]
    low, high = pure.facts["visits.cost"].bounds
    cost = rows.columns["cost"].compressed()
    assert low <= cost.min() <= cost.max() <= high
    assert rows.columns["day"].dtype == np.dtype("datetime64[D]")


@pytest.mark.parametrize("most", [1, 3])
def test_a_unit_counts_for_its_rows_at_most(
    pure: Any, receipt: dither.Receipt, most: int
) -> None:
    rows = pure.fetch(["ward"], table="visits", receipt=receipt)
    keys = pure.facts["visits.ward"].keys
    pairs = zip(rows.owners.tolist(), rows.columns["ward"].tolist(), strict=True)
    each = Counter(owner for owner, ward in pairs if ward in keys)
    found = counted(pure, receipt, most)
    assert found.sum() == sum(min(number, most) for number in each.values())


def test_columns_that_are_fetched_apart_fit_together(
    pure: Any, receipt: dither.Receipt
) -> None:
    names = ["ward", "cost", "day"]
    whole = pure.fetch(names, table="visits", receipt=receipt)
    for name in names:
        alone = pure.fetch([name], table="visits", receipt=receipt)
        assert alone.columns[name].tolist() == whole.columns[name].tolist()


def test_rows_find_their_owner_through_a_link(
    pure: Any, receipt: dither.Receipt
) -> None:
    visits = pure.fetch([], table="visits", receipt=receipt)
    linked = pure.fetch([], table="diagnoses", receipt=receipt)
    assert set(linked.owners.tolist()) <= set(visits.owners.tolist())
    assert len(linked.owners) > 0
