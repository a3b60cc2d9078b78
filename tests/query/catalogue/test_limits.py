"""What the curator lets one question take."""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd
import pytest

import dither
from bench import preview
from dither.errors import ArgumentError
from dither.query.catalogue.file import dump_catalogue
from dither.query.catalogue.limits import Limits
from dither.query.load import parse_catalogue

FILE = 'unit = "row"\n{limits}\n[tables.t]\n[tables.t.columns]\nx = "integer"\n'


def test_limits_in_a_catalogue() -> None:
    found = parse_catalogue(
        FILE.format(limits="[limits]\nseconds = 1.5\nfan_out = 100")
    )
    assert found.limits == Limits(seconds=1.5, fan_out=100)
    assert parse_catalogue(dump_catalogue(found)) == found
    usual = parse_catalogue(FILE.format(limits=""))
    assert usual.limits == Limits()
    assert "limits" not in dump_catalogue(usual)
    # They change no answer, so what was released is still found
    assert usual.digest == found.digest


def test_limits_when_a_table_is_opened() -> None:
    frame = pd.DataFrame({"x": [1]})
    with dither.open(
        frame, unit="row", budget=1.0, limits={"seconds": 5, "memory": 100}
    ) as database:
        assert database.catalogue.limits == Limits(seconds=5, memory=100)


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"seconds": 0}, "seconds must be a number above 0"),
        ({"seconds": True}, "seconds must be a number above 0"),
        ({"memory": 1.5}, "memory must be a whole number above 0"),
        ({"disk": -1}, "disk must be a whole number above 0"),
        ({"fan_out": "many"}, "fan_out must be a whole number above 0"),
        ({"seconds": float("inf")}, "seconds must be a number above 0"),
        (
            {"hours": 1},
            "the limit 'hours' is unknown; use one of seconds, memory, disk, fan_out",
        ),
        (5, "limits must be a dictionary by name"),
    ],
)
def test_limits_that_are_none(stated: Any, words: str) -> None:
    with pytest.raises(ArgumentError) as problem:
        Limits.of(stated)
    assert str(problem.value).startswith(words)


def test_limits_are_in_the_catalogue_if_there_is_one(tmp_path) -> None:
    (tmp_path / "c.toml").write_text(FILE.format(limits="[limits]\nhours = 1"))
    with pytest.raises(ArgumentError, match=r"in c.toml, hours is not a known entry"):
        dither.open(tmp_path / "c.toml")
    with pytest.raises(ArgumentError, match="limits cannot be passed with a catalogue"):
        dither.open(tmp_path / "c.toml", limits={"seconds": 5})


MOST_CALLS = 800_000
"""Function calls of a preview; the dearest one that is answered makes some 400,000
(`python -m bench preview`).
"""
NASTY = [
    *(
        "joins without a condition",
        "WITH, doubled joins",
        "OR of keys",
        "concatenation of keys",
        "semicolons",
    ),
    *("UNION ALL of wide tables", "nested CASE of keys", "by zip::TEXT || day::TEXT"),
]


class TooMuch(Exception):
    pass


@pytest.fixture(scope="module")
def nasty():
    with preview.opened() as database:
        yield database


@pytest.mark.parametrize("name", NASTY)
def test_previews_that_took_for_ever(nasty, name) -> None:
    """Counted in calls, which do not depend on how busy the machine is."""
    asked = [sql for shape, sql in preview.questions() if shape == name]
    made = 0

    def count(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal made
        made += event in ("call", "c_call")
        if made > MOST_CALLS:
            raise TooMuch

    for sql in asked:
        made = 0
        sys.setprofile(count)
        try:
            preview.preview(nasty, sql, preview.COSTS[0])
        finally:
            sys.setprofile(None)
    assert asked
