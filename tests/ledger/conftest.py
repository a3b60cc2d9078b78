"""Books to test on: one suite, two backends."""

import os

import pytest

from dither.ledger import Ledger, Policy
from tests.ledger.server import NoServer, serving


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server of this session."""
    try:
        running = serving()
        found = running.__enter__()
    except NoServer as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI must test PostgreSQL too: {error}", pytrace=False)
        pytest.skip(f"PostgreSQL is not tested: {error}")
    yield found
    running.__exit__(None, None, None)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request, tmp_path):
    """An empty place for a book."""
    if request.param == "sqlite":
        return str(tmp_path / "book.db")
    return request.getfixturevalue("server").database()


@pytest.fixture
def ledger(place):
    with Ledger.open(place) as book:
        yield book


@pytest.fixture
def account(ledger):
    return ledger.account(
        "clinic",
        epsilon=100,
        policy=Policy(failures=3, failures_in_all=5, deadline=600),
    )
