"""What can be wrong with a server."""

import contextlib
import os
import signal
import sys
import threading
import time
from typing import Any

import pytest

from dither.errors import AccountFrozen, LedgerError, MissingExtra
from dither.ledger import Ledger, postgres, postgres_noted, verify
from dither.privacy import PureDP
from tests.cli.support import run
from tests.clock import until
from tests.ledger.golden.make import fill
from tests.ledger.server import serving

pytestmark = pytest.mark.postgres


@pytest.fixture
def address(server):
    return server.database()


@pytest.fixture
def account(address):
    with Ledger.open(address) as book:
        yield book.account("clinic", epsilon=1)


def setting(book, name):
    with book.store.reading() as run:
        return run(f"SHOW {name}")[0][0]


def test_commits_are_durable(account):
    assert setting(account._ledger, "synchronous_commit") == "on"


def test_a_user_whose_commits_are_not_durable(address):
    """What a database or a role sets by default does not weaken a book."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(address, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
        connection.execute(
            f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'"
        )
    with Ledger.open(address) as book, Ledger.open(address) as other:
        assert setting(book, "synchronous_commit") == "on"
        book.account("clinic", epsilon=100)
        threads = [
            threading.Thread(target=spend, args=(which.account("clinic"), 50))
            for which in (book, other)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert verify(book) == 102


def spend(account, times):
    for _ in range(times):
        account.charge(PureDP(1))


def test_a_connection_that_is_cut(account, address):
    psycopg = pytest.importorskip("psycopg")
    account.charge(PureDP(0.1))
    with psycopg.connect(address, autocommit=True) as connection:
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s"
        connection.execute(others, (connection.info.backend_pid,))
    with pytest.raises(LedgerError, match="was lost before the charge was made"):
        account.charge(PureDP(0.1))
    account.charge(PureDP(0.1))
    assert account.remaining.epsilon == 0.8
    verify(account._ledger)


def test_a_server_that_is_not_there():
    with pytest.raises(LedgerError, match="cannot be reached"):
        Ledger.open("postgresql://127.0.0.1:1/none?connect_timeout=1")


def test_a_database_with_tables_of_something_else(address):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE account (name TEXT)")
    with pytest.raises(LedgerError, match="already exists"):
        Ledger.open(address)
    with psycopg.connect(address, autocommit=True) as connection:
        assert connection.execute("SELECT to_regclass('meta')").fetchone() == (None,)


def test_without_psycopg(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"'\.\[postgres\]'"):
        postgres.PostgresStore("postgresql:///none")


def release_until_it_fails(address, path):
    """Charge, and write down each receipt once the charge has returned."""
    with Ledger.open(address) as book, path.open("a", buffering=1) as out:
        account = book.account("clinic")
        while True:
            receipt = account.charge(PureDP(1))
            out.write(f"{receipt.number} {receipt.head}\n")


def lines_of(path):
    return path.read_text().count("\n") if path.exists() else 0


@pytest.mark.usefixtures("server")  # to skip, or to fail, as the others do
def test_a_server_that_crashes_forgets_no_charge(tmp_path):
    """Every charge that has returned is in the book after recovery."""
    with serving() as own:
        address = own.database()
        with Ledger.open(address) as book:
            book.account("clinic", epsilon=1e6)
        for round_ in range(3):
            children = []
            for number in range(4):
                children.append(os.fork())
                if children[-1] == 0:
                    with contextlib.suppress(LedgerError):
                        release_until_it_fails(address, tmp_path / f"{round_}-{number}")
                    os._exit(0)
            written = [tmp_path / f"{round_}-{number}" for number in range(4)]
            until(
                lambda written=written: min(map(lines_of, written)) >= 3,
                "each process has released something",
            )
            own.crash()
            for child in children:
                os.waitpid(child, 0)
            own.start()
        lines = [
            line.split()
            for path in tmp_path.iterdir()
            for line in path.read_text().splitlines()
        ]
        assert len(lines) > 30
        with Ledger.open(address) as book:
            verify(book, [(int(number), head) for number, head in lines])
            book.account("clinic").charge(PureDP(1))


@pytest.mark.usefixtures("server")
def test_a_charge_that_waited_for_others_is_durable_too():
    """Such a charge commits without waiting for the disk; nothing but `charge` itself
    then takes it there.
    """
    with serving("wal_writer_delay=10s", "autovacuum=off") as own:
        address = own.database()
        with Ledger.open(address) as book, Ledger.open(address) as other:
            account = book.account("clinic", epsilon=1)
            held = threading.Event()

            def hold():
                with other.store.reading() as run:
                    run("SELECT pg_advisory_xact_lock(?)", (postgres.LOCK,))
                    held.set()
                    until(
                        lambda: run("SELECT 1 FROM pg_locks WHERE NOT granted"),
                        "the charge waits",
                    )

            thread = threading.Thread(target=hold)
            thread.start()
            held.wait()
            receipt = account.charge(PureDP(0.1))
            thread.join()
            own.crash()
        own.start()
        with Ledger.open(address) as book:
            verify(book, [receipt])


def test_nothing_waits_for_ever(account):
    for name in (
        "lock_timeout",
        "statement_timeout",
        "idle_in_transaction_session_timeout",
    ):
        assert setting(account._ledger, name) != "0"


def test_a_writer_that_stops_is_thrown_out(account, address):
    """A process that is stopped while it writes keeps the lock, and the server ends its
    session.
    """
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with Ledger.open(address) as book:
                book.store._using().__enter__().execute(
                    "SET idle_in_transaction_session_timeout = '200ms'"
                )
                book.store._active = False
                with book.store.writing():
                    os.write(tell, b".")
                    time.sleep(60)
        finally:
            os._exit(0)
    os.read(ready, 1)
    os.kill(child, signal.SIGSTOP)
    try:
        assert account.charge(PureDP(0.1))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(ready)
        os.close(tell)


def test_whoever_waits_too_long_is_told(account, address, monkeypatch):
    monkeypatch.setattr(
        postgres_noted,
        "SESSION",
        (*postgres_noted.SESSION, "SET lock_timeout = '100ms'"),
    )
    refused = pytest.raises(LedgerError, match="does not release it")
    with Ledger.open(address) as other, account._ledger.store.writing(), refused:
        other.account("clinic").charge(PureDP(0.1))
    assert account.charges == 0


def test_a_restored_dump_opens_frozen(account, address):
    """A dump gets other numbers from the server, wherever it is restored."""
    account.charge(PureDP(0.1))
    with account._ledger.changing() as run:
        run("UPDATE meta SET value = '1.2' WHERE name = 'home'")
    with Ledger.open(address) as book:
        assert "dump" in book.account("clinic").frozen
        book.account("clinic").thaw("all charges are there")
        assert verify(book)
    with Ledger.open(address) as book:
        assert book.account("clinic").frozen == ""


def forget_the_last(book):
    """What an older state of the same database looks like, for example after a snapshot
    was brought back.
    """
    with book.store.reading() as run:
        last = run("SELECT seq FROM log ORDER BY seq DESC LIMIT 1")[0][0]
    with book.store._transaction("BEGIN") as run:
        run("DELETE FROM log WHERE seq = ?", (last,))
        run("DELETE FROM pending WHERE seq = ?", (last,))


def test_an_older_snapshot_opens_frozen(account, address):
    account.charge(PureDP(0.1))
    forget_the_last(account._ledger)
    with Ledger.open(address) as book:
        assert "older" in book.account("clinic").frozen


def test_a_book_put_back_while_it_is_open_grants_nothing(account):
    account.charge(PureDP(0.1))
    forget_the_last(account._ledger)
    with pytest.raises(AccountFrozen, match="older"):
        account.charge(PureDP(0.1))
    assert account.frozen


def test_looking_first_does_not_make_it_forget(account):
    account.charge(PureDP(0.1))
    forget_the_last(account._ledger)
    account._ledger.store._connection.close()
    assert account.remaining.epsilon
    with pytest.raises(AccountFrozen, match="older"):
        account.charge(PureDP(0.1))


@pytest.mark.usefixtures("account")
def test_lost_tables_do_not_begin_anew(address):
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    with pytest.raises(LedgerError, match=r"is empty, but it had \d+ lines before"):
        Ledger.open(address)


def test_a_server_that_comes_back_with_an_older_book_grants_nothing(account):
    account.charge(PureDP(0.1))
    forget_the_last(account._ledger)
    account._ledger.store._connection.close()
    with pytest.raises(AccountFrozen, match="older"):
        account.charge(PureDP(0.1))


@pytest.mark.parametrize("content", [b"", b"nonsense"])
def test_a_note_that_cannot_be_read(account, address, content):
    account.charge(PureDP(0.1))
    path = account._ledger.store._note.path
    path.write_bytes(content)
    with Ledger.open(address) as book:
        assert "note" in book.account("clinic").frozen


def test_another_machine_may_join(account, address, monkeypatch, tmp_path):
    account.charge(PureDP(0.1))
    monkeypatch.setenv("DITHER_STATE", str(tmp_path))
    with Ledger.open(address) as book:
        assert book.account("clinic").frozen == ""
        book.account("clinic").charge(PureDP(0.1))
    assert len(list(tmp_path.iterdir())) == 1


def test_a_machine_without_a_place_for_notes(address, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DITHER_STATE", str(tmp_path / "file" / "below"))
    with pytest.raises(LedgerError, match="DITHER_STATE"):
        Ledger.open(address)


@pytest.mark.parametrize("reached", [True, False])
def test_an_answer_that_is_lost_on_the_way(account, monkeypatch, reached):
    """The connection breaks after the server has charged, or before."""
    import psycopg

    store = account._ledger.store
    execute = psycopg.Connection.execute
    broken = []

    def breaking(self, query, *rest, **options):
        if query == postgres.CALL and not broken:
            broken.append(execute(self, query, *rest, **options) if reached else None)
            self.close()
            raise psycopg.OperationalError("the connection was lost")
        return execute(self, query, *rest, **options)

    monkeypatch.setattr(psycopg.Connection, "execute", breaking)
    if reached:
        receipt = account.charge(PureDP(0.1))
        assert (receipt.number, receipt.head) == account._ledger.head
        assert account.charges == 1
    else:
        with pytest.raises(LedgerError, match=r"charged\('(.*)'\)") as told:
            account.charge(PureDP(0.1))
        name = str(told.value).split("'")[1]
        assert account.charged(name) is None
        assert account.charges == 0
    assert store.version() == 2


def test_a_book_on_a_server(server: Any) -> None:
    place = server.database()
    with Ledger.open(place) as ledger:
        fill(ledger)
    assert (
        run("freeze", place, "--account", "curve", "--reason", "we look").stdout
        == "frozen: curve\n"
    )
    assert "we look" in run("budget", place).stdout
    assert (
        "thawed: curve"
        in run("thaw", place, "--account", "curve", "--reason", "seen").stdout
    )
    assert "0.75" in run("budget", place, "--analysts").stdout
    assert len(run("log", place, "--last", "3").stdout.splitlines()) == 6
    assert "27 lines" in run("log", "verify", place).stdout
    assert "lines 1 to 27 were verified before" in run("log", "verify", place).stdout
    assert "copy it with pg_dump" in run("backup", place, "copy.db").stderr
