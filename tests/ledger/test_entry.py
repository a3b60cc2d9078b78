"""A line's hash covers all of it, and the line before."""

from dataclasses import replace

import pytest

from dither.ledger.entry import Entry, canonical, digest

LINE = Entry.after(2, "before", "now", "charge", "clinic", {"by": None, "a": "é"})


def test_data_is_written_in_one_way():
    assert canonical({"b": 1, "a": "é"}) == canonical({"a": "é", "b": 1})
    assert canonical({"a": [1, None]}) == '{"a":[1,null]}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical({"a": float("nan")})


@pytest.mark.parametrize(
    "change",
    [{"seq": 3}, {"time": "then"}, {"kind": "fail"}, {"account": "x"}, {"body": {}}],
)
def test_a_changed_line_does_not_follow(change):
    assert LINE.follows("before")
    assert not LINE.follows("another")
    assert not replace(LINE, **change).follows("before")


def test_fields_do_not_run_into_each_other():
    assert digest("", 1, "", "a", "bc", "") != digest("", 1, "", "ab", "c", "")
