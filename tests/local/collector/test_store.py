"""A collector's store is its own, the latest, and nobody else's."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from dither.errors import CollectorError, LedgerError
from dither.ledger import Ledger
from dither.local import parcel
from dither.local.collector import Collector, store
from tests.local.collector.conftest import KEY


def refused(words):
    return pytest.raises(CollectorError, match=words)


def test_it_is_there_when_it_is_opened_again(opened, place, task, singles):
    first = opened(place)
    first.publish(task)
    sent = singles(task, ["a"] * 5)
    first.accept_all(sent)
    first.close()
    again = opened(place)
    assert [one.name for one in again.tasks] == ["emoji"]
    assert again.tally(task).messages == 5
    assert again.accept(sent[0]).status == "duplicate"


def test_commits_are_durable(opened, file):
    found = opened(file)._store._connection
    assert found.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert found.execute("PRAGMA synchronous").fetchone() == (2,)
    assert found.execute("PRAGMA secure_delete").fetchone() == (1,)


def test_a_book_is_not_a_collector(opened, file):
    Ledger.open(file).close()
    with refused("is a SQLite database, but not a"):
        opened(file)


def test_a_collector_is_not_a_book(opened, file):
    opened(file).close()
    with pytest.raises(LedgerError, match="is a SQLite database, but not a"):
        Ledger.open(file)


@pytest.mark.postgres
def test_a_book_and_a_collector_share_a_database(server, opened, task, singles):
    address = server.database()
    with Ledger.open(address) as book:
        found = opened(address)
        found.publish(task)
        found.accept_all(singles(task, ["a"] * 3))
        book.account("clinic", epsilon=3)
        assert found.tally(task).messages == 3
    with Ledger.open(address) as book:
        assert book.account("clinic").remaining.epsilon == 3


def test_something_else_is_not_a_collector(opened, tmp_path):
    (tmp_path / "text").write_text("hello " * 1000)
    with refused("is not a collector"):
        opened(tmp_path / "text")
    with refused("folder"):
        opened(tmp_path)
    with refused("exist"):
        opened(tmp_path / "nowhere" / "collector.db")


def test_a_newer_schema_is_refused(opened, file):
    opened(file).close()
    with sqlite3.connect(file) as found:
        found.execute("UPDATE meta SET value = '9' WHERE name = 'schema'")
    found.close()
    with refused("schema 9"):
        opened(file)


def test_a_password_is_not_shown(opened):
    with refused("cannot be reached") as caught:
        opened("postgresql://me:hunter2@127.0.0.1:1/none?password=hunter2")
    assert "hunter2" not in str(caught.value)


@pytest.mark.postgres
def test_a_password_is_not_shown_where_a_copy_is_refused(server, opened):
    address = server.database()
    with opened(address) as here, here._store.writing() as run:
        run("UPDATE lineage SET seq = 0")
    with refused("may not be the latest") as caught:
        opened(address.replace("postgres@", "postgres:hunter2@"))
    assert "hunter2" not in str(caught.value)


# copies


def test_a_copy_is_refused(opened, file, task, tmp_path):
    with opened(file) as first:
        first.publish(task)
    shutil.copy(file, tmp_path / "copy.db")
    with refused("may not be the latest"):
        opened(tmp_path / "copy.db")
    shutil.copy(f"{file}-note", tmp_path / "copy.db-note")
    with refused("copied here"):
        opened(tmp_path / "copy.db")


def test_a_copy_opens_on_purpose(opened, file, task, singles, tmp_path):
    first = opened(file)
    first.publish(task)
    first.accept_all(singles(task, ["a"] * 3))
    first.close()
    copy = tmp_path / "copy.db"
    shutil.copy(file, copy)
    assert opened(copy, restored=True).tally(task).messages == 3
    opened(copy)  # and now it is at home here


def test_an_older_file_is_refused(opened, file, task, singles, tmp_path):
    first = opened(file)
    first.publish(task)
    first.close()
    shutil.copy(file, tmp_path / "older")
    with opened(file) as again:
        again.accept_all(singles(task, ["a"] * 3))
    with Path(file).open("r+b") as found:  # the same file, with what it had before
        found.write((tmp_path / "older").read_bytes())
    with refused("older than the state in its note"):
        opened(file)


def test_an_older_file_with_its_note_is_refused(opened, file, task, singles):
    first = opened(file)
    first.publish(task)
    first.close()
    names = (file, f"{file}-note")
    kept = [Path(name).read_bytes() for name in names]
    with opened(file) as again:
        again.accept_all(singles(task, ["a"] * 3))
    for name, data in zip(names, kept, strict=True):
        with Path(name).open("r+b") as found:
            found.write(data)
            found.truncate()
    with refused("later state"):
        opened(file)


def test_a_file_that_is_gone_is_not_begun_anew(opened, file, task):
    with opened(file) as first:
        first.publish(task)
    Path(file).unlink()
    with refused("is empty, but it had"):
        opened(file)
    opened(file, restored=True)


@pytest.mark.parametrize("what", ["moved", "replaced", "removed"])
def test_a_file_that_changes_under_an_open_collector(here, file, what, task, singles):
    sent = singles(task, ["a"])
    if what == "moved":
        Path(file).rename(f"{file}.moved")
    elif what == "replaced":
        shutil.copy(file, f"{file}.copy")
        os.replace(f"{file}.copy", file)  # noqa: PTH105 - as a restore would
    else:
        Path(file).unlink()
    with refused("moved, removed or replaced"):
        here.accept_all(sent)


def test_an_older_state_under_an_open_collector(opened, file, task, singles):
    """Somebody lets a process that lost its locks write an older state back."""
    here = opened(file)
    here.publish(task)
    here.accept_all(singles(task, ["a"] * 3))
    here._store._connection.execute("UPDATE lineage SET seq = 1")
    with refused("may not be the latest"):
        here.accept_all(singles(task, ["a"]))


@pytest.mark.postgres
def test_a_database_that_was_put_back_is_refused(server, opened, task, singles):
    address = server.database()
    here = opened(address)
    here.publish(task)
    here.accept_all(singles(task, ["a"] * 3))
    with here._store.writing() as run:
        run("UPDATE lineage SET seq = 1")
    with refused("may not be the latest"):
        here.accept_all(singles(task, ["a"]))
    with refused("may not be the latest"):
        opened(address)
    opened(address, restored=True)


@pytest.mark.postgres
def test_a_database_that_was_put_back_on_purpose_ends_others(
    server, opened, task, singles
):
    """A collector of the same machine that was not ended would not know the ids that
    are counted from then on.
    """
    address = server.database()
    other, here = opened(address), opened(address)
    here.publish(task)
    for one in singles(task, ["a"] * 9):
        other.accept(one)
    with here._store.writing() as run:
        for table in ("fresh", "used", "cells", "tally"):
            run(f"DELETE FROM {table}")
        run("UPDATE lineage SET seq = 3")
    again = opened(address, restored=True)
    (sent,) = singles(task, ["a"])
    assert again.accept(sent).status == "accepted"
    with refused("may not be the latest"):
        other.accept(sent)


@pytest.mark.postgres
def test_a_database_that_was_dumped_is_refused(server, opened):
    address = server.database()
    here = opened(address)
    with here._store.writing() as run:
        run("UPDATE meta SET value = '1.1' WHERE name = 'home'")
        run("UPDATE lineage SET seq = seq + 1")
    with refused("dump of another database"):
        opened(address)


def test_a_forked_process_has_its_own_connection(here, task, singles):
    sent = singles(task, ["a", "b"])
    here.accept(sent[0])
    child = os.fork()
    if child == 0:
        os._exit(0 if here.accept(sent[1]).status == "accepted" else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert [one.status for one in here.accept_all(sent)] == ["duplicate"] * 2
    assert here.tally(task).messages == 2


def test_every_kind_of_store_has_the_same_tables():
    assert all("{key}" not in table or "PRIMARY KEY" in table for table in store.TABLES)


def test_memory_is_for_one_process(today, task, singles):  # noqa: ARG001
    with Collector(":memory:", trust=KEY.public) as found:
        found.publish(task)
        found.accept_all(singles(task, ["a"] * 3))
        batch = parcel(task.randomize(["b"] * 4))
        assert found.accept(batch, found.admit("r", quota=10)).messages == 4
        assert found.tally(task).messages == 7


def test_opening_while_another_one_counts(opened, place, task, singles, monkeypatch):
    """The note of a commit that came after the first look says nothing against it."""
    busy = opened(place)
    busy.publish(task)
    doubt = type(busy._store).doubt

    def looks(self, run, version):
        run("SELECT count(*) FROM lineage")  # what is seen from here on is fixed
        if not place.startswith("postgresql"):
            return doubt(self, run, version)
        if not self.__dict__.setdefault("looked", False):
            self.looked = True
            busy.accept_all(singles(task, ["a"]))
        return doubt(self, run, version)

    monkeypatch.setattr(type(busy._store), "doubt", looks)
    assert opened(place).tally(task).task.name == "emoji"
