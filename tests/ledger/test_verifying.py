"""A book that was changed, cut or replaced by an older copy is found."""

from __future__ import annotations

import random  # allowed: test inputs
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dither.errors import AccountFrozen, ArgumentError, BudgetExceeded, LedgerError
from dither.ledger import Account, Ledger, Receipt, store, verify
from dither.ledger.entry import canonical, digest
from dither.ledger.wire import to_json
from dither.privacy import ApproxDP, GaussianDP, PureDP, Unit
from tests.ledger.notes import agree, noted


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A small book with something in every table."""
    path = tmp_path / "book.db"
    with Ledger.open(path) as ledger:
        clinic = ledger.account("clinic", epsilon=3, delta=1e-6)
        clinic.share("ana", 0.5)
        receipt = clinic.charge(PureDP(0.25), by="ana", purpose="count")
        clinic.settle(receipt)
        clinic.store(receipt, "key", "a release")
        clinic.charge(ApproxDP(0.1, 1e-8), by="ana", purpose="again")
        survey = ledger.account("survey", epsilon=1, unit=Unit("patient"))
        survey.fail(survey.charge(PureDP(0.5, unit=Unit("patient"))), "Timeout")
        survey.freeze("a look")
    return path


def forged(path: Path, *statements: str, parameters: tuple[Any, ...] = ()) -> None:
    """What someone with write access to the file and its note can do."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement, parameters)
    agree(path)


def check(path: Path, anchors: list[Receipt | tuple[int, str]] | None = None) -> int:
    with Ledger.open(path) as ledger:
        return verify(ledger, anchors or [])


def receipts(path: Path) -> list[Receipt]:
    with Ledger.open(path) as ledger:
        return sorted(
            (r for account in ledger.accounts() for r in account.history()),
            key=lambda r: r.number,
        )


def test_a_true_book_passes(place: Path) -> None:
    assert check(place) == len(entries(place)) == 11
    assert (
        check(place, [*receipts(place), *((seq, text) for seq, text in entries(place))])
        == 11
    )


def entries(path: Path) -> list[tuple[int, str]]:
    with Ledger.open(path) as ledger:
        return [(entry.seq, entry.hash) for entry in ledger.entries()]


def cells() -> Iterator[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in (store.LOG, *store.TABLES):
            connection.execute(statement.replace("{key}", "INTEGER"))
        for table in ("log", "account", "analyst", "pending", "replay"):
            for _, column, *_ in connection.execute(
                f"PRAGMA table_info({table})"
            ).fetchall():
                yield table, column


CHANGES = {
    "one more": "CASE WHEN typeof({c}) = 'integer' THEN {c} + 1 ELSE {c} || ' ' END",
    "nothing": "CASE WHEN typeof({c}) = 'integer' THEN 0 - 1 ELSE '' END",
    "text": "'no number'",
    "bytes": "x'ff00'",
    "fraction": "CASE WHEN typeof({c}) = 'integer' THEN {c} + 0.5 ELSE '0.5' END",
}


@pytest.mark.parametrize(("table", "column"), list(cells()))
@pytest.mark.parametrize("change", CHANGES)
def test_no_value_can_be_changed(
    place: Path, table: str, column: str, change: str
) -> None:
    """Every column of every table, in its first row and in its last."""
    for row in ("min", "max"):
        path = place.with_name(f"{row}.db")
        shutil.copy(place, path)
        value = CHANGES[change].format(c=column)
        where = f"rowid = (SELECT {row}(rowid) FROM {table})"
        if change == "nothing" and is_empty(path, table, column, where):
            continue
        try:
            forged(path, f"UPDATE {table} SET {column} = {value} WHERE {where}")
        except sqlite3.IntegrityError:
            # Two lines with one number: the file itself does not allow it
            continue
        with pytest.raises(LedgerError):
            check(path)


def is_empty(path: Path, table: str, column: str, where: str) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(
            f"SELECT {column} FROM {table} WHERE {where}"
        ).fetchone() == ("",)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM log WHERE seq = 3",
        "DELETE FROM log WHERE seq = 11",
        "DELETE FROM log",
        "DELETE FROM account WHERE name = 'survey'",
        "DELETE FROM analyst",
        "DELETE FROM pending",
        "DELETE FROM replay",
        "UPDATE log SET seq = 100 WHERE seq = 11",
        "INSERT INTO analyst SELECT account, 'eve', part, 9, 9, 9, 0, 0, 0, 0, 0, 0, '' FROM analyst",
        "INSERT INTO pending SELECT 5, account, analyst, deadline, 'other' FROM pending",
        "INSERT INTO replay VALUES ('clinic', 'other', 4, 5, 'never released')",
        "INSERT INTO meta VALUES ('other', 'nothing')",
        "INSERT INTO log SELECT 12, time, kind, account, body, hash FROM log WHERE seq = 11",
        "UPDATE meta SET value = '99' WHERE name = 'schema'",
        "DROP TABLE analyst",
        "DROP TABLE meta",
    ],
)
def test_no_row_can_be_added_or_removed(place: Path, statement: str) -> None:
    forged(place, statement)
    with pytest.raises(LedgerError):
        check(place)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE meta SET value = '0' WHERE name = 'schema'",
        "UPDATE meta SET value = 'one' WHERE name = 'schema'",
        "UPDATE meta SET value = x'ff' WHERE name = 'schema'",
        "DELETE FROM meta",
    ],
)
def test_a_damaged_version_number_is_refused_clearly(
    place: Path, statement: str
) -> None:
    forged(place, statement)
    with pytest.raises(LedgerError):
        check(place)


def said(path: Path) -> list[Any]:
    """Everything a book says to those who use it, including by lookup."""
    with Ledger.open(path) as ledger:
        return [
            (
                account.name,
                account.terms,
                account.policy,
                account.remaining.state,
                account.frozen,
                account.history(),
            )
            for account in map(
                ledger.account, [account.name for account in ledger.accounts()]
            )
        ] + [ledger.account("clinic").stored("key"), ledger.head]


def test_no_byte_of_the_file_can_be_changed(place: Path) -> None:
    """Wherever one byte is different, the book is refused, or says what it said before."""
    source, before, original = random.Random(3), said(place), place.read_bytes()
    copy = place.with_name("book2.db")
    found = 0
    positions = sorted({*range(100), *source.sample(range(len(original)), 900)})
    for position in positions:
        content = bytearray(original)
        content[position] ^= 1 << source.randrange(8)
        for rest in ("-wal", "-shm"):
            copy.with_name(copy.name + rest).unlink(missing_ok=True)
        copy.write_bytes(content)
        copy.with_name("book2.db-note").write_bytes(note(copy))
        try:
            check(copy)
        except LedgerError:
            found += 1
        else:
            assert renamed(said(copy), copy, place) == before, position
    assert found > 50


def note(copy: Path) -> bytes:
    """The note of the true book, as it would lie beside the copy."""

    return replace(
        noted(copy.with_name("book.db")), inode=copy.stat().st_ino
    ).to_bytes()


def renamed(what: list[Any], copy: Path, place: Path) -> list[Any]:
    """Receipts name their book; the copy's are those of the original otherwise."""
    return [_renamed(line, copy, place) for line in what]


def _renamed(line: Any, copy: Path, place: Path) -> Any:
    if not isinstance(line, tuple) or len(line) < 6:
        return line

    assert all(receipt.book == str(copy) for receipt in line[5])
    return (*line[:5], tuple(replace(receipt, book=str(place)) for receipt in line[5]))


def cut(path: Path) -> None:
    """Remove the newest charge and make the account agree: the book is a true one of an
    earlier time.
    """
    with closing(sqlite3.connect(path)) as connection, connection:
        (last,) = connection.execute("SELECT max(seq) FROM log").fetchone()
        (body,) = connection.execute(
            "SELECT body FROM log WHERE seq = ?", (last,)
        ).fetchone()
        assert '"epsilon":0.125' in body
        (loss,) = connection.execute(
            "SELECT json_extract(body, '$.cost[1]') FROM log WHERE seq = ?", (last,)
        ).fetchone()
        connection.execute("DELETE FROM log WHERE seq = ?", (last,))
        connection.execute("DELETE FROM pending WHERE seq = ?", (last,))
        taken = "charges = charges - 1, pure_spent = pure_spent - 125000000, loss_spent = loss_spent - ?"
        connection.execute(f"UPDATE account SET {taken} WHERE name = 'clinic'", (loss,))


def test_a_cut_that_agrees_with_itself_is_found_by_an_anchor_only(place: Path) -> None:
    with Ledger.open(place) as ledger:
        receipt = ledger.account("clinic").charge(PureDP(0.125))
        head = ledger.head
    cut(place)
    beside = place.with_name("book.db-note")
    kept = beside.read_bytes()
    agree(place)
    assert check(place) == 11
    for anchor in (receipt, head):
        with pytest.raises(LedgerError, match="cut, or replaced"):
            check(place, [anchor])
    beside.write_bytes(kept)
    with Ledger.open(place) as ledger:
        assert "older" in ledger.account("clinic").frozen


def test_a_rewritten_history_is_found_by_a_receipt(place: Path) -> None:
    """Someone who computes all hashes anew makes a book that is true in itself, and
    that no receipt belongs to.
    """
    kept = receipts(place)
    with closing(sqlite3.connect(place)) as connection, connection:
        previous = ""
        rows = connection.execute(
            "SELECT seq, time, kind, account, body FROM log ORDER BY seq"
        ).fetchall()
        for seq, time, kind, account, body in rows:
            text = body.replace('"purpose":"count"', '"purpose":"other"')
            previous = digest(previous, seq, time, kind, account, text)
            connection.execute(
                "UPDATE log SET body = ?, hash = ? WHERE seq = ?", (text, previous, seq)
            )
    agree(place)
    assert check(place) == 11
    with pytest.raises(LedgerError):
        check(place, [kept[0]])


@pytest.mark.parametrize(
    "body", ["5", "[]", "{}", '{"a": NaN}', "[" * 100_000, '{"cost":[1,2]}']
)
def test_lines_no_charge_writes_are_refused_even_with_true_hashes(
    place: Path, body: str
) -> None:
    with closing(sqlite3.connect(place)) as connection, connection:
        time, previous = connection.execute(
            "SELECT time, hash FROM log WHERE seq = 11"
        ).fetchone()
        text = digest(previous, 12, time, "charge", "clinic", body)
        connection.execute(
            "INSERT INTO log VALUES (12, ?, 'charge', 'clinic', ?, ?)",
            (time, body, text),
        )
    agree(place)
    with pytest.raises(LedgerError):
        check(place)


def appended(path: Path, kind: str, account: str, body: dict[str, Any]) -> None:
    """A line that ties to the last one, written by someone who knows how."""
    with closing(sqlite3.connect(path)) as connection, connection:
        seq, time, head = connection.execute(
            "SELECT seq, time, hash FROM log ORDER BY seq DESC LIMIT 1"
        ).fetchone()
        text = canonical(body)
        line = digest(head, seq + 1, time, kind, account, text)
        connection.execute(
            "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)",
            (seq + 1, time, kind, account, text, line),
        )
    agree(path)


def test_a_line_about_an_account_that_never_was_is_refused(place: Path) -> None:
    appended(place, "charge", "nobody", {"cost": [1, 1, 0], "by": None})
    with pytest.raises(LedgerError):
        check(place)


def test_a_charge_beyond_the_cap_is_found_in_the_log(place: Path) -> None:
    forged(
        place,
        "UPDATE account SET pure_spent = pure_spent + 9000000000, loss_spent = loss_spent + 9000000000, "
        "charges = charges + 1 WHERE name = 'clinic'",
    )
    cost = {
        "cost": [9 * 10**9, 9 * 10**9, 0],
        "by": None,
        "guarantee": to_json(PureDP(9)),
    }
    appended(place, "charge", "clinic", cost)
    with pytest.raises(LedgerError, match="is too small"):
        check(place)


def test_an_old_copy_under_the_same_name_opens_frozen(
    place: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old.db"
    shutil.copy(place, old)
    with Ledger.open(place) as ledger:
        lost = ledger.account("clinic").charge(PureDP(0.5), by="ana")
    shutil.copy(old, place)
    with Ledger.open(place) as ledger:
        clinic = ledger.account("clinic")
        assert "older" in clinic.frozen
        with pytest.raises(AccountFrozen):
            clinic.charge(PureDP(0.01))
        clinic.recover([lost])
        clinic.thaw("entered the receipt that was kept")
        assert verify(ledger)
    with Ledger.open(place) as ledger:  # and stays usable
        clinic = ledger.account("clinic")
        assert clinic.frozen == ""
        assert clinic.remaining.state.pure_spent == 750_000_000
        clinic.charge(PureDP(0.01))
        assert verify(ledger)


def spent(account: Account) -> int:
    return account.remaining.state.pure_spent


def test_a_restored_copy_opens_frozen(place: Path, tmp_path: Path) -> None:
    with Ledger.open(place) as ledger:
        known = list(ledger.account("clinic").history())
    copy, again = tmp_path / "copy.db", tmp_path / "again.db"
    shutil.copy(place, copy)
    with Ledger.open(place) as ledger:
        clinic = ledger.account("clinic")
        later = [clinic.charge(PureDP(0.5)), clinic.charge(GaussianDP(0.01))]
        state = clinic.remaining.state
    with Ledger.restore(copy, again) as ledger:
        clinic = ledger.account("clinic")
        assert clinic.frozen == "restored from a backup"
        assert ledger.account("survey").frozen == "a look"  # it was frozen already
        with pytest.raises(AccountFrozen):
            clinic.charge(PureDP(0.01))
        clinic.recover([*known, *later])  # those the copy knows are not entered twice
        assert clinic.remaining.state == state
        clinic.thaw("all receipts entered")
        clinic.charge(PureDP(0.01))
        assert verify(ledger)
    with pytest.raises(LedgerError, match="already"):
        Ledger.restore(copy, again)
    with pytest.raises(LedgerError, match="does not exist"):
        Ledger.restore(tmp_path / "nothing.db", tmp_path / "new.db")


def test_what_cannot_be_recovered_is_written_off(place: Path, tmp_path: Path) -> None:
    with Ledger.restore(place, tmp_path / "again.db") as ledger:
        clinic = ledger.account("clinic")
        clinic.write_off("receipts after the copy are lost")
        clinic.thaw("written off")
        with pytest.raises(BudgetExceeded):
            clinic.charge(PureDP(1e-9))
        assert clinic.remaining.share == 0
        assert verify(ledger)


def test_recovered_charges_count_even_beyond_the_total(
    place: Path, tmp_path: Path
) -> None:
    with Ledger.open(tmp_path / "other.db") as other:
        foreign = other.account("clinic", epsilon=100).charge(PureDP(50))
        wrong = other.account("other", epsilon=1).charge(PureDP(0.5))
    with Ledger.restore(place, tmp_path / "again.db") as ledger:
        clinic = ledger.account("clinic")
        clinic.recover([foreign])
        assert spent(clinic) == 50_250_000_000
        with pytest.raises(ArgumentError, match="is for the account other"):
            clinic.recover([wrong])
        clinic.thaw("seen")
        with pytest.raises(BudgetExceeded):
            clinic.charge(PureDP(0.01))
        assert verify(ledger)


def test_a_book_from_a_newer_version_is_refused(place: Path) -> None:
    forged(place, "UPDATE meta SET value = '3' WHERE name = 'schema'")
    with pytest.raises(LedgerError, match="newer version of Dither"):
        Ledger.open(place)


def test_a_mark_saves_reading_and_whole_finds_what_it_hides(tmp_path: Any) -> None:
    with Ledger.open(tmp_path / "book.db") as ledger:
        account = ledger.account("clinic", epsilon=100)
        for _ in range(5):
            account.charge(PureDP(1), purpose="count")
        assert verify(ledger) == 7
        with ledger.changing() as run:
            run("UPDATE log SET body = replace(body, 'count', 'other') WHERE seq = 3")
        account.charge(PureDP(1))
        assert verify(ledger) == 8  # lines before the mark are not read again
        with pytest.raises(LedgerError, match="line 3"):
            verify(ledger, whole=True)


def test_a_mark_whose_line_is_gone_is_a_fault(tmp_path: Any) -> None:
    with Ledger.open(tmp_path / "book.db") as ledger:
        ledger.account("clinic", epsilon=100).charge(PureDP(1))
        verify(ledger)
        with ledger.changing() as run:
            run("UPDATE log SET hash = 'x' WHERE seq = 3")
        with pytest.raises(LedgerError, match="verified before"):
            verify(ledger)
