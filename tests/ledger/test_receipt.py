"""Receipts: true ones, invented ones, and what storing does with them."""

import pytest

from dither.errors import LedgerError
from dither.ledger import Receipt
from tests.ledger.support import ONE


class TestReceipts:
    @pytest.mark.parametrize("act", ["settle", "fail", "store"])
    def test_an_invented_receipt_changes_nothing(self, account, ledger, act):
        true = account.charge(ONE)
        opened = next(entry for entry in ledger.entries() if entry.kind == "open")
        head = ledger.head
        for number, digest in (
            (true.number, "0" * 64),
            (99, true.head),
            (opened.seq, opened.hash),
        ):
            forged = Receipt(
                number, ONE, "", account.place, "clinic", None, true.time, digest
            )
            arguments = {"settle": (), "fail": ("why",), "store": ("key", "text")}[act]
            with pytest.raises(LedgerError, match="not of a charge in this book"):
                getattr(account, act)(forged, *arguments)
        assert ledger.head == head

    def test_storing_settles_in_the_same_step(self, account, ledger):
        with account.spending(ONE) as receipt:
            before = ledger.head[0]
            account.store(receipt, "key", "42")
            assert ledger.head[0] == before + 2
        assert ledger.head[0] == before + 2
        assert [entry.kind for entry in ledger.entries()][-3:] == [
            "charge",
            "store",
            "settle",
        ]
