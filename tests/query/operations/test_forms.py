"""Strings that are values of a type; `tests/conformance/test_declared_types.py` asks
all engines.
"""

from __future__ import annotations

import re

import pytest

from dither.query.operations import forms


@pytest.mark.parametrize(
    ("form", "accepted", "others"),
    [
        (forms.WHOLE, ["7", " +7 ", "7.00"], ["7.5", "7e3", "7 7"]),
        (forms.INTEGER, ["7", "7e3", "1.5E+2"], ["7.5", "7e-3", "0x7", "7_0"]),
        (forms.NUMBER, [".5", "5.", "-5.5e-3"], [".", "1e99999", "nan", "5,5"]),
        (forms.INFINITE, ["inf", "-INFINITY"], ["infinit", "ınf"]),
        (forms.TRUE, ["1", "Yes", " t "], ["ſ", "10", "1|0"]),
        (forms.FALSE, ["0", "No", " f "], ["00", "none"]),
        (forms.MOMENT, ["2024-1-31", "2024-01-31T1:2Z"], ["2024-13-01", "0000-01-01"]),
    ],
)
def test_forms(form: str, accepted: list[str], others: list[str]) -> None:
    assert all(re.fullmatch(form, text) for text in accepted)
    assert not any(re.fullmatch(form, text) for text in others)


def test_other_dates_are_written_as_iso() -> None:
    assert forms.rewritten("x").count("regexp_replace(") == len(forms.DATES)
    found = {}
    for text in ("31.1.2024 9:00", "2024/1/31", "20240131", "1.1.20245", "x"):
        written = text
        for pattern, (year, month, day, rest) in forms.DATES:
            groups = rf"\{year}-\{month}-\{day}\{rest}"
            written = re.sub(pattern, groups, written, count=1)
        found[text] = written
    assert list(found.values()) == [
        "2024-1-31 9:00",
        "2024-1-31",
        "2024-01-31",
        "1.1.20245",
        "x",
    ]
