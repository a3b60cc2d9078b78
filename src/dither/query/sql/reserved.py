"""Columns that are named like a word of SQL: an error beside such a word says how to
write the column.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from sqlglot import Token, TokenType
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError

from dither.errors import QueryError
from dither.query.catalogue.names import find

__all__ = ["with_quotes"]

NEAR = range(-2, 2)
"""How many words from the place of an error a column's name may stand."""
TYPES = (TokenType.DATE, TokenType.TIMESTAMP, TokenType.TIME)
"""Names of types, which are also names of columns without quotes."""
PLAIN = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER)


def with_quotes(error: QueryError, names: Iterable[str]) -> QueryError:
    """The error, and where a column's name beside its place is a word of SQL, that it
    can stand in quotation marks.
    """
    known = list(names)
    for token in _beside(error):
        name = find(token.text, known)
        if name is not None and token.token_type not in (*PLAIN, *TYPES):
            words = (
                f"; {name!r} is a keyword of SQL: to use it as a column, write it in "
                f'double quotes, as "{name}"'
            )
            return QueryError(error.reason + words, error.sql, error.line, error.column)
    return error


def _beside(error: QueryError) -> list[Token]:
    """The words around the place of an error, the nearest before it first."""
    try:
        tokens = Dialect.get_or_raise("duckdb").tokenize(error.sql)
    except TokenError:
        return []
    place = _place(error)
    at = sum(token.start <= place for token in tokens) - 1
    near = [at + step for step in sorted(NEAR, key=abs) if 0 <= at + step < len(tokens)]
    return [tokens[index] for index in near] if error.line else []


def _place(error: QueryError) -> int:
    """The character that the caret stands under."""
    starts = [0, *accumulate(map(len, error.sql.splitlines(keepends=True)))]
    return int(starts[min(max(error.line - 1, 0), len(starts) - 1)]) + error.column - 1
