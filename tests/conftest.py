"""Which engines a test asks, and which process runs it.

What is about noise, costs or relations is the same on every engine, since none of them
sees any: it is tested on DuckDB. What is about an engine's integers is tested on each.
Spark takes a second for a question, so it is asked only what it alone could answer
wrongly, by one process, in one session.

Files that take longest come first, and a page of the documentation counts as a file
of its own: at the end no process waits for the other.
"""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.wild import draw_wild_noise

# Two processes of tests share few cores: threads of linear algebra that wait for each
# other there take a hundred times as long. Read when numpy is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What a forked child collects of other tests' garbage (threads, sessions) may crash it.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=gc.freeze, after_in_parent=gc.unfreeze)

ANY_MACHINE = "any machine"
SPARK = "spark"
SERVERS = ("postgres", SPARK)
PAGE = "tests/test_docs.py::test_page["
LONG = (
    *("tests/neighbours/", "tests/ledger/", "tests/conformance/"),
    *("tests/query/engines/", "tests/local/collector/", "tests/test_bench.py"),
    *("tests/test_dataset.py", "tests/audit/", "tests/query/sql/", "tests/privacy/"),
)
"""Where the longest files are, the longest first."""
settings.register_profile(
    ANY_MACHINE, settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(ANY_MACHINE)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("chance", "tests of chance (tests/chance.py)")
    group.addoption(
        "--chance", type=int, metavar="N", help="run tests of chance only, N times each"
    )
    group.addoption(
        "--wild",
        action="store_true",
        help="run all other tests on extreme noise: those that fail depend on chance",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("wild"):
        draw_wild_noise()
    # What this machine notes about books on servers: nothing of the tests' belongs into
    # the user's own folder.
    os.environ["DITHER_STATE"] = tempfile.mkdtemp(prefix="dither-state-")
    # A process of parallel tests ignores Ctrl-C, and so would all that it starts
    if hasattr(config, "workerinput"):
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    times = metafunc.config.getoption("chance")
    if times and metafunc.definition.get_closest_marker("chance"):
        metafunc.fixturenames.append("time_of_many")
        metafunc.parametrize("time_of_many", range(times))


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the markers
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    _choose_by_chance(config, items)
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


def _choose_by_chance(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Only tests of chance with `--chance`, all others with `--wild`."""
    wanted = {"chance": _by_chance, "wild": _wild}
    for option, fits in wanted.items():
        if config.getoption(option):
            others = [item for item in items if not fits(item)]
            items[:] = [item for item in items if fits(item)]
            config.hook.pytest_deselected(items=others)


def _by_chance(item: pytest.Item) -> bool:
    return item.get_closest_marker("chance") is not None


def _wild(item: pytest.Item) -> bool:
    return not _by_chance(item) and item.get_closest_marker("tame") is None


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
    """What goes to one process as a whole."""
    from xdist.scheduler import LoadScopeScheduling

    class SparkAndFiles(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope(nodeid)

    return SparkAndFiles(config, log)


def scope(nodeid: str) -> str:
    """All tests of Spark, one page of the documentation, or all tests of a file."""
    if SPARK in nodeid:
        return SPARK
    return nodeid if nodeid.startswith(PAGE) else nodeid.partition("::")[0]
