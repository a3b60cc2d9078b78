"""The text of a question: where each part of it stands, how it was written, and errors
that point at it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sqlglot import Token, TokenType, exp

from dither.errors import QueryError

__all__ = ["CLOSING", "OPENING", "QueryText"]

OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}


@dataclass(frozen=True)
class QueryText:
    """A question as it was written, and the words it consists of."""

    sql: str
    tokens: tuple[Token, ...]

    def problem(
        self, message: str, node: exp.Expr | None = None, word: str = ""
    ) -> QueryError:
        """An error at a node, or at the keyword that opens its clause."""
        start = self._start(node)
        if word and start is not None:
            start = self._keyword(word, start)
        return self.problem_at(message, start)

    def problem_at(self, message: str, start: int | None) -> QueryError:
        if start is None:
            return QueryError(message, self.sql)
        before = self.sql[:start].splitlines(keepends=True) or [""]
        if len((before[-1] + "x").splitlines()) > 1:
            before.append("")
        return QueryError(message, self.sql, len(before), len(before[-1]) + 1)

    def name(self, node: exp.Expr) -> str:
        """What a function or a construct is called in the text, for messages."""
        start, end = node.meta.get("start"), node.meta.get("end")
        if start is not None and end is not None:
            return self.sql[start : end + 1].upper()
        first = (
            self._function(self._start(node) or 0)
            if isinstance(node, exp.Func)
            else None
        )
        return node.key.upper() if first is None else self.tokens[first].text.upper()

    def items(self) -> list[str]:
        """The items of the outermost SELECT as they were written."""
        found: list[list[Token]] = []
        outermost = next(
            (
                i
                for i, token in enumerate(self.tokens)
                if token.token_type != TokenType.L_PAREN
            ),
            0,
        )
        for depth, token in self._levels():
            if not found:
                found = (
                    [[]]
                    if depth == outermost and token.token_type == TokenType.SELECT
                    else []
                )
            elif depth < outermost or (
                depth == outermost and token.token_type == TokenType.FROM
            ):
                break
            elif depth == outermost and token.token_type == TokenType.COMMA:
                found.append([])
            elif found and (
                found[-1] or token.token_type not in (TokenType.DISTINCT, TokenType.ALL)
            ):
                found[-1].append(token)
        return [self._between(item) for item in found if item]

    def call(self, node: exp.Expr, names: frozenset[str]) -> str:
        """A call of one of these functions as it was written, with its FILTER and
        WITHIN GROUP.
        """
        start = self._start(node)
        first = None if start is None else self._function(start, names)
        if first is None:
            return node.sql("duckdb")
        last = self._closing(first + 1)
        while last + 1 < len(self.tokens) and self.tokens[last + 1].text.upper() in (
            "FILTER",
            "WITHIN",
        ):
            after = last + 2 + (self.tokens[last + 1].text.upper() == "WITHIN")
            last = self._closing(after)
        return self._between(list(self.tokens[first : last + 1]))

    def _start(self, node: exp.Expr | None) -> int | None:
        """The first character of a node; of the nearest node around it where sqlglot
        kept none.
        """
        while node is not None:
            known = [part.meta["start"] for part in node.walk() if "start" in part.meta]
            if known:
                return int(min(known))
            named = self._named(node)
            if named is not None:
                return named
            node = node.parent
        return None

    def _named(self, node: exp.Expr) -> int | None:
        """The first word that is written like a node without a place, such as
        CURRENT_DATE, NULL or ?.
        """
        names = {
            node.key.upper(),
            str(node.this).upper(),
            *(node.sql_names() if isinstance(node, exp.Func) else ()),
        }
        names |= (
            {"?", "$"} if isinstance(node, exp.Placeholder | exp.Parameter) else set()
        )
        return next(
            (token.start for token in self.tokens if token.text.upper() in names), None
        )

    def _keyword(self, word: str, start: int) -> int:
        # "GROUP BY" is one token
        places = [token.start for token in self.tokens if token.text.upper() == word]
        return max(
            (place for place in places if place <= start),
            default=min(places, default=start),
        )

    def _function(self, start: int, names: frozenset[str] = frozenset()) -> int | None:
        """The token of the function at a character, or of the nearest one around it; of
        any, if no names are given.
        """
        index = self._places.get(start)
        if index is not None and self._is_call(index, names):
            return index
        while index is not None:
            index = self._brackets[0].get(index)
            if index and self._is_call(index - 1, names):
                return index - 1
        return None

    def _is_call(self, index: int, names: frozenset[str]) -> bool:
        followed = (
            index + 1 < len(self.tokens)
            and self.tokens[index + 1].token_type == TokenType.L_PAREN
        )
        word = self.tokens[index].text
        return followed and (word.upper() in names if names else word.isidentifier())

    def _closing(self, opening: int) -> int:
        return self._brackets[1].get(opening, len(self.tokens) - 1)

    @cached_property
    def _places(self) -> dict[int, int]:
        """The token that starts at a character."""
        return {token.start: index for index, token in enumerate(self.tokens)}

    @cached_property
    def _brackets(self) -> tuple[dict[int, int], dict[int, int]]:
        """For each token the bracket that is open around it, and for each opening
        bracket the one that closes it.
        """
        around: dict[int, int] = {}
        closing: dict[int, int] = {}
        stack: list[int] = []
        for index, token in enumerate(self.tokens):
            if token.token_type in CLOSING and stack:
                closing[stack.pop()] = index
            if stack:
                around[index] = stack[-1]
            if token.token_type in OPENING:
                stack.append(index)
        return around, closing

    def _levels(self) -> Iterator[tuple[int, Token]]:
        depth = 0
        for token in self.tokens:
            depth -= token.token_type in CLOSING
            yield depth, token
            depth += token.token_type in OPENING

    def _between(self, tokens: list[Token]) -> str:
        return " ".join(self.sql[tokens[0].start : tokens[-1].end + 1].split())

    @cached_property
    def depth(self) -> int:
        """How deep brackets and CASE are nested."""
        deepest = depth = 0
        for token in self.tokens:
            depth += token.token_type in OPENING or token.token_type == TokenType.CASE
            depth -= token.token_type in CLOSING or token.token_type == TokenType.END
            deepest = max(deepest, depth)
        return deepest
