"""Whatever is done to the files of an open book, no more is granted than it holds (rule
R32).
"""

import gc
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from dither.errors import AccountFrozen, LedgerError
from dither.ledger import Ledger, note, verify
from dither.ledger.note import Doubt, Note, Record, home_of, same_home
from dither.privacy import PureDP
from tests.ledger.notes import noted
from tests.ledger.workers import Worker

CAP = 10


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "book.db"
    with Ledger.open(path) as book:
        book.account("clinic", epsilon=CAP)
    return str(path)


@pytest.fixture
def workers(place):
    made = []

    def make(**options):
        made.append(Worker(place, **options))
        assert made[-1].tell("open") == "open"
        return made[-1]

    yield make
    for worker in made:
        worker.end()


def spend(worker, most):
    """How many of so many charges are granted."""
    return sum(worker.tell("charge") == "granted" for _ in range(most))


@pytest.mark.parametrize("guarded", [True, False])
def test_copying_an_open_book_grants_nothing_twice(place, workers, guarded):
    """Copying drops the copier's locks, a look tidies the log away, and two processes
    go on with two books.
    """
    first = workers(guarded=guarded)
    granted = spend(first, 1)
    first.tell("copy")
    assert workers(guarded=guarded).tell("look") == "1"
    third = workers(guarded=guarded)
    for _ in range(CAP):
        granted += spend(first, 1) + spend(third, 1)
    granted += spend(first, CAP) + spend(third, CAP)
    assert granted == CAP if guarded else granted <= CAP
    first.tell("close"), third.tell("close")
    with Ledger.open(place) as book:
        assert book.account("clinic").charges == granted
        assert verify(book, whole=True)


@pytest.mark.parametrize("names", [("-wal", "-shm"), ("-wal",), ("-shm",), ("-note",)])
def test_removing_what_lies_beside_an_open_book_grants_nothing_twice(
    place, workers, names
):
    first = workers()
    granted = spend(first, 5)
    for name in names:
        Path(f"{place}{name}").unlink()
    later = Worker(place)
    later.tell("open")
    for _ in range(CAP):
        granted += spend(first, 1) + spend(later, 1)
    assert granted <= CAP
    first.tell("close"), later.tell("close")
    later.end()


def test_a_process_whose_files_were_removed_says_what_to_do(place, workers):
    first = workers()
    Path(f"{place}-wal").unlink()
    assert "end this process" in first.tell("charge")


def test_removed_files_are_no_loss_where_nobody_else_went_on(place, workers):
    """The process that still has them writes them into the book when it ends."""
    first = workers()
    assert spend(first, 5) == 5
    for name in ("-wal", "-shm"):
        Path(f"{place}{name}").unlink()
    first.tell("close")
    with Ledger.open(place) as book:
        assert book.account("clinic").charges == 5
        assert book.account("clinic").frozen == ""
        assert verify(book, whole=True)


@pytest.mark.parametrize(
    "spoil", ["remove", "empty", "damage", "older", "foreign", "elsewhere"]
)
def test_a_book_without_its_own_note_opens_frozen(place, tmp_path, spoil):
    with Ledger.open(place) as book:
        for _ in range(2):
            book.account("clinic").charge(PureDP(1))
        with Ledger.open(tmp_path / "other.db") as other:
            other.account("clinic", epsilon=1)
    beside, record = Path(f"{place}-note"), noted(place)
    match spoil:
        case "remove":
            beside.unlink()
        case "empty":
            beside.write_bytes(b"")
        case "damage":
            beside.write_bytes(beside.read_bytes()[:-3] + b"000")
        case "older":
            forged = replace(record, head="0" * 64)
            beside.write_bytes(forged.to_bytes())
        case "foreign":
            shutil.copy(tmp_path / "other.db-note", beside)
        case "elsewhere":
            beside.write_bytes(replace(record, home="f" * 32).to_bytes())
    with Ledger.open(place) as book:
        account = book.account("clinic")
        assert account.frozen
        with pytest.raises(AccountFrozen):
            account.charge(PureDP(1))
        account.thaw("looked at it")
        account.charge(PureDP(1))
        assert verify(book)
    with Ledger.open(place) as book:  # the note is in order again
        assert book.account("clinic").frozen == ""


@pytest.mark.usefixtures("place")
def test_a_copy_with_its_note_opens_frozen(tmp_path):
    (tmp_path / "copy").mkdir()
    for name in ("book.db", "book.db-note"):
        shutil.copy(tmp_path / name, tmp_path / "copy" / name)
    with Ledger.open(tmp_path / "copy" / "book.db") as book:
        assert "copied here" in book.account("clinic").frozen


@pytest.mark.usefixtures("place")
def test_a_book_moved_with_its_note_is_the_same_book(tmp_path):
    (tmp_path / "moved").mkdir()
    for name in ("book.db", "book.db-note"):
        (tmp_path / name).rename(tmp_path / "moved" / name)
    with Ledger.open(tmp_path / "moved" / "book.db") as book:
        assert book.account("clinic").frozen == ""


def test_a_book_moved_without_its_log_opens_frozen(place, workers, tmp_path):
    """What is committed may still be in the log beside the file, and nowhere else."""
    first = workers()
    assert spend(first, 3) == 3
    (tmp_path / "moved").mkdir()
    shutil.copy(place, tmp_path / "moved" / "book.db")
    shutil.copy(f"{place}-note", tmp_path / "moved" / "book.db-note")
    with Ledger.open(tmp_path / "moved" / "book.db") as book:
        assert "older" in book.account("clinic").frozen


def test_an_older_file_written_over_an_open_book(place, tmp_path):
    shutil.copy(place, tmp_path / "old.db")
    with Ledger.open(place) as book:
        account = book.account("clinic")
        account.charge(PureDP(9))
        record = noted(place)
        with closing(
            sqlite3.connect(place)
        ) as other:  # by whatever means: the line that is noted is gone
            other.execute("DELETE FROM log WHERE seq = ?", (record.seq,))
            other.commit()
        book.store._last = None
        with pytest.raises(AccountFrozen, match="older than the state in its note"):
            account.charge(PureDP(9))
        assert account.frozen


def test_restoring_sets_the_old_log_aside(place, tmp_path):
    """A log that stayed would be played into the restored book."""
    with Ledger.open(place) as book:
        book.backup(tmp_path / "backup.db")
    code = (
        "import os, sys; from dither.ledger import Ledger; from dither.privacy import PureDP\n"
        f"account = Ledger.open({place!r}).account('clinic')\n"
        "for _ in range(5): account.charge(PureDP(1))\n"
        "os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert Path(f"{place}-wal").exists()
    Path(place).rename(tmp_path / "damaged.db")
    with Ledger.restore(tmp_path / "backup.db", place) as book:
        account = book.account("clinic")
        assert account.frozen == "restored from a backup"
        assert account.charges == 0
        with pytest.raises(AccountFrozen):
            account.charge(PureDP(1))
        assert verify(book, whole=True)
    assert len(list(tmp_path.glob("book.db-wal.old-*"))) == 1
    assert len(list(tmp_path.glob("book.db-note.old-*"))) == 1


def test_a_backup_is_made_while_others_write(place, workers, tmp_path):
    first = workers()
    assert spend(first, 3) == 3
    with Ledger.open(place) as book:
        assert book.backup(tmp_path / "backup.db") == tmp_path / "backup.db"
        with pytest.raises(LedgerError, match="exists already"):
            book.backup(tmp_path / "backup.db")
    assert spend(first, CAP) == CAP - 3
    assert list(tmp_path.glob("backup.db*")) == [tmp_path / "backup.db"]
    with Ledger.restore(tmp_path / "backup.db", tmp_path / "again.db") as book:
        assert book.account("clinic").charges == 3


def test_a_stopped_process_is_waited_for_and_then_named(place, monkeypatch):
    monkeypatch.setattr(note, "PATIENCE", 0.2)
    holder = Note(f"{place}-note", place)
    with holder.locked(), pytest.raises(LedgerError, match="does not release it"):
        Ledger.open(place)
    with Ledger.open(place) as book:
        book.account("clinic").charge(PureDP(1))
    holder.close()


def test_a_forked_child_does_not_keep_the_lock(place):
    """It inherits the descriptor; if it kept it, the parent's lock would outlive the
    parent.
    """
    with Ledger.open(place) as book:
        account = book.account("clinic")
        ready, go = os.pipe()
        with book.store._alone():
            child = os.fork()
            if child == 0:
                os.close(go)
                os.read(ready, 1)
                os._exit(0)
        account.charge(PureDP(1))
        with Ledger.open(place) as other:
            other.account("clinic").charge(PureDP(1))
        os.close(go)
        os.waitpid(child, 0)
        os.close(ready)


def test_a_note_that_is_replaced_is_locked_anew(place):
    beside = Path(f"{place}-note")
    one = Note(str(beside), place)
    with one.locked():
        data = one.raw()
    beside.unlink()
    beside.write_bytes(data)
    with one.locked():
        assert one.raw() == data
        assert os.fstat(one._descriptor).st_ino == beside.stat().st_ino
    one.close()


def test_a_place_that_is_no_book_keeps_no_note(tmp_path):
    (tmp_path / "table.csv").write_text("a,b\n" * 1000)
    with pytest.raises(LedgerError, match="not a ledger"):
        Ledger.open(tmp_path / "table.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_records_are_read_as_they_were_written():
    record = Record("b" * 32, 12, "c" * 64, "d" * 32, 99)
    assert Record.of(record.to_bytes()) == record
    for change in (
        b"",
        b"x",
        record.to_bytes()[1:],
        record.to_bytes().replace(b"c", b"d", 1),
    ):
        with pytest.raises(Doubt):
            Record.of(change)
    later = replace(record, seq=10**18, inode=2**63)
    assert len(later.to_bytes()) == len(record.to_bytes())


def test_a_machine_is_known_again(tmp_path, monkeypatch):
    here = home_of(tmp_path)
    assert same_home(here, home_of(tmp_path / ".."))
    # A container of this machine, or one started again
    monkeypatch.setattr(note, "_machine", lambda: "another")
    there = home_of(tmp_path)
    assert there != here
    assert same_home(here, there)
    monkeypatch.setattr(note.os, "statvfs", lambda _: SimpleNamespace(f_fsid=17))
    assert not same_home(here, home_of(tmp_path))
    monkeypatch.setattr(note.os, "statvfs", lambda _: SimpleNamespace(f_fsid=0))
    monkeypatch.setattr(note, "_machine", lambda: "")
    assert same_home(home_of(tmp_path), here)  # a system that tells neither


@pytest.mark.parametrize("what", ["nothing", "table", "other"])
def test_a_bad_backup_restores_nothing_and_moves_nothing(place, tmp_path, what):
    Path(place).rename(tmp_path / "lost.db")
    if what == "table":
        (tmp_path / "backup.db").write_text("a,b\n" * 1000)
    if what == "other":
        with closing(sqlite3.connect(tmp_path / "backup.db")) as connection:
            connection.execute("CREATE TABLE mine (a)")
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(LedgerError, match=r"does not exist|is not a ledger"):
        Ledger.restore(tmp_path / "backup.db", place)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    with pytest.raises(LedgerError, match="pg_restore"):
        Ledger.restore(tmp_path / "lost.db", "postgresql://somewhere")


def test_restoring_leaves_the_backup_as_it_was(place, tmp_path):
    with Ledger.open(place) as book:
        book.backup(tmp_path / "backup.db")
    before = (tmp_path / "backup.db").read_bytes()
    Ledger.restore(tmp_path / "backup.db", tmp_path / "again.db").close()
    assert (tmp_path / "backup.db").read_bytes() == before


@pytest.mark.parametrize(
    "names", [("-shm",), ("-wal", "-shm"), ("-wal", "-shm", "-note")]
)
def test_older_files_written_over_those_of_an_open_book_grant_nothing_twice(
    place, names
):
    worker = Worker(place)
    try:
        assert worker.tell("open") == "open"
        granted = spend(worker, 1)
        kept = {name: Path(f"{place}{name}").read_bytes() for name in names}
        granted += spend(worker, CAP - 1)
        for name, content in kept.items():
            with Path(f"{place}{name}").open("r+b") as file:
                file.write(content)
        granted += spend(worker, CAP)
        assert granted == CAP
    finally:
        worker.end()


def test_a_folder_that_was_put_back_opens_frozen(place, tmp_path):
    """Book and note go back together, in place; what this machine has seen of them does
    not.
    """
    kept = {
        name: (tmp_path / name).read_bytes() for name in ("book.db", "book.db-note")
    }
    with Ledger.open(place) as book:
        book.account("clinic").charge(PureDP(9))
    for name, content in kept.items():
        (tmp_path / name).write_bytes(content)
    with Ledger.open(place) as book:
        assert "later state" in book.account("clinic").frozen


def test_forking_while_another_thread_charges(place):
    """SQLite in the child would believe for ever that somebody is writing."""
    with Ledger.open(place) as book:
        account = book.account("clinic")
        stop = threading.Event()

        def charge():
            while not stop.is_set():
                account.settle(account.charge(PureDP(1e-6)))

        thread = threading.Thread(target=charge)
        thread.start()
        try:
            for _ in range(5):
                child = os.fork()
                if child == 0:
                    code = 1
                    try:
                        account.charge(PureDP(1e-6))
                        code = 0
                    finally:
                        os._exit(code)
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        finally:
            stop.set()
            thread.join()
        assert verify(book, whole=True)


@pytest.mark.parametrize("name", ["book.db-journal", "book.db-wal", "book.db-note"])
def test_a_backup_takes_no_name_of_the_book(place, tmp_path, name):
    with (
        Ledger.open(place) as book,
        pytest.raises(LedgerError, match="the ledger itself uses"),
    ):
        book.backup(tmp_path / name)


def test_a_book_that_nobody_closes_leaves_no_descriptor(place):
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        Ledger.open(place)
    gc.collect()
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 2
