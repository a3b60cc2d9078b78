"""Every plan fixture comes out as written. With DITHER_UPDATE_PLANS=1 what comes out is
written: read the diff.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from tests.query.sql.fixtures import FOLDER, Case, catalogue_of, outcome, read, write

FILES = sorted(FOLDER.glob("*.sql"))
if os.environ.get("DITHER_UPDATE_PLANS"):
    for path in FILES:
        write(
            path,
            [
                replace(case, expected=outcome(case.sql, case.file))
                for case in read(path)
            ],
        )
CASES = [case for path in FILES for case in read(path)]


def label(case: Case) -> str:
    return f"{case.file}: {' '.join(case.sql.split())[:60]}"


@pytest.mark.parametrize("case", CASES, ids=label)
def test_comes_out_as_written(case: Case) -> None:
    assert outcome(case.sql, case.file) == case.expected


def test_there_are_many_and_no_two_ask_the_same() -> None:
    asked = [
        (catalogue_of(case.file).name, " ".join(case.sql.split())) for case in CASES
    ]
    assert len(set(asked)) == len(asked) >= 120
