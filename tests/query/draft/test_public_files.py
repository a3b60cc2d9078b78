"""What `dither init` guesses for files that others wrote, and how much of it is right."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import statsmodels

from dither.query.draft.draft import Draft, drafted

FILES = tomllib.loads(
    Path(__file__).with_name("public_files.toml").read_text(encoding="utf-8")
)
STATED = {name: FILES.pop(name) for name in ("types", "units", "bounds", "missing")}
TYPES = ("integer", "real", "boolean", "date", "timestamp", "text")
YEARS = re.compile(r"(\d{4}) to (\d{4})")


def right_types(file: dict[str, Any]) -> dict[str, str]:
    return {
        name: type_
        for type_ in TYPES
        for listed in file.get(type_, [])
        for name in columns(listed)
    }


def columns(listed: str) -> list[str]:
    years = YEARS.fullmatch(listed)
    if years is None:
        return [listed]
    return list(map(str, range(int(years[1]), int(years[2]) + 1)))


@pytest.fixture(scope="module")
def drafts() -> dict[str, Draft]:
    folder = Path(statsmodels.__file__).parent
    return {name: drafted([folder / file["file"]]) for name, file in FILES.items()}


def test_types(drafts: dict[str, Draft]) -> None:
    right, every = 0, 0
    for name, file in FILES.items():
        (sheet,) = drafts[name].sheets
        meant = right_types(file)
        found = {
            one.name: one.type.value if one.type else "text" for one in sheet.columns
        }
        assert found == meant | file.get("otherwise", {}), name
        assert sheet.empty == file.get("empty", False), name
        assert not any(one.unread for one in sheet.columns), name
        right += sum(found[column] == type_ for column, type_ in meant.items())
        every += len(meant)
    assert STATED["types"] == f"{right} of {every}"


def test_units(drafts: dict[str, Draft]) -> None:
    right = 0
    for name, file in FILES.items():
        unit = file.get("unit", "")
        found = next(iter(drafts[name].candidates), "")
        assert found == file.get("guessed_unit", unit), name
        right += found == unit
    assert STATED["units"] == f"{right} of {len(FILES)}"


def test_bounds(drafts: dict[str, Draft]) -> None:
    right, every = 0, 0
    for name, file in FILES.items():
        (sheet,) = drafts[name].sheets
        found = {
            one.name: [one.low, one.high]
            for one in sheet.columns
            if one.low is not None
        }
        assert found == file.get("bounds", {}), name
        right += len(found.keys() - set(file.get("misses", [])))
        every += len(found)
    assert STATED["bounds"] == f"{right} of {every}"


def test_missing_values(drafts: dict[str, Draft]) -> None:
    right = 0
    for name, file in FILES.items():
        (sheet,) = drafts[name].sheets
        found = sorted({sign for one in sheet.columns for sign in one.missing})
        assert found == file.get("missing", []), name
        right += not sheet.empty
    assert STATED["missing"] == f"{right} of {len(FILES)}"
