"""The text of a question: where its parts stand, how they were written, and the errors
that point at them. What is not on the allow-list is refused here, with what to write
instead.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sqlglot import Token, TokenType, exp

from dither.errors import QueryError
from dither.query.operations.calls import FUNCTIONS as OPERATIONS

__all__ = [
    "CLAUSES",
    "CLOCK",
    "CLOSING",
    "NAMED",
    "OPENING",
    "QueryText",
    "refuse",
    "unknown",
]

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

    def argument(self, node: exp.Expr, names: frozenset[str]) -> str:
        """The first argument of such a call as it was written; empty if the call is not
        found.
        """
        start = self._start(node)
        first = None if start is None else self._function(start, names)
        if first is None:
            return ""
        opening = first + 1
        inside = range(opening + 1, self._closing(opening))
        commas = (
            index
            for index in inside
            if self.tokens[index].token_type == TokenType.COMMA
            and self._brackets[0].get(index) == opening
        )
        argument = list(self.tokens[opening + 1 : next(commas, inside.stop)])
        return self._between(argument) if argument else ""

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


CLOCK = (
    "the answer would depend on the clock; write a constant date, "
    "such as DATE '2024-01-31'"
)
PATTERN = "only LIKE and ILIKE patterns are supported; write x LIKE 'A%'"
NESTED = "lists, structs and JSON values are not supported; use columns of plain values"
BITS = "bitwise operators are not supported; use arithmetic"
SCALAR = (
    "a subquery in an expression would carry other units' data into this row; "
    "ask it as a separate question and write its answer here"
)
INSTEAD: dict[type[exp.Expr], str] = {
    exp.Window: (
        "window functions are not supported, because they look at the rows of "
        "other units; use GROUP BY with an aggregate instead"
    ),
    exp.Exists: (
        "EXISTS is allowed only in WHERE, alone or combined with other conditions "
        "by AND; move it there"
    ),
    exp.Subquery: SCALAR,
    exp.Select: SCALAR,
    exp.Any: "ANY is not supported; write x IN (…), or conditions joined by OR",
    exp.All: "ALL is not supported; compare with a constant",
    exp.Placeholder: "placeholders are not supported; write the value itself",
    exp.Parameter: "parameters are not supported; write the value itself",
    exp.CurrentDate: CLOCK,
    exp.CurrentTime: CLOCK,
    exp.CurrentTimestamp: CLOCK,
    exp.Rand: (
        "random functions are not supported, because only the noise of an answer "
        "may be random; remove RANDOM"
    ),
    exp.RegexpLike: PATTERN,
    exp.RegexpILike: PATTERN,
    exp.SimilarTo: PATTERN,
    exp.Glob: PATTERN,
    exp.Collate: "COLLATE is not supported; write LOWER(x) to ignore case",
    exp.Star: (
        "* is allowed only in COUNT(*) and in a subquery in FROM; name the columns"
    ),
    exp.Interval: (
        "an INTERVAL can only be added to a date or subtracted from it; "
        "write d + INTERVAL 3 DAY"
    ),
    exp.Array: NESTED,
    exp.Bracket: NESTED,
    exp.Dot: NESTED,
    exp.Struct: NESTED,
    exp.JSONExtract: NESTED,
    exp.JSONExtractScalar: NESTED,
    exp.Tuple: (
        "rows of several values cannot be compared; compare the columns "
        "one by one, combined by AND"
    ),
    exp.Alias: "AS is allowed only after a whole item of SELECT; remove it here",
    exp.Distinct: (
        "DISTINCT is allowed only after SELECT and in COUNT(DISTINCT x); remove it here"
    ),
    exp.GroupingSets: (
        "GROUPING SETS is not supported; ask one question for each grouping"
    ),
    exp.Rollup: "ROLLUP is not supported; ask one question for each grouping",
    exp.Cube: "CUBE is not supported; ask one question for each grouping",
    exp.BitwiseXor: "XOR is not supported; write (a OR b) AND NOT (a AND b)",
    exp.BitwiseAnd: BITS,
    exp.BitwiseOr: BITS,
    exp.BitwiseNot: BITS,
    exp.BitwiseLeftShift: BITS,
    exp.BitwiseRightShift: BITS,
    exp.Order: "ORDER BY is not supported inside an aggregate; remove it",
    exp.Lateral: "LATERAL is not supported; write JOIN … ON with the unit's id",
    exp.Unnest: NESTED,
    exp.Xor: "XOR is not supported; write (a OR b) AND NOT (a AND b)",
}

AGGREGATES = (
    "COUNT COUNT_IF SUM AVG MIN MAX MEDIAN QUANTILE_CONT QUANTILE_DISC VAR_SAMP VAR_POP "
    "STDDEV_SAMP STDDEV_POP COVAR_SAMP COVAR_POP CORR"
)
FUNCTIONS = OPERATIONS | set(AGGREGATES.split())
CLAUSES = {
    "limit": "LIMIT",
    "offset": "OFFSET",
    "order": "ORDER BY",
    "qualify": "QUALIFY",
    "windows": "WINDOW",
    "sample": "SAMPLE",
    "into": "INTO",
    "locks": "FOR",
    "laterals": "LATERAL",
    "pivots": "PIVOT",
    "having": "HAVING",
    "distinct": "DISTINCT",
    "with_": "WITH",
}
NAMED = {
    "by_name": "BY NAME",
    "limit_options": "this kind of LIMIT",
    "db": "a schema",
    "when": "AT",
    "except_": "EXCLUDE",
}
WORDS: dict[type[exp.Expr], str] = {
    exp.Exists: "EXISTS",
    exp.Rollup: "ROLLUP",
    exp.Cube: "CUBE",
    exp.GroupingSets: "GROUPING SETS",
    exp.Order: "ORDER BY",
    exp.Lateral: "LATERAL",
}


def refuse(text: QueryText, node: exp.Expr) -> QueryError:
    """The error for a construct that is not on the allow-list."""
    if isinstance(node, exp.IgnoreNulls | exp.RespectNulls):
        return refuse(text, node.this)
    if type(node) in INSTEAD:
        return text.problem(INSTEAD[type(node)], node, WORDS.get(type(node), ""))
    name = text.name(node)
    if isinstance(node, exp.AggFunc):
        return text.problem(
            f"the aggregate {name} is not supported; use COUNT, SUM, AVG, MIN, MAX, "
            "MEDIAN, QUANTILE_CONT, STDDEV or CORR",
            node,
        )
    if isinstance(node, exp.Anonymous):
        return text.problem(
            f"there is no function {node.name.upper()}; {_known(node.name.upper())}",
            node,
        )
    if isinstance(node, exp.Func):
        return text.problem(
            f"the function {name} is not supported; {_known(name)}", node
        )
    return text.problem(
        f"{name} is not supported; use comparisons, arithmetic, CASE or functions",
        node,
    )


def _close(name: str) -> list[str]:
    return difflib.get_close_matches(name, FUNCTIONS, n=1, cutoff=0.75)


def _known(name: str) -> str:
    close = _close(name)
    if close and close[0] != name:
        return f"did you mean {close[0]}?"
    return (
        "use arithmetic, CASE or functions such as ABS, ROUND, LEAST, LOWER, "
        "SUBSTRING and DATE_TRUNC"
    )


def unknown(node: exp.Expr) -> exp.Expr | None:
    """The first call of an unknown function, or None."""
    return next(
        (
            call
            for call in node.find_all(exp.Anonymous)
            if call.name.upper() not in FUNCTIONS
        ),
        None,
    )
