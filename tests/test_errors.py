"""Messages are whole sentences, and the index of errors is what the source raises."""

from __future__ import annotations

import ast
import pickle
import re

import pytest

from dither.errors import (
    PREDICATES,
    ArgumentError,
    NoConversion,
    QueryError,
    UnitMismatch,
    sentence,
)
from tools.errors import (
    AS_ENDS,
    AS_SAID,
    TOPICS,
    Module,
    Raised,
    classes,
    described,
    found,
    pages,
    parted,
    topic_of,
)
from tools.pages import outdated


def test_the_pages_are_made_from_the_source() -> None:
    assert outdated(pages()) == [], "run python tools/errors.py"


def test_every_message_stands_on_one_page() -> None:
    shown = "".join(pages().values())
    headed = {one.module for one in found()}
    assert all(shown.count(f"\n## {name} {{ #{name} }}\n") == 1 for name in headed)
    assert {topic_of(name) for name in headed} == set(TOPICS)
    # Besides the messages, each table has a line with the titles of its columns
    rows = [line for line in shown.splitlines() if line.startswith("| ")]
    tables = shown.count(" | what to do |\n")
    assert len(rows) == len(found()) + tables + len(TOPICS) + 1


@pytest.mark.parametrize(
    ("module", "topic"),
    [
        ("dither.query", "sql"),
        ("dither.query.sql.bind", "sql"),
        ("dither.query.open", "tables"),
        ("dither.query.engines.spark.cluster", "tables"),
        ("dither.learn.estimators", "estimators"),
        ("dither.learn.training", "training"),
    ],
)
def test_the_longest_name_decides_the_topic(module: str, topic: str) -> None:
    assert topic_of(module) == topic


def test_a_new_room_needs_a_topic() -> None:
    with pytest.raises(ValueError, match=r"no topic has dither\.learning"):
        topic_of("dither.learning")


def test_every_kind_says_what_it_means_and_what_to_do() -> None:
    for name, kind in classes().items():
        means, way_out = described(kind)
        assert means, name
        assert way_out, name


def test_every_message_has_something_to_do_on_its_page() -> None:
    rows = [line for page in pages().values() for line in page.splitlines()]
    assert [row for row in rows if row.startswith("|") and row.endswith("|  |")] == []


def test_many_messages_are_found_and_most_say_what_to_do_themselves() -> None:
    every = found()
    assert len(every) > 500
    assert sum(bool(one.way_out) for one in every) > 0.85 * len(every)


@pytest.mark.parametrize(
    ("text", "cause", "way_out"),
    [
        ("is missing; pass one; or two", "is missing", "pass one; or two"),
        ("must be a number, not …", "must be a number, not …", "pass a number"),
        ("must be above 0", "must be above 0", "pass a value above 0"),
        ("must lie from 0 to 1", "must lie from 0 to 1", "pass a value from 0 to 1"),
        ("must be stated by name", "must be stated by name", ""),
        ("must list two columns", "must list two columns", ""),
        (
            "pass exactly one of a and b",
            "pass exactly one of a and b",
            AS_SAID,
        ),
        (
            "state one promise",
            "state one promise",
            AS_SAID,
        ),
        ("the book was changed", "the book was changed", ""),
        ("there is no x; …", "there is no x", AS_ENDS),
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
        ("ArgumentError", "x is …", "pass one"),
        ("QueryError", "first", "do"),
        ("QueryError", "second", "do"),
        ("QueryError", "second", "do"),
        ("LedgerError", "is gone", ""),
        ("LedgerError", "is at …", ""),
    ]


# whole sentences

WITHOUT_ARGUMENT = {
    "AccountFrozen",
    "BudgetExceeded",
    "CollectorError",
    "DeviceError",
    "DitherError",
    "EngineFailed",
    "LedgerError",
    "MachineFailed",
    "QueryError",
}
"""Kinds whose message is printed as it is: no argument is put in front of it."""
VERBS = (
    "allows answers appears asks became becomes began begins belongs broke came "
    "comes costs counts covers declares depends differs draws ended ends exists "
    "fails failed falls fits follows gave gives goes got hashes hides ignores keeps "
    "knows leaves left lets lies lists looks loses makes matches means measures "
    "mentions misses mixes moves names never occurs overlaps owns promises protects "
    "reads refuses releases returned returns runs says sends sets shows spans "
    "spends stands starts stays stops stores sums tells turns uses wants will works "
    "would should"
)
SMALL = (
    "after also already and as at because before beside between but by for from "
    "into its like neither nobody none nor of on once or over still than those "
    "times to too twice under until which while with without yet"
)
HALVES = {*VERBS.split(), *SMALL.split()}
"""Words that begin half a sentence: the subject, or all of the first half, is missing."""
LABELLED = re.compile(r"^[\w.]+: (is|are|must|has|have|needs|cannot)\b")


def is_half(text: str) -> bool:
    """Whether a printed message lacks its beginning. Some of the words are also names of
    arguments: then a verb or a × follows.
    """
    first, _, rest = text.strip().partition(" ")
    subject = rest.split(" ")[0] in {*PREDICATES, "×"}
    return bool(LABELLED.match(text.strip())) or (first in HALVES and not subject)


def lacks_subject(one: Raised) -> bool:
    """Whether a message that is printed as it is begins with a verb."""
    return one.kind in WITHOUT_ARGUMENT and one.cause.split()[0] in PREDICATES


def listed(raised: list[Raised]) -> str:
    """Messages to rewrite, by module."""
    return "\n".join(f"{one.module} ({one.kind}): {one.cause}" for one in raised)


def test_messages_without_an_argument_have_a_subject_of_their_own() -> None:
    assert set(classes()) - WITHOUT_ARGUMENT == {
        *("ArgumentError", "UnitMismatch", "NoConversion", "MissingExtra")
    }
    wrong = [one for one in found() if lacks_subject(one)]
    assert not wrong, f"begin with the subject of the sentence:\n{listed(wrong)}"


def test_no_message_is_half_a_sentence() -> None:
    wrong = [one for one in found() if is_half(one.cause)]
    assert not wrong, f"write whole sentences:\n{listed(wrong)}"


def test_a_message_without_a_subject_is_found() -> None:
    source = "raise LedgerError('is gone')\nraise ArgumentError('x', 'is gone')"
    read = list(Module("m", ast.parse(source)).raised(classes()))
    assert [lacks_subject(one) for one in read] == [True, False]


@pytest.mark.parametrize(
    "text",
    [
        "names a value twice",
        "of the columns are not declared",
        "times teachers are too many votes",
        "or share must be passed",
        "epsilon: must be positive",
        "data.unit: is missing",
    ],
)
def test_half_sentences_are_found(text: str) -> None:
    assert is_half(text)


@pytest.mark.parametrize(
    "text",
    [
        "names must be a list",
        "by is missing",
        "counts × people must be at most 5",
        "each row is a unit",
        "the ledger: it is closed",
        "pass exactly one of epsilon and rho",
    ],
)
def test_whole_sentences_are_left_alone(text: str) -> None:
    assert not is_half(text)


# joining an argument and its message


@pytest.mark.parametrize(
    ("argument", "message", "printed"),
    [
        ("epsilon", "must be positive; pass 0.5", "epsilon must be positive; pass 0.5"),
        ("keys", "are not declared", "keys are not declared"),
        ("unit", "is missing", "unit is missing"),
        ("unit.link", "has two columns", "unit.link has two columns"),
        ("clients['north']", "lacks y", "clients['north'] lacks y"),
        # whole sentences, whose first word is not one of the verbs
        ("columns", "the column 'a' is missing", "the column 'a' is missing"),
        ("epsilon", "pass epsilon or rho", "pass epsilon or rho"),
        ("x", "issues are open", "issues are open"),
        ("x", "Must be capitals", "Must be capitals"),
        ("x", "is", "x is"),
        ("x", "", ""),
    ],
)
def test_a_message_that_begins_with_a_verb_is_about_its_argument(
    argument: str, message: str, printed: str
) -> None:
    assert sentence(argument, message) == printed
    for kind in (ArgumentError, UnitMismatch, NoConversion):
        error = kind(argument, message)
        assert str(error) == printed
        assert (error.argument, error.message) == (argument, message)


def test_every_verb_joins() -> None:
    for verb in PREDICATES:
        assert str(ArgumentError("x", f"{verb} so")) == f"x {verb} so"
    assert not PREDICATES & HALVES


@pytest.mark.parametrize("kind", [ArgumentError, UnitMismatch, NoConversion])
@pytest.mark.parametrize("message", ["must be positive", "the column 'a' is missing"])
def test_an_argument_error_survives_a_pickle(
    kind: type[ArgumentError], message: str
) -> None:
    error = kind("epsilon", message)
    copy = pickle.loads(pickle.dumps(error))  # joined once, not twice
    assert type(copy) is kind
    assert isinstance(copy, ValueError)
    assert str(copy) == str(error)
    assert (copy.argument, copy.message) == ("epsilon", message)


def test_a_long_line_of_sql_is_cut_with_marks_and_the_caret_stays_in_place() -> None:
    sql = "SELECT " + ", ".join(f"COUNT(*) AS n{i}" for i in range(20)) + " FROM b"
    for name, marks in (("n0", "_…"), ("n9", "……"), ("FROM", "…_")):
        words = sql.split()
        column = sql.index(name) + 1
        _, line, caret = str(QueryError("no", sql, 1, column)).split("\n")
        assert line[caret.index("^") :].startswith(name)
        assert len(line) <= 2 + 100 + 4
        assert set(line.replace("…", "").split()) <= set(words)
        shown = ("…" if line[2] == "…" else "_") + ("…" if line[-1] == "…" else "_")
        assert shown == marks


def test_a_question_in_sql_is_shown_with_a_caret_and_without_an_argument() -> None:
    error = QueryError("the table 'b' does not exist", "SELECT *\nFROM b", 2, 6)
    shown = "the table 'b' does not exist\n  FROM b\n       ^"
    assert str(error) == shown
    assert error.argument == "sql"
    assert error.reason == "the table 'b' does not exist"
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.line, copy.column) == (shown, 2, 6)
