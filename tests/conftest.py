"""Which engines a test asks, and which process runs it.

What is about noise, costs or relations is the same on every engine, since none of them
sees any: it is tested on DuckDB. What is about an engine's integers is tested on each.
Spark takes a second for a question, so it is asked only what it alone could answer
wrongly, by one process, in one session.

Files that take longest come first: at the end no process waits for the other.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Two processes of tests share few cores: threads of linear algebra that wait for each
# other there take a hundred times as long. Read when numpy is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ANY_MACHINE = "any machine"
SPARK = "spark"
SERVERS = ("postgres", SPARK)
LONG = (
    *("tests/test_docs.py", "tests/neighbours/", "tests/ledger/", "tests/conformance/"),
    *("tests/query/engines/", "tests/local/collector/", "tests/test_bench.py"),
    *("tests/test_dataset.py", "tests/audit/", "tests/query/sql/", "tests/privacy/"),
)
"""Where the longest files are, the longest first."""
settings.register_profile(
    ANY_MACHINE, settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(ANY_MACHINE)


def pytest_configure(config: pytest.Config) -> None:
    # What this machine notes about books on servers: nothing of the tests' belongs into
    # the user's own folder.
    os.environ["DITHER_STATE"] = tempfile.mkdtemp(prefix="dither-state-")
    # A process of parallel tests ignores Ctrl-C, and so would all that it starts
    if hasattr(config, "workerinput"):
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the markers
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    config.hook.pytest_deselected(items=[item for item in items if not _worth(item)])
    for item in items:
        for server in _servers(item):
            item.add_marker(server)
    slow = [item for item in items if _worth(item) and _engine(item) == SPARK]
    for item in slow:
        # Which process runs a test is decided by its name alone
        assert SPARK in item.nodeid, f"{item.nodeid} asks Spark and does not say so"
    others = [item for item in items if _worth(item) and _engine(item) != SPARK]
    items[:] = slow + sorted(others, key=_turn)


def _turn(item: pytest.Item) -> int:
    """When a file is run; those of one turn in the order that they were found."""
    turns = (turn for turn, place in enumerate(LONG) if item.nodeid.startswith(place))
    return next(turns, len(LONG))


def _engine(item: pytest.Item) -> str | None:
    mark = item.get_closest_marker("engine")
    return None if mark is None else mark.args[0]


def _servers(item: pytest.Item) -> Iterator[str]:
    """What a test needs beside this process, as plain markers that `-m` can leave out:
    `pytest -m "not spark and not postgres"`.
    """
    engine = _engine(item)
    if engine in SERVERS:
        yield engine
    # Books are kept on a server too, by tests that ask no engine
    if "server" in getattr(item, "fixturenames", ()):
        yield "postgres"


def _worth(item: pytest.Item) -> bool:
    """Whether a test may find something on its engine that it does not find on another."""
    engine = _engine(item)
    return engine is None or all(
        engine in mark.args for mark in item.iter_markers("only_on")
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """All tests of Spark go to one process, and of the others all tests of a file."""
    from xdist.scheduler import LoadScopeScheduling

    class SparkAndFiles(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return SPARK if SPARK in nodeid else nodeid.partition("::")[0]

    return SparkAndFiles(config, log)
