"""The tables of a book hold what its log says."""

import pytest

from dither.errors import LedgerError
from dither.ledger import Ledger
from dither.ledger.store import VERSION
from dither.ledger.tables import check_version, lines, load, load_all, told
from tests.ledger.golden.make import fill


@pytest.fixture
def run():
    with Ledger.open(":memory:") as ledger:
        fill(ledger)
        with ledger.store.reading() as reading:
            yield reading


def test_tables_and_log_say_the_same(run):
    tables, log = load_all(run), told(run)
    assert tables.accounts == log.accounts
    assert tables.analysts == log.analysts
    assert tables.pending == log.pending


def test_one_account_is_loaded_alone(run):
    facts = load(run, "survey")
    assert list(facts.accounts) == ["survey"]
    assert all(account == "survey" for account, _ in facts.analysts)
    assert load(run, "nobody").accounts == {}


@pytest.mark.parametrize("page", [1, 7, 1000])
def test_a_log_is_read_in_pages(run, page):
    found = [entry.seq for entry in lines(run, after=3, page=page)]
    assert found == list(range(4, found[-1] + 1))


@pytest.mark.parametrize(
    ("version", "words"),
    [(VERSION + 1, "newer version of Dither"), (0, "unknown schema")],
)
def test_versions_that_cannot_be_read(version, words):
    check_version(VERSION, "book.db")
    with pytest.raises(LedgerError, match=words):
        check_version(version, "book.db")
