"""Reading SQL: what is too large, nested too deeply or no question is refused before
sqlglot reads it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.duckdb import DuckDBParser

from dither.errors import QueryError
from dither.query.catalogue.limits import DEEPEST, LETTERS, TALLEST, WORDS
from dither.query.catalogue.names import LONGEST as LONGEST_NAME
from dither.query.sql.text import CLOSING, OPENING, QueryText

__all__ = ["Parsed", "explains", "parse"]

LONGEST_INTERVAL = 50
NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
LOOSE_JOINS = 3
FIRST = {"SELECT", "WITH", "FROM", "("}
# Atomic and possessive: with ways to read comments differently, trying them all would
# take for ever.
EXPLAIN = re.compile(
    r"(?>\s+|--[^\n]*\n|/\*.*?\*/)*+explain\b", re.IGNORECASE | re.DOTALL
)
CHAINS = (exp.And, exp.Or, exp.Union)
NESTED = (
    "the question is nested too deeply; write it with fewer levels, "
    "for example with WITH"
)


class Parser(DuckDBParser):
    """sqlglot's parser, which refuses what it would otherwise keep unread, with a
    warning, as a command.
    """

    def _warn_unsupported(self) -> None:
        self.raise_error("Unsupported command")


@dataclass(frozen=True)
class Parsed:
    """A question as sqlglot reads it. `explain`: EXPLAIN stood before it, so it must
    not be charged or run.
    """

    explain: bool
    tree: exp.Expr
    text: QueryText


def explains(sql: str) -> bool:
    """Whether EXPLAIN stands before a question: front ends then show its preview."""
    return EXPLAIN.match(sql) is not None


def parse(sql: str) -> Parsed:
    """Read exactly one SELECT, or EXPLAIN SELECT."""
    _check_text(sql)
    asked = EXPLAIN.match(sql)
    # Blanks in the place of EXPLAIN keep every place in the text as it is.
    rest = " " * asked.end() + sql[asked.end() :] if asked else sql
    text = QueryText(sql, tuple(_statement(sql, _tokens(rest))))
    _check_words(text)
    tree = _read(text)
    _check_height(tree, text)
    return Parsed(asked is not None, tree, text)


def _check_text(sql: str) -> None:
    if not isinstance(sql, str):
        raise QueryError(
            f"the question must be a string, not {type(sql).__name__}; pass a SELECT"
        )
    if len(sql) > LETTERS:
        raise QueryError(
            f"the question has {len(sql):,} characters, and the limit is "
            f"{LETTERS:,}; shorten it, or split it into several questions"
        )
    if any(0xD800 <= ord(letter) <= 0xDFFF or letter == "\0" for letter in sql):
        raise QueryError(
            "the question contains a character that is not valid text (a null or a "
            "lone surrogate); remove it"
        )


def _tokens(sql: str) -> list[Token]:
    try:
        tokens = Dialect.get_or_raise("duckdb").tokenize(sql)
    except TokenError as error:
        raise _unfinished(sql, error) from None
    if not tokens:
        raise QueryError("the question is empty; write a SELECT")
    return tokens


def _unfinished(sql: str, error: TokenError) -> QueryError:
    place = re.fullmatch(
        r"Missing (.*) from \d+:(\d+)", str(error.__cause__), re.DOTALL
    )
    if place is None:
        return QueryError(
            "the SQL cannot be read; check its quotes, comments and numbers"
        )
    message = f"a quote or a comment that starts here is not closed; add {place[1]}"
    return QueryText(sql, ()).problem_at(message, int(place[2]))


def _statement(sql: str, tokens: list[Token]) -> list[Token]:
    """The tokens of the one statement, without a semicolon at its end."""
    text = QueryText(sql, tuple(tokens))
    end = len(tokens)
    while end and tokens[end - 1].token_type == TokenType.SEMICOLON:
        end -= 1
    tokens = tokens[:end]
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            raise text.problem_at(
                "only one statement is allowed; ask what follows the semicolon as a "
                "separate question",
                token.start,
            )
    if not tokens:
        raise QueryError("the question is empty; write a SELECT")
    return tokens


def _check_words(text: QueryText) -> None:
    tokens = text.tokens
    if tokens[0].text.upper() not in FIRST:
        raise text.problem_at(
            "only SELECT and EXPLAIN SELECT are allowed; start with SELECT",
            tokens[0].start,
        )
    if len(tokens) > WORDS:
        raise QueryError(
            f"the question has {len(tokens):,} words, and the limit is {WORDS:,}; "
            "shorten it, or split it into several questions"
        )
    # sqlglot reads a[1][1]… in quadratic time.
    if (
        _depth(tokens) > DEEPEST
        or sum(token.token_type == TokenType.L_BRACKET for token in tokens) > TALLEST
    ):
        raise QueryError(NESTED)
    _check_joins(text)
    for token in tokens:
        if token.token_type in NAMES and len(token.text) > LONGEST_NAME:
            message = (
                f"this name has {len(token.text):,} characters, and the limit is "
                f"{LONGEST_NAME}; use a shorter name"
            )
            raise text.problem_at(message, token.start)
    for one, after in itertools.pairwise(tokens):
        if (
            one.token_type == TokenType.NUMBER
            and after.start == one.end + 1
            and after.text[:1].isalpha()
        ):
            raise text.problem_at(
                "this number cannot be read; write it in decimal digits", one.start
            )
        if one.token_type == TokenType.INTERVAL and len(after.text) > LONGEST_INTERVAL:
            # sqlglot's pattern for it takes time that grows with the square of its
            # length.
            raise text.problem_at(
                "this INTERVAL cannot be read; write INTERVAL 3 DAY", one.start
            )


def _depth(tokens: Iterable[Token]) -> int:
    """How deep brackets and CASE are nested."""
    deepest = depth = 0
    for token in tokens:
        depth += token.token_type in OPENING or token.token_type == TokenType.CASE
        depth -= token.token_type in CLOSING or token.token_type == TokenType.END
        deepest = max(deepest, depth)
    return deepest


def _check_joins(text: QueryText) -> None:
    """sqlglot reads JOINs without ON in every possible order, which takes time that
    doubles with each of them.
    """
    loose = [0]
    for before, token in itertools.pairwise(text.tokens):
        match token.token_type:
            case kind if kind in OPENING:
                loose.append(0)
            case kind if kind in CLOSING and len(loose) > 1:
                loose.pop()
            case TokenType.FROM:
                loose[-1] = 0
            case TokenType.ON | TokenType.USING:
                loose[-1] = max(0, loose[-1] - 1)
            case TokenType.JOIN if before.token_type != TokenType.CROSS:
                loose[-1] += 1
        if loose[-1] > LOOSE_JOINS:
            raise text.problem_at(
                "some JOINs are not followed by their own ON; write JOIN … ON … for one "
                "table after the other",
                token.start,
            )


def _read(text: QueryText) -> exp.Expr:
    try:
        trees = Parser(dialect="duckdb").parse(list(text.tokens), text.sql)
    except ParseError as error:
        raise _unreadable(text, error) from None
    except RecursionError:
        raise QueryError(NESTED) from None
    except Exception:
        # Sqlglot trips over some things that it did not expect, such as FLOOR()[1]
        raise QueryError(
            "the SQL cannot be read; check its parentheses and the arguments of its "
            "functions"
        ) from None
    tree = trees[0] if len(trees) == 1 else None
    if not isinstance(tree, exp.Query):
        raise text.problem(
            "only SELECT and EXPLAIN SELECT are allowed; start with SELECT", tree
        )
    return tree


def _unreadable(text: QueryText, error: ParseError) -> QueryError:
    """sqlglot's complaint in plain words, at its place."""
    found = error.errors[0] if error.errors else {}
    what = str(found.get("description") or "")
    reason = (
        f"; {what.split()[1]} is missing"
        if re.fullmatch(r"Expecting \S+", what)
        else ""
    )
    place = (found.get("line"), found.get("col"))
    start = next(
        (token.start for token in text.tokens if (token.line, token.col) == place),
        None,
    )
    return text.problem_at(
        f"the SQL cannot be read here{reason}; check this word and the one before it",
        start,
    )


def _check_height(tree: exp.Expr, text: QueryText) -> None:
    """The tree's height, where a chain of AND, OR or UNION ALL counts once."""
    level = [(tree, 0)]
    while level:
        node, height = level.pop()
        if height > TALLEST:
            raise text.problem(NESTED)
        for child in node.iter_expressions():
            level.append(
                (
                    child,
                    height
                    + (not (isinstance(child, CHAINS) and type(child) is type(node))),
                )
            )
