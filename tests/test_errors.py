"""The index of errors is what the source raises."""

from __future__ import annotations

import ast

import pytest

from tools.errors import PAGE, Module, classes, described, found, page, parted


def test_the_page_is_made_from_the_source() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python tools/errors.py"


def test_every_kind_says_what_it_means_and_what_to_do() -> None:
    for name, kind in classes().items():
        means, way_out = described(kind)
        assert means, name
        assert way_out, name


def test_many_messages_are_found_and_most_say_what_to_do_themselves() -> None:
    every = found()
    assert len(every) > 500
    assert sum(bool(one.way_out) for one in every) > 0.85 * len(every)


@pytest.mark.parametrize(
    ("text", "cause", "way_out"),
    [
        ("is missing; pass one; or two", "is missing", "pass one; or two"),
        ("must be a number, not …", "must be a number, not …", "pass a number"),
        ("must lie from 0 to 1", "must lie from 0 to 1", "let it lie from 0 to 1"),
        ("state one promise", "it is not clear what is wanted", "state one promise"),
        ("the book was changed", "the book was changed", ""),
    ],
)
def test_a_message_has_a_cause_and_a_way_out(
    text: str, cause: str, way_out: str
) -> None:
    assert parted(text) == (cause, way_out)


def test_messages_are_followed_to_their_parts() -> None:
    source = """
WAY = "pass one"
INSTEAD = {"a": "first; do", "b": "second; do"}
def said(x):
    return "is gone" if x else f"is at {x}"
def check(x):
    why = f"is {x}"
    raise ArgumentError("x", f"{why}; {WAY}")
    raise QueryError(INSTEAD[x])
    raise source.problem(INSTEAD["b"], x)
    raise LedgerError(said(x))
"""
    shown = [
        (one.kind, one.cause, one.way_out)
        for one in Module("m", ast.parse(source)).raised(classes())
    ]
    assert shown == [
        ("ArgumentError", "x: is …", "pass one"),
        ("QueryError", "first", "do"),
        ("QueryError", "second", "do"),
        ("QueryError", "second", "do"),
        ("LedgerError", "is gone", ""),
        ("LedgerError", "is at …", ""),
    ]
