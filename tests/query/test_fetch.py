"""Private rows: owners, and columns within their bounds."""

from __future__ import annotations

import numpy as np

from tests.query.visits import VISITS, opened, paid


def test_rows_have_owners_and_stay_within_their_bounds() -> None:
    with opened(types={"day": "date"}) as dataset:
        rows = dataset.fetch(["age", "ward", "day"], receipt=paid(dataset))
    by_owner = sorted(zip(rows.owners, rows.columns["ward"], strict=True))
    assert len(by_owner) == 6  # the row without an owner is left out
    assert by_owner[0] == (b"a", "A")
    ages = rows.columns["age"]
    assert ages.dtype == np.int64
    assert sorted(ages.compressed().tolist()) == [10, 40, 50, 60, 110]
    assert rows.columns["day"].dtype == np.dtype("datetime64[D]")


def test_rows_of_an_empty_table_have_the_same_types() -> None:
    nobody = {name: column[6:] for name, column in VISITS.items()}
    with opened(nobody, types={"ward": "text", "id": "text"}) as dataset:
        rows = dataset.fetch(["age", "ward"], receipt=paid(dataset))
    assert rows.columns["age"].dtype == np.int64
    assert len(rows.owners) == len(rows.columns["ward"]) == 0
