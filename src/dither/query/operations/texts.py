"""Texts: their functions and patterns.

Python's own rules for upper and lower case are used for released keys only; over rows,
the engine's rules decide.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

from sqlglot import exp

from dither.query.catalogue.limits import LONGEST_TEXT
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations.arguments import (
    TRUTH,
    TypeProblem,
    describe,
    expect,
    is_null,
    literal,
    null,
    of_type,
    typed,
)
from dither.query.operations.expressions import Call, Expr, Literal
from dither.query.operations.reading import BINARY, Reading, Written, constant
from dither.query.operations.record import Builder, Operation, Options, register
from dither.query.operations.writing import (
    BYTES,
    Args,
    Spelling,
    Writer,
    function,
    quoted,
)

__all__: list[str] = []

ESCAPE = "\\"
WILDCARDS = 10
LONGEST_PATTERN = 1_000
LONGEST = 65_536
"""Letters of a text that is put together. Texts that are doubled again and again would
fill the memory otherwise.
"""
LONG = 1 << 22
"""Letters that PostgreSQL looks at: with longer strings it would need many times their
memory, and fail.
"""
FAR = 2**32 - 1
POSTGRES_FAR = SPARK_FAR = 2**31 - 1
"""The largest place in a string that can be named to an engine."""
SPARK_BACKSLASH = r"\\"
"""In a literal of Spark a backslash is written twice."""


# Reading


def _read_trim(op: str, position: str = "") -> Callable[[Written], Expr | None]:
    """TRIM, LTRIM and RTRIM are one node; without a position it is both ends."""

    def bind(written: Written) -> Expr | None:
        if written.node.expression is not None:
            raise written.problem("TRIM only removes spaces; write TRIM(x)")
        found = str(written.node.args.get("position")).upper()
        one_end = found if found in ("LEADING", "TRAILING") else ""
        return written.call(op, written.arg()) if one_end == position else None

    return bind


def _duckdb_trim(name: str) -> Writer:
    """DuckDB takes other blanks for one as well, such as U+00A0, unless told which."""
    return lambda _, args, __: f"{name}({args[0]}, ' ')"


def _read_concat(written: Written) -> Expr:
    """CONCAT leaves NULLs out, unlike ||."""
    parts = written.many()
    texts = [written.call("coalesce", part, literal("")) for part in parts]
    return written.call("concat", *texts)


def _read_substring(written: Written) -> Expr:
    node, binder = written.node, written.binder
    length = node.args.get("length")
    start = binder.whole(node.args.get("start"), "the start of SUBSTRING")
    count = None if length is None else binder.whole(length, "the length of SUBSTRING")
    return written.call("substring", written.arg(), options=(start, count))


def _read_left(written: Written) -> Expr:
    count = written.binder.whole(written.node.expression, "the length of LEFT")
    return written.call("substring", written.arg(), options=(1, count))


def _matched(written: Written, op: str, node: exp.Expr, escape: str | None) -> Expr:
    binder = written.binder
    text, pattern = binder.bind(node.this), binder.bind(node.expression)
    found = binder.call(node, op, text, pattern, options=(escape,))
    return binder.call(node, "not", found) if node.args.get("negate") else found


def _read_escape(op: str, kind: type[exp.Expr]) -> Callable[[Written], Expr | None]:
    """x LIKE … ESCAPE …: the escape character is around the pattern's node."""

    def bind(written: Written) -> Expr | None:
        inner, sign = written.node.this, constant(written.node.expression)
        if not isinstance(inner, exp.Like | exp.ILike) or not isinstance(sign, str):
            raise written.problem(
                "ESCAPE needs LIKE or ILIKE before it and one character after it; write "
                "x LIKE '5!%' ESCAPE '!'"
            )
        if not isinstance(inner, kind):
            return None
        written.binder.only(inner, *BINARY, "negate")
        return _matched(written, op, inner, sign)

    return bind


# Types


def _texts(what: str, args: tuple[Expr, ...], count: int) -> tuple[Expr, ...]:
    expect(what, args, count)
    return tuple(_text(what, arg) for arg in args)


def _text(what: str, arg: Expr) -> Expr:
    if not of_type(arg, Type.TEXT):
        raise TypeProblem(
            f"{what} needs a string, not {describe(arg)}; write CAST(… AS TEXT) around "
            "it"
        )
    return null(Type.TEXT) if is_null(arg) else arg


def _typed(op: str, result: Type, range_: Range = ANY, count: int = 1) -> Builder:
    """A function of strings. Strings themselves have no range."""
    return lambda args, _: Call(result, range_, op, _texts(op.upper(), args, count))


def _concat(args: tuple[Expr, ...], _: Options) -> Expr:
    if not args:
        raise TypeProblem("|| needs two strings; write a || b")
    return Call(Type.TEXT, ANY, "concat", tuple(_text("||", arg) for arg in args))


def _substring(args: tuple[Expr, ...], options: Options) -> Expr:
    args = _texts("SUBSTRING", args, 1)
    start, length = (*options, None)[:2]
    if not isinstance(start, int) or not isinstance(length, int | None):
        raise TypeProblem(
            "SUBSTRING takes constant whole numbers; write SUBSTRING(x, 1, 3)"
        )
    if length is not None and length < 0:
        raise TypeProblem(
            "the length of a SUBSTRING cannot be negative; write SUBSTRING(x, 1, 3)"
        )
    start = max(-FAR, min(start, FAR))
    length = None if length is None else min(length, FAR)
    return Call(Type.TEXT, ANY, "substring", args, (start, length))


def _like(op: str) -> Builder:
    """A constant pattern. Whatever the escape character was, it is ESCAPE afterwards,
    or there is none.
    """

    def build(args: tuple[Expr, ...], options: Options) -> Expr:
        value, pattern = _texts(op.upper(), args, 2)
        if not isinstance(pattern, Literal):
            raise TypeProblem(
                f"{op.upper()} needs a constant pattern; write x {op.upper()} "
                "'A%', or CONTAINS(x, y)"
            )
        if pattern.value is None:
            return null(Type.BOOLEAN)
        signs = _signs(pattern.value, options[0] if options else None)
        _limit(op, signs)
        escaped = any(plain and sign in "%_" for sign, plain in signs)
        text = "".join(_escaped(sign, plain, escaped) for sign, plain in signs)
        args = (value, typed(text, Type.TEXT))
        return Call(Type.BOOLEAN, TRUTH, op, args, (ESCAPE if escaped else None,))

    return build


def _signs(pattern: str, escape: str | None) -> list[tuple[str, bool]]:
    """The pattern's characters, each with whether it certainly stands for itself."""
    if escape is None:
        return [(sign, False) for sign in pattern]
    if len(escape) != 1:
        raise TypeProblem("ESCAPE takes one character; write ESCAPE '!'")
    found, signs = [], iter(pattern)
    for sign in signs:
        if sign != escape:
            found.append((sign, False))
        elif (following := next(signs, None)) is not None:
            found.append((following, True))
        else:
            raise TypeProblem(
                "the pattern ends with its escape character; write that character twice"
            )
    return found


def _escaped(sign: str, plain: bool, escaped: bool) -> str:
    if escaped and (sign == ESCAPE or (plain and sign in "%_")):
        return ESCAPE + sign
    return sign


def _limit(op: str, signs: list[tuple[str, bool]]) -> None:
    """Many % signs, or a very long pattern, can make matching one row take almost
    infinite time.
    """
    if len(signs) > LONGEST_PATTERN:
        raise TypeProblem(
            f"a pattern may have at most {LONGEST_PATTERN:,} characters; combine shorter "
            f"ones: x {op.upper()} 'a%' AND …"
        )
    if sum(sign == ("%", False) for sign in signs) > WILDCARDS:
        raise TypeProblem(
            f"a pattern may have at most {WILDCARDS} % signs; combine shorter ones: x "
            f"{op.upper()} 'a%' AND …"
        )


# Python


def _python_concat(*texts: str) -> str:
    return "".join(texts)


def _python_substring(text: str, start: int, length: int | None) -> str:
    """Counted from 1; a negative start counts from the end, and what lies before the
    text is empty.
    """
    first = start - 1 if start >= 0 else start + len(text)
    last = len(text) if length is None else first + length
    return text[max(first, 0) : max(last, 0)]


def _python_like(text: str, pattern: str, escape: str | None, flags: int = 0) -> bool:
    """Each part between % is found once, from left to right (an atomic group): trying
    all ways would take almost infinite time.
    """
    parts, signs = [""], iter(pattern)
    for sign in signs:
        if sign == escape:
            parts[-1] += re.escape(next(signs, ""))
        elif sign == "%":
            parts.append("")
        else:
            parts[-1] += "." if sign == "_" else re.escape(sign)
    first, *others = parts
    middle = "".join(f"(?>.*?{part})" for part in others[:-1])
    last = "".join(f".*{part}" for part in others[-1:])
    return re.fullmatch(first + middle + last, text, re.DOTALL | flags) is not None


def _python_ilike(text: str, pattern: str, escape: str | None) -> bool:
    return _python_like(text, pattern, escape, re.IGNORECASE)


# SQL


def _cut(sql: str, length: int) -> str:
    return f"left({sql}, {length})"


def _postgres_trim(name: str) -> Writer:
    return lambda _, args, __: f"{name}({_cut(args[0], LONG)})"


def _postgres_case(name: str) -> Writer:
    return lambda _, args, spelling: _in_case(name, args[0], spelling)


def _in_case(name: str, sql: str, spelling: Spelling) -> str:
    """Lower or upper case by the rules of the collation; compared byte by byte again
    afterwards.
    """
    collation = quoted(spelling.collation)
    return f"({name}({_cut(sql, LONG)} COLLATE {collation}) {BYTES})"


def _postgres_concat(_: Call, args: Args, __: Spelling) -> str:
    """Each part is cut as well: PostgreSQL fails to make a text of more than 1 GB, even
    if only its begin is wanted.
    """
    parts = [_cut(arg, LONGEST) for arg in args]
    return _cut(" || ".join(parts), LONGEST)


def _duckdb_substring(expr: Call, args: Args, _: Spelling) -> str:
    kept = [str(option) for option in expr.options if option is not None]
    return f"substring({', '.join([args[0], *kept])})"


def _postgres_substring(expr: Call, args: Args, _: Spelling) -> str:
    """Counted from 1; a negative start counts from the end, where a length may end
    before the text begins.
    """
    start, length = expr.options
    far = POSTGRES_FAR
    if start > far:
        return f"left({args[0]}, 0)"
    if start >= 0:
        count = "" if length is None else f", {min(length, far)}"
        return f"substr({args[0]}, {start}{count})"
    tail = f"right({args[0]}, {min(-start, far)})"
    if length is None or start + length >= 0:
        return tail
    return f"left({tail}, {max(start + length, -far)})"


def _spark_substring(expr: Call, args: Args, _: Spelling) -> str:
    """Counted from 1. To Spark a start of 0 is 1; here it is the place before the text."""
    start, length = expr.options
    if start == 0:
        start, length = 1, length if length is None else max(length - 1, 0)
    far = SPARK_FAR
    kept = [max(-far, min(start, far)), *([] if length is None else [min(length, far)])]
    return f"substring({', '.join([args[0], *map(str, kept)])})"


def _duckdb_like(word: str) -> Writer:
    """Without ESCAPE, no character escapes another one there."""

    def write(expr: Call, args: Args, _: Spelling) -> str:
        escape = f" ESCAPE '{ESCAPE}'" if expr.options[0] else ""
        return f"({args[0]} {word} {args[1]}{escape})"

    return write


def _postgres_like(expr: Call, args: Args, _: Spelling) -> str:
    """Without ESCAPE, a backslash would be the escape character."""
    return f"({args[0]} LIKE {args[1]} ESCAPE '{expr.options[0] or ''}')"


def _postgres_ilike(expr: Call, args: Args, spelling: Spelling) -> str:
    """Its own ILIKE would go by the collation of the arguments, in which only ASCII has
    cases.
    """
    lowered = [_in_case("lower", arg, spelling) for arg in args]
    return _postgres_like(expr, lowered, spelling)


def _spark_like(word: str) -> Writer:
    r"""A pattern without an escape character is given one that it does not hold:
    Spark's own would be \.
    """

    def write(expr: Call, args: Args, _: Spelling) -> str:
        escape = SPARK_BACKSLASH if expr.options[0] else _absent(expr.args[1])
        return f"({args[0]} {word} {args[1]} ESCAPE '{escape}')"

    return write


def _absent(pattern: Expr) -> str:
    held = pattern.value if isinstance(pattern, Literal) else ""
    signs = map(chr, range(ord("!"), 0x10000))
    return next(sign for sign in signs if _plain(sign) and sign not in held)


def _plain(sign: str) -> bool:
    """Whether a sign can stand in a literal of Spark, and means nothing in a pattern or
    in another case.
    """
    return sign not in "'\\%_$" and not sign.isalpha()


register(
    Operation(
        "lower",
        reads=(Reading(exp.Lower),),
        functions=("LOWER",),
        build=_typed("lower", Type.TEXT),
        python=str.lower,
        sql=function("lower"),
        postgres=_postgres_case("lower"),
    ),
    Operation(
        "upper",
        reads=(Reading(exp.Upper),),
        functions=("UPPER",),
        build=_typed("upper", Type.TEXT),
        python=str.upper,
        sql=function("upper"),
        postgres=_postgres_case("upper"),
    ),
    Operation(
        "length",
        reads=(Reading(exp.Length),),
        functions=("LENGTH",),
        build=_typed("length", Type.INTEGER, Range(0, None)),
        python=len,
        sql=lambda _, args, to: to.cast(f"length({args[0]})", Type.INTEGER),
        duckdb=function("length"),
    ),
    Operation(
        "ltrim",
        reads=(
            Reading(
                exp.Trim, BINARY, ("position",), bind=_read_trim("ltrim", "LEADING")
            ),
        ),
        functions=("LTRIM",),
        build=_typed("ltrim", Type.TEXT),
        python=lambda text: text.lstrip(" "),
        sql=function("ltrim"),
        duckdb=_duckdb_trim("ltrim"),
        postgres=_postgres_trim("ltrim"),
    ),
    Operation(
        "rtrim",
        reads=(
            Reading(
                exp.Trim, BINARY, ("position",), bind=_read_trim("rtrim", "TRAILING")
            ),
        ),
        functions=("RTRIM",),
        build=_typed("rtrim", Type.TEXT),
        python=lambda text: text.rstrip(" "),
        sql=function("rtrim"),
        duckdb=_duckdb_trim("rtrim"),
        postgres=_postgres_trim("rtrim"),
    ),
    Operation(
        "trim",
        reads=(Reading(exp.Trim, BINARY, ("position",), bind=_read_trim("trim")),),
        functions=("TRIM",),
        build=_typed("trim", Type.TEXT),
        python=lambda text: text.strip(" "),
        sql=function("trim"),
        duckdb=_duckdb_trim("trim"),
        postgres=_postgres_trim("btrim"),
    ),
    Operation(
        "reverse",
        reads=(Reading(exp.Reverse),),
        functions=("REVERSE",),
        build=_typed("reverse", Type.TEXT),
        python=lambda text: text[:LONGEST][::-1],
        sql=lambda _, args, __: f"reverse({_cut(args[0], LONGEST)})",
        # DuckDB's own REVERSE keeps an accent after its letter. The others, and
        # Python, turn every character round, so DuckDB is told to do the same. Its list
        # takes many times the memory of the text, which is why the text is cut.
        duckdb=lambda _, args, __: (
            "array_to_string(list_reverse(string_split("
            f"{_cut(args[0], LONGEST)}, '')), '')"
        ),
    ),
    Operation(
        "concat",
        reads=(
            Reading(exp.DPipe, BINARY, ("safe",)),
            Reading(
                exp.Concat, ("expressions",), ("safe", "coalesce"), bind=_read_concat
            ),
        ),
        functions=("CONCAT",),
        sign="||",
        build=_concat,
        largest=LONGEST_TEXT,
        python=_python_concat,
        sql=lambda _, args, __: _cut(" || ".join(args), LONGEST),
        postgres=_postgres_concat,
    ),
    Operation(
        "substring",
        reads=(
            Reading(exp.Substring, also=("start", "length"), bind=_read_substring),
            Reading(exp.Left, BINARY, bind=_read_left),
        ),
        functions=("SUBSTRING", "LEFT"),
        build=_substring,
        python=_python_substring,
        duckdb=_duckdb_substring,
        postgres=_postgres_substring,
        spark=_spark_substring,
    ),
    Operation(
        "like",
        reads=(
            Reading(
                exp.Like,
                BINARY,
                ("negate",),
                bind=lambda written: _matched(written, "like", written.node, None),
            ),
            Reading(exp.Escape, BINARY, bind=_read_escape("like", exp.Like)),
        ),
        build=_like("like"),
        python=_python_like,
        duckdb=_duckdb_like("LIKE"),
        postgres=_postgres_like,
        spark=_spark_like("LIKE"),
    ),
    Operation(
        "ilike",
        reads=(
            Reading(
                exp.ILike,
                BINARY,
                ("negate",),
                bind=lambda written: _matched(written, "ilike", written.node, None),
            ),
            Reading(exp.Escape, BINARY, bind=_read_escape("ilike", exp.ILike)),
        ),
        build=_like("ilike"),
        python=_python_ilike,
        duckdb=_duckdb_like("ILIKE"),
        postgres=_postgres_ilike,
        spark=_spark_like("ILIKE"),
    ),
    Operation(
        "starts_with",
        reads=(Reading(exp.StartsWith, BINARY), Reading("PREFIX", count=2)),
        functions=("STARTS_WITH",),
        build=_typed("starts_with", Type.BOOLEAN, TRUTH, 2),
        python=str.startswith,
        sql=function("starts_with"),
        spark=function("startswith"),
    ),
    Operation(
        "contains",
        reads=(Reading(exp.Contains, BINARY),),
        functions=("CONTAINS",),
        build=_typed("contains", Type.BOOLEAN, TRUTH, 2),
        python=operator.contains,
        sql=function("contains"),
        postgres=lambda _, args, __: f"(strpos({args[0]}, {args[1]}) > 0)",
    ),
)
