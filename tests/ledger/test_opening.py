"""A book of an earlier version still opens, and is brought up to date or left alone."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dither.errors import BudgetExceeded, LedgerError
from dither.ledger import Attempt, Ledger, Pinned, verify
from dither.ledger.sqlite import SQLiteStore
from dither.privacy import GaussianDP, PoissonSampled, PureDP, Unit
from tests.ledger.notes import agree

GOLDEN = Path(__file__).parent / "golden" / "book-v1.db"


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A book of the first schema, with the head that was noted beside such books."""
    path = tmp_path / "golden.db"
    shutil.copy(GOLDEN, path)
    with closing(sqlite3.connect(path)) as connection:
        seq, head = connection.execute(
            "SELECT seq, hash FROM log ORDER BY seq DESC LIMIT 1"
        ).fetchone()
    path.with_name("golden.db-anchor").write_text(f"{seq:020d} {head}\n")
    return path


def test_the_golden_book_opens_verifies_and_can_be_charged(golden: Path) -> None:
    with Ledger.open(golden) as ledger:
        lines = verify(ledger)
        assert not golden.with_name("golden.db-anchor").exists()
        assert [account.name for account in ledger.accounts()] == [
            "clinic",
            "closed",
            "curve",
            "survey",
        ]
        clinic = ledger.account("clinic", epsilon=3.0, delta=1e-6)
        assert clinic.frozen == ""
        assert [receipt.purpose for receipt in clinic.history()][:2] == [
            "count of visits",
            "wards",
        ]
        assert clinic.history()[0].guarantee == PureDP(0.25)
        assert clinic.stored("replay key 1") == '{"value": 1750}'
        receipt = clinic.charge(PureDP(0.05), by="ana")
        assert receipt.number == lines + 1
        survey = ledger.account("survey")
        assert survey.unit == Unit("patient_id", "replace")
        with pytest.raises(BudgetExceeded):
            survey.charge(PureDP(0.6, unit=survey.unit))
        with pytest.raises(BudgetExceeded):
            ledger.account("closed").charge(PureDP(0.1))
        assert ledger.account("curve").epsilon == 2.5
        assert verify(ledger, [receipt]) == lines + 1
        assert verify(ledger, [receipt], whole=True) == lines + 1


def test_a_book_of_the_first_schema_without_its_note_opens_frozen(golden: Path) -> None:
    golden.with_name("golden.db-anchor").unlink()
    with Ledger.open(golden) as ledger:
        assert "does not have its note" in ledger.account("clinic").frozen
        assert verify(ledger)


def test_the_golden_spends_do_not_change(golden: Path) -> None:
    """Sums that were written with another version, or on another machine, are read as
    they are.
    """
    with Ledger.open(golden) as ledger:
        state = ledger.account("clinic").remaining.state
        assert (state.pure_cap, state.loss_cap, state.delta_cap) == (
            3_000_000_000,
            1_578_853_890,
            500_000_000_000,
        )
        assert (state.pure_spent, state.delta_spent, state.impure) == (
            650_000_000,
            11_000_000_000,
            6,
        )


@pytest.mark.parametrize("name", ["book-v2.db"])
def test_the_maker_still_writes_such_a_book(tmp_path: Path, name: str) -> None:
    import runpy

    made = runpy.run_path(str(GOLDEN.parent / "make.py"))
    copy = shutil.copy(GOLDEN.with_name(name), tmp_path / "old.db")
    agree(copy)
    with Ledger.open(tmp_path / "new.db") as new, Ledger.open(copy) as old:
        made["fill"](new)
        kinds = [
            [(entry.kind, entry.account) for entry in book.entries()]
            for book in (new, old)
        ]
        assert kinds[0] == kinds[1]
        assert verify(old) == verify(new)


def test_a_failed_migration_changes_nothing(
    golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = golden.read_bytes()
    with monkeypatch.context() as later:
        later.setattr(SQLiteStore, "extras", ("nonsense",))
        with pytest.raises(LedgerError):
            Ledger.open(golden)
    with closing(sqlite3.connect(golden)) as connection:
        assert connection.execute(
            "SELECT value FROM meta WHERE name = 'schema'"
        ).fetchall() == [("1",)]
        assert connection.execute("SELECT count(*) FROM share").fetchall() == [(2,)]
    assert len(before) == len(golden.read_bytes())
    with Ledger.open(golden) as ledger:
        assert verify(ledger)
        assert ledger.account("clinic").frozen == ""


def test_an_older_book_takes_claims_as_it_is(tmp_path: Path) -> None:
    """Steps of runs need no new tables: the log alone says which were taken."""
    copy = shutil.copy(GOLDEN.with_name("book-v2.db"), tmp_path / "old.db")
    agree(copy)
    run = PoissonSampled(0.01, GaussianDP(0.1), 10)
    with Ledger.open(copy) as old:
        verify(old)
        account = old.account("new", epsilon=20.0, delta=1e-6)
        before = old.head[0]
        receipt = account.charge(run, run=Pinned(10, "0" * 64))
        assert receipt.number == before + 1
        Attempt.first(account, receipt).claim(1, 5)
        assert verify(old) == verify(old, whole=True) == before + 2
