"""Questions that make no sense: a clear error from public facts, at once, and nothing
charged.
"""

from __future__ import annotations

from typing import Any

import pytest

from dither.errors import BudgetExceeded
from tests.attacks.analyst import log, row, visits
from tests.clock import quick
from tests.query.refusing import COUNT, SOON, refused, told


@pytest.fixture(scope="module")
def database():
    with visits([row()], budget=(10.0, 1e-6)) as opened:
        yield opened


def pointed_at(message: str) -> str:
    """The word above the caret."""
    *_, line, caret = message.splitlines()
    return line[caret.index("^") :]


@pytest.mark.parametrize(
    ("sql", "words", "place"),
    [
        (
            "SELECT COUNT(*) FROM vists",
            "there is no table 'vists'; did you mean ",
            "vists",
        ),
        ("SELECT COUNT(*) FROM xyz", "there is no table 'xyz'; ", "xyz"),
        (
            "SELECT AVG(coast) FROM visits",
            "there is no column 'coast'; did you mean ",
            "coast) FROM",
        ),
        (
            "SELECT COUNT(*)\nFROM visits\nWHERE wrd = 'A'",
            "did you mean ward?",
            "wrd = 'A'",
        ),
        (
            "SELECT COUNT(*) FROM visits v WHERE w.cost > 1",
            "there is no table or alias 'w' in FROM; ",
            "w.cost",
        ),
        (
            "SELECT COUNT(*) FROM visits WHERE cst > 1 AND xyzzy",
            "there is no column 'cst'; did you mean ",
            "cst > 1",
        ),
        ("SELECT MEDAIN(cost) FROM visits", "did you mean MEDIAN?", "MEDAIN"),
        (
            "SELECT COUNT(*) FROM visits ORDER BY 3",
            "SELECT has no item 3; write a position from 1 to 1",
            "3",
        ),
    ],
)
def test_an_unknown_name_is_shown_with_the_one_that_was_meant(
    database, sql, words, place
) -> None:
    message = refused(database, sql)
    assert words in message
    assert pointed_at(message).startswith(place)


@pytest.mark.parametrize(
    ("sql", "why", "instead", "place"),
    [
        (
            "SELECT RANK() OVER (ORDER BY cost) FROM visits",
            "look at the rows of other units",
            "GROUP BY",
            "RANK",
        ),
        (
            "SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1)",
            "EXISTS",
            "IN (SELECT id FROM",
            "EXISTS",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 3)",
            "depend on other units",
            "move it to the end of the question",
            "LIMIT",
        ),
        (
            "SELECT COUNT(*) FROM visits WHERE day > CURRENT_DATE",
            "clock",
            "DATE '2024-01-31'",
            "CURRENT_DATE",
        ),
        (
            "SELECT COUNT(*) FROM visits WHERE note ~ 'a+'",
            "LIKE",
            "x LIKE 'A%'",
            "note",
        ),
        (
            "SELECT weight, COUNT(*) FROM visits GROUP BY 1",
            "'weight' is REAL",
            "FLOOR(weight / 10)",
            "weight",
        ),
        (
            "SELECT cost, COUNT(*) FROM visits",
            "neither in GROUP BY",
            "add cost to GROUP BY",
            "cost",
        ),
        (
            "SELECT COUNT(*) FROM visits UNION ALL SELECT 1",
            "must be one SELECT",
            "FROM (… UNION ALL …)",
            "UNION",
        ),
        (
            "SELECT COUNT(*) FROM visits; SELECT 1",
            "only one statement is allowed",
            "as a separate question",
            "; SELECT 1",
        ),
        (
            "SELECT SUM(note) FROM visits",
            "needs numbers",
            "CAST(note AS DOUBLE)",
            "SUM",
        ),
        (
            "SELECT COUNT(*) FROM visits WHERE note = 5",
            "cannot mix",
            "CAST(note AS INTEGER)",
            "note = 5",
        ),
        (
            "SELECT COUNT(*) FROM visits WHERE cost",
            "needs a condition",
            "x > 0",
            "cost",
        ),
        (
            "SELECT COUNT(*) FROM visits WHERE day > 'soon'",
            "it is not a date",
            "'2024-01-31'",
            "day > 'soon'",
        ),
        (
            "SELECT COUNT(*) FROM visits WHERE cost > ?",
            "placeholder",
            "write the value itself",
            "?",
        ),
        (
            "SELECT COUNT(*) FROM visits WHERE cost > 1e999",
            "too large",
            "1.7e308",
            "1e999",
        ),
        (
            "SELECT QUANTILE_CONT(cost, 1.5) FROM visits",
            "level from 0 to 1",
            "several columns",
            "cost, 1.5",
        ),
        ("INSERT INTO visits VALUES (1)", "only SELECT", "start with SELECT", "INSERT"),
    ],
)
def test_what_cannot_be_asked_says_what_and_where_and_what_instead(
    database, sql, why, instead, place
) -> None:
    message = refused(database, sql)
    assert why in message
    assert instead in message
    assert pointed_at(message).upper().startswith(place.upper())


@pytest.mark.parametrize(
    ("value", "side"),
    [
        ("points", "'points' has no lower or upper bound"),
        ("weight * 2", "weight * 2 has no lower or upper bound"),
        ("LEAST(points, 9)", "LEAST(points, 9) has no lower bound"),
    ],
)
def test_a_missing_bound_names_two_ways_out(database, value, side) -> None:
    message = refused(database, f"SELECT AVG({value}) FROM visits")
    assert side in message
    assert (
        "(with bounds= or in the catalogue), or clamp the values in the SQL: LEAST(GREATEST("
        in message
    )


def test_what_cannot_be_afforded_says_what_is_left_and_what_it_would_buy() -> None:
    with visits([row()], budget=1.0) as database:
        database.sql(COUNT, epsilon=0.75)
        with pytest.raises(BudgetExceeded) as problem:
            database.sql("SELECT AVG(cost) FROM visits", epsilon=0.5)
        assert "25 % remains" in str(problem.value)
        assert "at most epsilon=0.25" in str(problem.value)
        assert "Nothing was spent" in str(problem.value)
        assert len(database.account.history()) == 1
        preview = database.preview("SELECT AVG(cost) FROM visits", epsilon=0.5)
        assert not preview.affordable
        assert "does not fit into the remaining budget" in str(preview)


def nested(count: int) -> dict[str, str]:
    chain = "".join(
        f", c{i} AS (SELECT * FROM c{i - 1} WHERE cost > {i})" for i in range(1, count)
    )
    return {
        "brackets": "SELECT COUNT(*) FROM visits WHERE "
        + "(" * count
        + "cost > 1"
        + ")" * count,
        "open brackets": "SELECT COUNT(*) FROM visits WHERE " + "(" * count,
        "NOT": "SELECT COUNT(*) FROM visits WHERE " + "NOT " * count + "cost > 1",
        "minus signs": "SELECT SUM(" + "- " * count + "cost) FROM visits",
        "CASE": "SELECT SUM("
        + "CASE WHEN cost > 1 THEN " * count
        + "cost"
        + " END" * count
        + ") FROM visits",
        "subqueries": "SELECT COUNT(*) FROM "
        + "(SELECT * FROM " * count
        + "visits"
        + ")" * count,
        "scalar subqueries": "SELECT "
        + "(SELECT " * count
        + "1"
        + ")" * count
        + " FROM visits",
        "WITH inside WITH": "WITH a AS (" * count
        + "SELECT 1"
        + ") SELECT * FROM a" * count,
        "one WITH after the other": f"WITH c0 AS (SELECT * FROM visits){chain} SELECT COUNT(*) FROM c{count - 1}",
        "sums": "SELECT SUM(cost" + " + 1" * count + ") FROM visits",
        "comparisons": "SELECT COUNT(*) FROM visits WHERE cost" + " = cost" * count,
        "texts": "SELECT COUNT(note" + " || 'a'" * count + ") FROM visits",
        "calls": "SELECT SUM("
        + "ABS(" * count
        + "cost"
        + ")" * count
        + ") FROM visits",
        "unknown calls": "SELECT SUM("
        + "F(" * count
        + "cost"
        + ")" * count
        + ") FROM visits",
        "casts": "SELECT SUM(cost" + "::INT" * count + ") FROM visits",
        "lists": "SELECT " + "[" * count + "]" * count + " FROM visits",
        "structures": "SELECT " + "{'a': " * count + "1" + "}" * count + " FROM visits",
        "places in lists": "SELECT SUM(cost" + "[1]" * count + ") FROM visits",
        "dots": "SELECT visits" + ".a" * count + " FROM visits",
        "arrows": "SELECT " + "x -> " * count + "1 FROM visits",
        "joins": "SELECT COUNT(*) FROM visits"
        + " JOIN visits USING (patient_id)" * count,
        "open joins": "SELECT COUNT(*) FROM " + "visits JOIN " * count,
        "unions": "SELECT COUNT(*) FROM ("
        + " UNION ALL ".join(["SELECT * FROM visits"] * count)
        + ")",
        "IN": "SELECT COUNT(*) FROM visits WHERE "
        + "patient_id IN (SELECT patient_id FROM visits WHERE " * count,
        "BETWEEN": "SELECT COUNT(*) FROM visits WHERE " + "cost BETWEEN " * count + "1",
        "LIKE": "SELECT COUNT(*) FROM visits WHERE note" + " LIKE note" * count,
        "FROM": "FROM " * count + "visits",
        "EXPLAIN": "EXPLAIN " * count + COUNT,
    }


@pytest.mark.parametrize("kind", nested(1))
@pytest.mark.parametrize("count", [500, 10_000])
def test_nesting_without_end(database, kind, count) -> None:
    """Never a RecursionError, and never a crash."""
    refused(database, nested(count)[kind])


@pytest.mark.parametrize("kind", nested(1))
def test_nesting_that_a_person_might_write(database, kind) -> None:
    """A handful of levels is answered or refused for what it says, and not for its
    depth.
    """
    assert "nested too deeply" not in told(
        lambda: database.preview(nested(4)[kind], epsilon=0.1)
    )


def down(levels: int, ask: Any) -> Any:
    return ask() if levels == 0 else down(levels - 1, ask)


@pytest.mark.parametrize("levels", [0, 200, 400, 600, 800])
def test_a_question_asked_from_deep_inside_a_program(levels) -> None:
    """With little of the interpreter's stack left, a deep plan is refused before it is
    charged, or answered.
    """
    chain = "".join(
        f", c{i} AS (SELECT patient_id, cost + 1 AS cost FROM c{i - 1})"
        for i in range(1, 95)
    )
    sql = f"WITH c0 AS (SELECT * FROM visits){chain} SELECT SUM(cost) FROM c94"
    with visits([row()], budget=1.0) as database:
        message = told(lambda: down(levels, lambda: database.sql(sql, epsilon=0.5)))
        kinds = [kind for kind, _ in log(database)]
        assert ("nested too deeply" in message, "settle" in kinds) in (
            (True, False),
            (False, True),
        )
        assert kinds.count("charge") == kinds.count("settle")


LONG = 90_000
HUGE = {
    "a megabyte": "SELECT COUNT(*) FROM visits WHERE note = '" + "x" * 1_000_000 + "'",
    "a megabyte of blanks": " " * 1_000_000 + COUNT,
    "a megabyte of brackets": "(" * 1_000_000,
    "words": "SELECT " + "x " * 40_000,
    "comments": "/*" * 45_000,
    "unfinished text": "SELECT '" + "x" * LONG,
    "a long number": "SELECT SUM(cost * " + "9" * LONG + ") FROM visits",
    "a long exponent": "SELECT SUM(cost * 1e" + "9" * LONG + ") FROM visits",
    "a long interval": "SELECT MIN(day + INTERVAL '"
    + "9" * LONG
    + "' DAY) FROM visits",
    "an interval of blanks": "SELECT MIN(day + INTERVAL '"
    + " " * LONG
    + "') FROM visits",
    "a long table": "SELECT COUNT(*) FROM " + "x" * LONG,
    "a long column": "SELECT SUM(" + "x" * LONG + ") FROM visits",
    "a long quoted column": 'SELECT SUM("' + " " * LONG + '") FROM visits',
    "a long file": "SELECT COUNT(*) FROM '" + "x" * LONG + "'",
    "a long function": "SELECT " + "x" * LONG + "(cost) FROM visits",
    "a long alias": "SELECT COUNT(*) AS " + "x" * LONG + " FROM visits",
    "a long part": "SELECT DATE_TRUNC('"
    + "x" * LONG
    + "', day), COUNT(*) FROM visits GROUP BY 1",
    "a long pattern": "SELECT COUNT(*) FROM visits WHERE note LIKE '"
    + "_" * LONG
    + "'",
    "many signs": "SELECT COUNT(*) FROM visits WHERE note LIKE '" + "%a" * 30_000 + "'",
    "many items": "SELECT " + ", ".join(["COUNT(*)"] * 3000) + " FROM visits",
    "many aggregates": "SELECT "
    + ", ".join(f"SUM(cost + {i})" for i in range(1000))
    + " FROM visits",
    "many keys": "SELECT COUNT(*) FROM visits GROUP BY "
    + ", ".join(f"cost % {i + 2}" for i in range(100)),
    "many groups": "SELECT COUNT(*) FROM visits GROUP BY day, cost, EXTRACT(doy FROM day), ward",
    "many quantiles": "SELECT day, MEDIAN(LEAST(GREATEST(points, 0), 9000)) FROM visits GROUP BY day, ward",
}


@pytest.mark.parametrize("kind", HUGE)
def test_questions_of_any_size(database, kind) -> None:
    refused(database, HUGE[kind])


@pytest.mark.parametrize(
    "sql",
    [
        "/**/" * 40 + COUNT,
        "-- x\n/* y */" * 40 + COUNT,
        "/* " * 3 + "*/ " * 3 + COUNT,
        "SELECT ward || '"
        + "a" * 20_000
        + "' LIKE '%a%a%a%a%a%a%a%a%a%b', COUNT(*) FROM visits GROUP BY 1",
        "SELECT CAST(cost AS TEXT) || '"
        + "x" * LONG
        + "', COUNT(*) FROM visits GROUP BY 1",
        "SELECT CAST(ward || '"
        + "9" * LONG
        + "x' AS INTEGER), COUNT(*) FROM visits GROUP BY 1",
        "SELECT CASE "
        + " ".join(f"WHEN cost % {i + 2} = 0 THEN cost * {i}" for i in range(300))
        + " END, COUNT(*) "
        "FROM visits GROUP BY 1",
        "SELECT COUNT(*) FROM visits WHERE "
        + " OR ".join(f"cost = {i}" for i in range(2400)),
        "SELECT COUNT(*) FROM visits WHERE cost IN ("
        + ", ".join(map(str, range(4900)))
        + ")",
    ],
    ids=lambda sql: sql[:40],
)
def test_a_pattern_that_can_be_read_in_many_ways(database, sql) -> None:
    """Planning is free, so it must not take for ever: these took an earlier draft
    minutes, or memory without end.
    """
    with quick(2 * SOON):
        assert len(told(lambda: database.preview(sql, epsilon=0.1))) < 1000


@pytest.mark.parametrize(
    "sql",
    [
        None,
        5,
        1.5,
        True,
        b"SELECT COUNT(*) FROM visits",
        ["SELECT"],
        {"sql": "SELECT"},
        ...,
        print,
        ("SELECT", 1),
    ],
    ids=repr,
)
def test_what_is_no_text(database, sql) -> None:
    assert "the question must be a string, not" in refused(database, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "",
        " \n\t ",
        ";",
        ";;;",
        "--",
        "/* only a comment */",
        "EXPLAIN",
        "EXPLAIN ;",
        "SELECT",
        "SELECT FROM visits",
        "SELECT COUNT(*)",
        "SELECT 1",
        "SELECT 1 FROM visits",
        "WITH",
        "()",
        "(",
        ")",
        "SELECT COUNT(*) FROM",
        "SELECT COUNT(*) FROM visits WHERE",
        "SELECT COUNT(*) FROM visits GROUP BY",
        "SELECT COUNT(*) FROM visits LIMIT",
        "SELECT COUNT(*) FROM visits LIMIT -1",
        "SELECT COUNT(*) FROM visits LIMIT 1.5",
        "SELECT COUNT(*) FROM visits LIMIT cost",
        "SELECT COUNT(*) FROM visits LIMIT 10 PERCENT",
        "SELECT COUNT(*) FROM visits OFFSET (SELECT 1)",
        "SELECT COUNT(*) FROM visits visits visits",
        "SELECT COUNT(COUNT(*)) FROM visits",
        "SELECT COUNT() FROM visits",
        "SELECT COUNT(*, 1) FROM visits",
        "SELECT SUM(DISTINCT cost) FROM visits",
        "SELECT SUM(*) FROM visits",
        "SELECT COUNT(*) FROM visits WHERE COUNT(*) > 1",
        "SELECT COUNT(*) FROM visits HAVING cost > 1",
        "\0SELECT COUNT(*) FROM visits",
        "SELECT COUNT(*) FROM visits WHERE note = '\0'",
        "SELECT '\ud800' FROM visits",
        "\ud83d SELECT",
        "".join(map(chr, range(256))),
        "\x7fELF\x02\x01\x01" * 20,
        "\u202eSELECT COUNT(*) FROM visits",
        "SELECT\u00a0COUNT(*)\u2003FROM\u3000vists",
        "ЅЕLЕСТ COUNT(*) FROM visits",
        "SELECT COUNT(*) FROM visits WHERE cost > 0x1F",
        "SELECT COUNT(*) FROM visits WHERE cost > 1_000x",
        "SELECT COUNT(*) FROM visits WHERE 'a' 'b'",
        "🙂",
        "%s",
        "{}",
        "${jndi:ldap://x}",
    ],
    ids=lambda sql: ascii(sql)[:40],
)
def test_what_is_no_question(database, sql) -> None:
    refused(database, sql)
