"""Reading SQL: one SELECT of bearable size, or a clear refusal at once."""

from __future__ import annotations

import contextlib
import logging

import pytest
from sqlglot import exp

from dither.errors import QueryError
from dither.query.catalogue.limits import LETTERS, WORDS
from dither.query.sql.parse import parse
from tests.clock import quick

MANY = 10_000
DEEP = {
    "brackets": "SELECT " + "(" * MANY + "1" + ")" * MANY,
    "functions": "SELECT " + "abs(" * 5_000 + "1" + ")" * 5_000,
    "subqueries": "SELECT * FROM " + "(SELECT * FROM " * 4_000 + "t" + ")" * 4_000,
    "some brackets": "SELECT " + "(" * 200 + "1" + ")" * 200,
    "lists": "SELECT " + "[" * 400 + "1" + "]" * 400,
    "cases": "SELECT " + "CASE WHEN a THEN " * 2_000 + "a" + " END" * 2_000,
    "not": "SELECT " + "NOT " * MANY + "a",
    "some not": "SELECT " + "NOT " * 500 + "a",
    "minus": "SELECT " + "- " * MANY + "a",
    "plus": "SELECT " + "a+" * MANY + "a",
    "some plus": "SELECT " + "a+" * 500 + "a",
    "powers": "SELECT " + "a ^ " * 2_000 + "a",
    "casts": "SELECT a" + "::int" * 2_000,
    "dots": "SELECT a" + ".a" * 4_000,
    "indices": "SELECT a" + "[1]" * 2_000,
    "lambdas": "SELECT " + "a -> " * 3_000 + "a",
    "equalities": "SELECT " + "a = NOT " * 3_000 + "a",
    "joins": "SELECT 1 FROM a " + "JOIN b " * 4_000,
    "likes": "SELECT " + "a LIKE " * 4_000 + "a",
    "assignments": "SELECT " + "x := " * 4_000 + "a",
}


def refusal(sql: object) -> str:
    with pytest.raises(QueryError) as caught:
        parse(sql)  # type: ignore[arg-type]
    return caught.value.message


@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting_is_refused_at_once(name: str) -> None:
    with quick(2):
        message = refusal(DEEP[name])
    assert (
        "nested too deeply" in message or "words" in message or "characters" in message
    )


def test_a_megabyte_is_refused_without_reading_it() -> None:
    with quick(0.1):
        message = refusal("SELECT " + "x" * 1_000_000)
    assert message == (
        f"the question has 1,000,007 characters, and the limit is {LETTERS:,}; shorten "
        "it, or split it into several questions"
    )


def test_many_words_are_refused_and_long_chains_of_and_are_not() -> None:
    assert "words" in refusal("SELECT " + ", ".join("a" for _ in range(WORDS)))
    assert isinstance(parse("SELECT a " + "AND a " * 1_200).tree, exp.Select)
    assert isinstance(
        parse("SELECT a IN (" + ", ".join(map(str, range(1_200))) + ")").tree,
        exp.Select,
    )


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN", "FULL OUTER JOIN"])
@pytest.mark.parametrize(
    "inner", ["b", "(SELECT 1 FROM c JOIN d ON TRUE)", "(b JOIN c ON TRUE)"]
)
def test_joins_without_a_condition_were_read_in_every_order(
    kind: str, inner: str
) -> None:
    """Thirty of them took for ever."""
    sql = "SELECT 1 FROM a " + f"{kind} {inner} " * 30
    words = (
        "some JOINs are not followed by their own ON; write JOIN … ON … for one table "
        "after the other"
    )
    assert refusal(sql) == words + shown(sql, kind, inner)
    parse("SELECT 1 FROM a " + f"{kind} {inner} ON TRUE " * 30)
    parse("SELECT 1 FROM a " + "CROSS JOIN b " * 30)


def shown(sql: str, kind: str, inner: str) -> str:
    """The place of the fourth JOIN."""
    place = len("SELECT 1 FROM a ") + 3 * len(f"{kind} {inner} ") + kind.index("JOIN")
    return str(QueryError("", sql, 1, place + 1))


def test_ordinary_nesting_is_read() -> None:
    parse("SELECT " + "(" * 20 + "1" + ")" * 20)
    parse("SELECT " + "1 + " * 80 + "1")
    parse("SELECT * FROM " + "(SELECT * FROM " * 20 + "t" + ")" * 20)


@pytest.mark.parametrize(
    ("sql", "explain"),
    [
        ("SELECT 1", False),
        ("EXPLAIN SELECT 1", True),
        ("  explain\nselect 1;", True),
        ("-- why\n/* and */ Explain SELECT 1", True),
        ("SELECT explain FROM t", False),
        ("(SELECT 1);;", False),
    ],
)
def test_explain_is_known_and_taken_off(sql: str, explain: bool) -> None:
    assert parse(sql).explain is explain


def test_places_are_those_of_the_whole_text() -> None:
    parsed = parse("EXPLAIN\nSELECT a,\n       wrong FROM t")
    error = parsed.text.problem("no", parsed.tree.expressions[1])
    assert (error.line, error.column) == (3, 8)
    assert str(error) == "no\n         wrong FROM t\n         ^"


def test_lines_are_counted_as_they_are_shown() -> None:
    parsed = parse("SELECT a\u2028, b\r\n, wrong FROM t")
    error = parsed.text.problem("no", parsed.tree.expressions[2])
    assert (error.line, error.column) == (3, 3)


@pytest.mark.parametrize(
    "sql",
    [
        None,
        5,
        b"SELECT 1",
        "",
        "  ",
        ";",
        "-- nothing",
        "SELECT 1\0",
        "SELECT '\ud800'",
    ],
)
def test_what_is_no_text_is_refused(sql: object) -> None:
    assert refusal(sql)


@pytest.mark.parametrize(
    "sql",
    ["INSERT INTO t VALUES (1)", "DROP TABLE t", "COPY t TO 'x'", "CALL f()", "EXPLAIN ANALYZE SELECT 1", "EXPLAIN",
     "PRAGMA x", "SELEC 1", "VALUES (1)", "SELECT 1; DROP TABLE t",
     "WITH a AS (INSERT INTO t VALUES (1)) DELETE FROM t", "SHOW TABLES", "SET x = 1", "ATTACH 'x'"],
)  # fmt: skip
def test_only_one_select_is_read(sql: str) -> None:
    assert refusal(sql)


def test_nothing_is_logged_and_no_escape_code_is_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        for sql in (
            "EXPLAIN SELECT 1",
            "SELECT (1",
            "SELECT 1 FROM",
            "CALL f()",
            "WITH a AS (DROP x y) SELECT 1",
        ):
            with contextlib.suppress(QueryError):
                parse(sql)
        shown = (
            refusal("SELECT (1") + refusal("SELECT 1 FROM") + refusal("SELECT 1 WHERE")
        )
    assert "\x1b" not in shown
    assert "sqlglot" not in shown
    assert not caplog.records


def test_an_unfinished_text_is_shown_where_it_opens() -> None:
    with pytest.raises(QueryError) as caught:
        parse("SELECT 1,\n 'abc")
    assert (caught.value.line, caught.value.column) == (2, 2)


def test_items_and_calls_are_quoted_as_written() -> None:
    source = parse("SELECT DISTINCT a, Sum( (b) )  filter (where c), 'x,y' FROM t").text
    assert source.items() == ["a", "Sum( (b) ) filter (where c)", "'x,y'"]
    assert parse("FROM t SELECT a, (SELECT b, c FROM d)").text.items() == [
        "a",
        "(SELECT b, c FROM d)",
    ]
    assert parse("(SELECT a, b)").text.items() == ["a", "b"]
