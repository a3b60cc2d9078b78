"""Ways to a second budget that a review found in earlier drafts, each closed."""

import pytest

from dither import LedgerError, PureDP
from dither.ledger import Ledger, verify
from dither.ledger.entry import Entry, canonical
from dither.ledger.sqlite_file import backup_file


def test_a_charge_inside_another_transaction_is_refused(ledger):
    """Rolled back with it, its receipt would have been worth nothing."""
    account = ledger.account("clinic", epsilon=1)
    with pytest.raises(LedgerError, match="under way"), ledger.changing():
        account.charge(PureDP(1))
    account.charge(PureDP(1))
    assert verify(ledger) == 3


def test_a_transaction_left_open_by_an_interrupt_is_given_up(ledger, place):
    account = ledger.account("clinic", epsilon=1)
    connection = ledger.store._connected()
    connection.execute(
        "BEGIN" if isinstance(place, str) and "://" not in str(place) else b"BEGIN"
    )
    receipt = account.charge(PureDP(1))
    with Ledger.open(place) as other:
        assert other.account("clinic").history()[-1].head == receipt.head


@pytest.fixture
def book(tmp_path):
    place = tmp_path / "book.db"
    with Ledger.open(place) as ledger:
        ledger.account("clinic", epsilon=1).charge(PureDP(1))
    return place


def test_a_removed_book_does_not_begin_anew_beside_its_note(book):
    book.unlink()
    with pytest.raises(LedgerError, match="is empty, but it had"):
        Ledger.open(book)


def test_accounts_lost_by_restoring_open_frozen(book, tmp_path):
    backup_file(str(book), str(tmp_path / "copy.db"))
    with Ledger.open(book) as ledger:
        ledger.account("later", epsilon=1).charge(PureDP(1))
    with Ledger.restore(tmp_path / "copy.db", tmp_path / "again.db") as ledger:
        later = ledger.account("later", epsilon=1)
        assert later.frozen
        verify(ledger)
        ledger.clear("no account is missing")
        assert not ledger.account("new", epsilon=1).frozen
        verify(ledger)


def test_an_interrupted_restoring_leaves_no_book(book, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "dither.ledger.ledger.put_in_place",
        lambda *_: (_ for _ in ()).throw(KeyboardInterrupt),
    )
    with pytest.raises(KeyboardInterrupt):
        Ledger.restore(book, tmp_path / "again.db")
    assert not (tmp_path / "again.db").exists()
    monkeypatch.undo()
    with Ledger.restore(book, tmp_path / "again.db") as ledger:
        assert ledger.account("clinic").frozen
    assert not list(tmp_path.glob("*restoring*"))


def forge(ledger, change):
    """Rewrite the log so that it agrees with itself again."""
    with ledger.store.writing(anew=True) as run:
        previous = ""
        for entry in _entries(run):
            new = Entry.after(
                entry.seq,
                previous,
                entry.time,
                entry.kind,
                entry.account,
                change(entry),
            )
            run(
                "UPDATE log SET body = ?, hash = ? WHERE seq = ?",
                (canonical(new.body), new.hash, new.seq),
            )
            previous = new.hash


def _entries(run):
    import json

    rows = run("SELECT seq, time, kind, account, body, hash FROM log ORDER BY seq")
    return [Entry(*row[:4], json.loads(row[4]), row[5]) for row in rows]


def test_caps_that_do_not_follow_from_the_total_are_found(ledger):
    ledger.account("clinic", epsilon=1).charge(PureDP(0.5))
    forge(
        ledger, lambda e: {**e.body, "pure_cap": 10**18} if e.kind == "open" else e.body
    )
    with ledger.store.writing() as run:
        run("UPDATE account SET pure_cap = ?", (10**18,))
    with pytest.raises(LedgerError, match="allows more than its total"):
        verify(ledger)


@pytest.mark.parametrize(
    ("cost", "words"),
    [([-5, 0, 0], "negative cost"), ([1, 0, 0], "less than its guar")],
)
def test_costs_below_their_guarantee_are_found(ledger, cost, words):
    ledger.account("clinic", epsilon=1).charge(PureDP(0.5))
    forge(ledger, lambda e: {**e.body, "cost": cost} if e.kind == "charge" else e.body)
    with ledger.store.writing() as run:
        run("UPDATE account SET pure_spent = ?", (cost[0],))
    with pytest.raises(LedgerError, match=words):
        verify(ledger)
