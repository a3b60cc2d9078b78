"""What all stores share: how a charge is written, and which store a place has."""

import json

import pytest

from dither.errors import LedgerError
from dither.ledger.sqlite import SQLiteStore
from dither.ledger.store import Charge, connect, version_of

CHARGE = Charge("clinic", "ana", (1, 2, 3, 0), "now", "then", "id", {"by": "ana"}, "{}")


def test_a_charge_is_tested_in_the_order_of_the_statement():
    assert CHARGE.tested == (0, 1, 2, 3)


def test_what_is_spent_comes_last_in_the_line():
    assert CHARGE.text([4, 5, 6, 0]) == '{"by":"ana","spent":[4,5,6,0]}'
    assert json.loads(CHARGE.text([4, 5, 6, 0]))["spent"] == [4, 5, 6, 0]


def test_a_path_is_kept_in_sqlite():
    store = connect(":memory:")
    assert isinstance(store, SQLiteStore)
    store.close()


@pytest.mark.parametrize("rows", [[], [("one",)], [("-1",)], [(None,)]])
def test_a_version_that_is_no_number_is_damage(rows):
    assert version_of([("2",)], "book.db") == 2
    with pytest.raises(LedgerError, match=r"book\.db is damaged"):
        version_of(rows, "book.db")
