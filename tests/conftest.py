"""Which tests are worth their time on an engine that takes a second for a question.

What is about noise, costs or relations is the same on every engine, since none of them sees any: it is tested on
DuckDB. What is about an engine's integers is tested on each.
"""

from __future__ import annotations

import re
import signal

import pytest
from hypothesis import HealthCheck, settings

ENGINE = re.compile(r"[\[-](spark|postgres)\b")
MANY_ROWS = "|test_a_sum_that_fits_no_integer_is_held"
NOT_WORTH = {
    "spark": re.compile(
        r"test_coverage|test_costs|exhaustively|Gaussian, replace\)|Laplace, replace\)"
        r"|test_every_relation|test_nothing_else_can_be_observed\[[1-9]" + MANY_ROWS
    ),
    "postgres": re.compile(
        r"test_coverage|test_more_units_or_kinds_of_rows|Gaussian, replace\)|Laplace, replace\)" + MANY_ROWS
    ),
}
TWICE = re.compile(r"test_answers_are_the_plain_ones\[spark-(.*) \(Gaussian\)\]")
"""A question is asked of Spark with Gaussian noise only if it cannot be asked with Laplace noise."""


ANY_MACHINE = "any machine"
settings.register_profile(ANY_MACHINE, settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(ANY_MACHINE)


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):  # a process of parallel tests ignores Ctrl-C, and so would all that it starts
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    known = {item.nodeid for item in items}
    left = [item for item in items if not _worth(item.nodeid, known)]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if _worth(item.nodeid, known)]


def _worth(node: str, known: set[str]) -> bool:
    engine = ENGINE.search(node)
    if engine is None:
        return True
    twice = TWICE.search(node) is not None and node.replace("(Gaussian)]", "(Laplace)]") in known
    return not (twice or NOT_WORTH[engine[1]].search(node))
