"""Receipts: true ones, invented ones, and what storing does with them."""

import pytest

from dither.errors import LedgerError
from dither.ledger import Ledger, Receipt
from dither.privacy import PureDP
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
            with pytest.raises(LedgerError, match="does not belong to a charge"):
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


class TestWhatACharge:
    """A receipt has the part that its charge took and what remained right after it: not
    what remains when it is printed.
    """

    def short(self, place):
        """Whether the short way to charge returns what is spent."""
        return not place.startswith("postgres")

    def test_took(self, ledger, place):
        account = ledger.account("clinic", epsilon=1)
        receipt = account.charge(PureDP(0.25))
        account.charge(PureDP(0.5))
        if not self.short(place):
            assert receipt.taken is None
            return
        assert receipt.taken.share == 0.25
        assert receipt.taken.remaining.share == 0.75
        assert receipt.taken.remaining.epsilon == 0.75
        assert account.remaining.share == 0.25

    def test_took_of_a_share(self, ledger, place):
        """The analyst's own remainder, also if the account has more."""
        account = ledger.account("clinic", epsilon=1)
        account.share("ana", 0.5)
        account.share("bob", 0.5)
        account.charge(PureDP(0.125), by="bob")
        receipt = account.charge(PureDP(0.25), by="ana")
        if not self.short(place):
            return
        assert receipt.taken.share == 0.25
        assert receipt.taken.remaining.share == 0.25
        words = receipt.taken.remaining.in_words()
        assert words == account.remaining_for("ana").in_words()
        assert words.startswith("25 % of the account, ")

    def test_took_in_the_ordinary_way(self, ledger):
        """A new analyst, and a charge with a name of its own, are not charged in one
        step; a charge that is found again says nothing.
        """
        account = ledger.account("clinic", epsilon=1)
        first = account.charge(PureDP(0.25), by="ana")
        second = account.charge(PureDP(0.25), once="mine")
        again = account.charge(PureDP(0.25), once="mine")
        assert first.taken.remaining.share == 0.75
        assert second.taken.remaining.share == 0.5
        assert (again.taken, again) == (None, second)

    def test_took_of_an_account_that_was_amended_by_another_process(
        self, ledger, place
    ):
        """The terms at hand are no longer those of the book, so nothing is said."""
        account = ledger.account("clinic", epsilon=1)
        with Ledger.open(place) as other:
            other.amend("clinic", epsilon=2, reason="a new total")
        assert account.charge(PureDP(0.25)).taken is None

    def test_took_is_not_in_the_book(self, account):
        receipt = account.charge(ONE)
        assert account.history()[-1] == receipt
        assert account.history()[-1].taken is None
        assert "taken" not in repr(receipt)
