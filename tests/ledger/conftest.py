"""Books to test on: one suite, two backends."""

import pytest

from dither.ledger import Ledger, Policy
from tests.ledger.server import tested


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server of this session."""
    with tested() as found:
        yield found


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
