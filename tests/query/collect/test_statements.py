"""Every statement fixture comes out as written. With DITHER_UPDATE_STATEMENTS=1 what
comes out is written: read the diff.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace

import pytest

from tests.query.collect.fixtures import (
    FOLDER,
    Case,
    outcome,
    read,
    statements_of,
    write,
)

FILES = sorted(FOLDER.glob("*.sql"))
if os.environ.get("DITHER_UPDATE_STATEMENTS"):
    for path in FILES:
        write(
            path,
            [
                replace(case, expected=outcome(case.about, case.sql))
                for case in read(path)
            ],
        )
CASES = [(path.stem, case) for path in FILES for case in read(path)]


def label(value: object) -> str:
    return value if isinstance(value, str) else ""


@pytest.mark.parametrize(("name", "case"), CASES, ids=label)
def test_comes_out_as_written(name: str, case: Case) -> None:
    assert outcome(case.about, case.sql) == case.expected, name


@pytest.mark.parametrize(("name", "case"), CASES, ids=label)
def test_each_table_is_made_once_and_before_it_is_read(name: str, case: Case) -> None:
    made = set[str]()
    for one in statements_of(case.about, case.sql):
        assert set(re.findall(r"\bdither_\w+", one.sql)) <= made, name
        assert one.name not in made, name
        made |= {one.name} if one.name else set()
