"""What cannot be asked: why, and what to write instead. Whatever is not on the
allow-list ends here.
"""

from __future__ import annotations

import difflib

from sqlglot import exp

from dither.errors import QueryError
from dither.query.operations.calls import FUNCTIONS as OPERATIONS
from dither.query.sql.text import QueryText

__all__ = ["CLAUSES", "only", "refuse", "unknown"]

CLOCK = (
    "the answer would depend on the clock; write the date itself, "
    "such as DATE '2024-01-31'"
)
PATTERN = "only LIKE and ILIKE patterns can be asked; write x LIKE 'A%'"
NESTED = "lists, structures and documents cannot be read; ask about plain columns"
BITS = "operations on bits cannot be asked; use arithmetic"
SCALAR = (
    "a SELECT inside an expression would carry other units' data into this row; "
    "ask it as a question of its own and write its answer here"
)
INSTEAD: dict[type[exp.Expr], str] = {
    exp.Window: (
        "a window function looks at the rows of other units; use GROUP "
        "BY with an aggregate instead"
    ),
    exp.Exists: "EXISTS stands only in WHERE, joined to the rest by AND; move it there",
    exp.Subquery: SCALAR,
    exp.Select: SCALAR,
    exp.Any: "ANY cannot be asked; write x IN (…), or conditions joined by OR",
    exp.All: "ALL cannot be asked; compare with a constant",
    exp.Placeholder: "a placeholder has no value here; write the value itself",
    exp.Parameter: "a parameter has no value here; write the value itself",
    exp.CurrentDate: CLOCK,
    exp.CurrentTime: CLOCK,
    exp.CurrentTimestamp: CLOCK,
    exp.Rand: "the answer would depend on chance beyond its noise; leave RANDOM out",
    exp.RegexpLike: PATTERN,
    exp.RegexpILike: PATTERN,
    exp.SimilarTo: PATTERN,
    exp.Glob: PATTERN,
    exp.Collate: "texts are compared exactly; write LOWER(x) to compare without case",
    exp.Star: "* stands only in COUNT(*) and in a SELECT inside FROM; name the columns",
    exp.Interval: (
        "an INTERVAL can only be added to or subtracted from a date; "
        "write d + INTERVAL 3 DAY"
    ),
    exp.Array: NESTED,
    exp.Bracket: NESTED,
    exp.Dot: NESTED,
    exp.Struct: NESTED,
    exp.JSONExtract: NESTED,
    exp.JSONExtractScalar: NESTED,
    exp.Tuple: (
        "a row of several values cannot be compared; compare its columns "
        "one by one, joined by AND"
    ),
    exp.Alias: "a name can be given only to a whole item of SELECT; leave AS out here",
    exp.Distinct: "DISTINCT stands only after SELECT and in COUNT(DISTINCT x)",
    exp.GroupingSets: (
        "GROUPING SETS cannot be asked; ask one question for each grouping"
    ),
    exp.Rollup: "ROLLUP cannot be asked; ask one question for each grouping",
    exp.Cube: "CUBE cannot be asked; ask one question for each grouping",
    exp.BitwiseXor: "XOR cannot be asked; write (a OR b) AND NOT (a AND b)",
    exp.BitwiseAnd: BITS,
    exp.BitwiseOr: BITS,
    exp.BitwiseNot: BITS,
    exp.BitwiseLeftShift: BITS,
    exp.BitwiseRightShift: BITS,
    exp.Order: "an aggregate has no order; leave ORDER BY out of it",
    exp.Lateral: "LATERAL cannot be asked; write JOIN … ON with the unit's id",
    exp.Unnest: NESTED,
    exp.Xor: "XOR cannot be asked; write (a OR b) AND NOT (a AND b)",
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
            (
                f"{name} has no private form; use COUNT, SUM, AVG, MIN, MAX, "
                "MEDIAN, QUANTILE_CONT, STDDEV or CORR"
            ),
            node,
        )
    if isinstance(node, exp.Anonymous):
        return text.problem(
            f"there is no function {node.name.upper()}; {_known(node.name.upper())}",
            node,
        )
    if isinstance(node, exp.Func):
        return text.problem(
            f"the function {name} cannot be asked; {_known(name)}", node
        )
    return text.problem(
        (
            f"{name} cannot be asked; write it with comparisons, arithmetic, "
            "CASE and functions"
        ),
        node,
    )


def _close(name: str) -> list[str]:
    return difflib.get_close_matches(name, FUNCTIONS, n=1, cutoff=0.75)


def _known(name: str) -> str:
    close = _close(name)
    if close and close[0] != name:
        return f"did you mean {close[0]}?"
    return (
        "write it with arithmetic, CASE, and functions such as ABS, "
        "ROUND, LEAST, LOWER, SUBSTRING and DATE_TRUNC"
    )


def unknown(node: exp.Expr) -> exp.Expr | None:
    """The first call of a function that nobody knows."""
    return next(
        (
            call
            for call in node.find_all(exp.Anonymous)
            if call.name.upper() not in FUNCTIONS
        ),
        None,
    )


def only(text: QueryText, node: exp.Expr, *allowed: str) -> None:
    """Refuse a node with any part that is not read: nothing that was written is
    silently left out.
    """
    for name, value in node.args.items():
        if (
            name not in allowed
            and value is not None
            and value is not False
            and value != []
        ):
            place = value[0] if isinstance(value, list) else value
            inner = place if isinstance(place, exp.Expr) else node
            if isinstance(node, exp.Func) and name not in NAMED:
                raise text.problem(
                    f"{text.name(node)} cannot be asked with this; leave it out",
                    inner,
                )
            word = CLAUSES.get(name) or NAMED.get(name) or name.strip("_").upper()
            raise text.problem(
                f"{word} cannot be asked here; leave it out",
                inner,
                CLAUSES.get(name, ""),
            )
