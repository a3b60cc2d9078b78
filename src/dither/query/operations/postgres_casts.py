"""Values of one type as another in PostgreSQL: what cannot be cast is NULL, and nothing
is raised.

PostgreSQL 15 has no TRY_CAST. So a text is cast only after a regular expression has
accepted it, and a number only where the other type can hold it. Texts are numbers,
dates and times in the forms that all engines read alike.
"""

from __future__ import annotations

from dither.query.catalogue.types import Type
from dither.query.operations import forms
from dither.query.operations.writing import BYTES, named, real

__all__ = [
    "as_text",
    "of_stored",
    "of_text",
    "real_of",
    "truth_of",
    "whole_of",
    "whole_real",
]

NUMBER = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?\s*$"
"""At most 10,999 digits before and behind the point: what PostgreSQL's numbers can
certainly hold.
"""
DAY = r"([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})"
TIME = r"(?:[ T]([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]{1,9}))?)?"
ZONE = r"(?:Z| UTC|([+-])([0-9]{2})(?::?([0-9]{2}))?)?)?"
MOMENT = rf"^\s*{DAY}{TIME}{ZONE}\s*$"
TRUE = "('true', 't', 'yes', 'y', '1')"
FALSE = "('false', 'f', 'no', 'n', '0')"
LOW, HIGH = -(1 << 63), (1 << 63) - 1
BEYOND = (1 << 1024) - (1 << 970)
"""The limit above which a number is rounded to infinity."""
NOTHING = 2.48e-324
"""The limit below which a number is rounded to zero."""


def number(x: str, form: str = NUMBER) -> str:
    """A string as a number of any size."""

    def guarded(it: str) -> str:
        fits = f"{_begin(it)} ~ '{form}' AND length({it}) <= {forms.LONGEST}"
        return f"(CASE WHEN {fits} THEN CAST({it} AS numeric) END)"

    return named([x], guarded)


def _begin(x: str) -> str:
    """What is looked at of a text: PostgreSQL fails to search one of hundreds of
    megabytes.
    """
    return f"left({x}, {forms.LONGEST + 1})"


def whole_of(x: str, *, exact: bool = False) -> str:
    """A number of any size as an INTEGER: rounded, halves away from zero; or only if it
    is whole.
    """

    def guarded(n: str) -> str:
        same = f" AND {n} = round({n})" if exact else ""
        return (
            f"(CASE WHEN round({n}) BETWEEN {LOW} AND {HIGH}{same} THEN "
            f"CAST(round({n}) AS bigint) END)"
        )

    return named([x], guarded)


def real_of(x: str, *, infinite: bool = False) -> str:
    """A number of any size as a REAL. One that is too large is NULL, or infinite if
    bounds come later.
    """

    def guarded(n: str) -> str:
        ends = {">=": "", "<=": "-"}
        beyond = [
            f"WHEN {n} {sign} {minus}{BEYOND} THEN {_endless(minus, infinite)}"
            for sign, minus in ends.items()
        ]
        small = f"WHEN abs({n}) < {NOTHING} THEN 0"
        return (
            f"(CASE WHEN {n} = 'NaN' THEN NULL {' '.join(beyond)} {small} "
            f"ELSE CAST({n} AS double precision) END)"
        )

    return named([x], guarded)


def _endless(minus: str, infinite: bool) -> str:
    return f"CAST('{minus}Infinity' AS double precision)" if infinite else "NULL"


def whole_real(x: str, *, exact: bool = False) -> str:
    """A double as an INTEGER, rounded to even as all engines do; NULL where 64 bits do
    not hold it.
    """

    def guarded(it: str) -> str:
        same = f" AND {it} = trunc({it})" if exact else ""
        return (
            f"(CASE WHEN {it} >= {real(LOW)} AND {it} < {real(-LOW)}{same} "
            f"THEN CAST({it} AS bigint) END)"
        )

    return named([x], guarded)


def truth_of(x: str) -> str:
    """A string as a boolean; a plain cast would raise at any other word."""
    lowered = f"lower({_begin(x)})"
    return named(
        [lowered],
        lambda it: (
            f"(CASE WHEN {it} IN {TRUE} THEN TRUE WHEN {it} IN {FALSE} THEN FALSE END)"
        ),
    )


def of_text(x: str, type_: Type) -> str:
    """A string as another type, as a question's CAST reads it: integers are rounded,
    and an offset from UTC is ignored.
    """
    match type_:
        case Type.INTEGER:
            return whole_of(number(x))
        case Type.REAL:
            return real_of(number(x))
        case Type.BOOLEAN:
            return truth_of(x)
        case Type.DATE | Type.TIMESTAMP:
            return _moment(_begin(x), MOMENT, _plain_time(type_))
    return x


def of_stored(x: str, type_: Type, *, id: bool = False) -> str:
    """A stored text as its declared type, if it is in one of the `forms`. It may be
    infinite, since bounds come later.
    """
    match type_:
        case Type.INTEGER:
            form = forms.WHOLE if id else forms.INTEGER
            return whole_of(number(x, f"^(?:{form})$"), exact=True)
        case Type.REAL:
            return _real_of_stored(x)
        case Type.BOOLEAN:
            return _is_one_of(_begin(x), forms.TRUE, forms.FALSE)
        case Type.DATE | Type.TIMESTAMP:
            iso = forms.rewritten(_begin(x))
            form = f"^(?:{forms.MOMENT})$"
            exact = EXACT[type_] if id else ""
            return _moment(iso, form, _zoned_time(type_), exact)
    return x


def _is_one_of(x: str, true: str, false: str) -> str:
    return named(
        [x],
        lambda it: (
            f"(CASE WHEN {it} ~ '^(?:{true})$' THEN TRUE "
            f"WHEN {it} ~ '^(?:{false})$' THEN FALSE END)"
        ),
    )


def _real_of_stored(x: str) -> str:
    def guarded(it: str) -> str:
        begin = _begin(it)
        infinite = f"{begin} ~ '^(?:{forms.INFINITE})$'"
        number_ = real_of(number(it, f"^(?:{forms.NUMBER})$"), infinite=True)
        return (
            f"(CASE WHEN {infinite} THEN CAST({begin} AS double precision) "
            f"ELSE {number_} END)"
        )

    return named([x], guarded)


PARTS = ("y", "m", "d", "hour", "minute", "second")
WITHIN = (
    "y BETWEEN 1 AND 9999 AND m BETWEEN 1 AND 12 AND d BETWEEN 1 AND 31 "
    "AND hour BETWEEN 0 AND 23 AND minute BETWEEN 0 AND 59 AND second BETWEEN 0 AND 59"
)
DATE = "make_date(y, m, 1) + (d - 1)"
THAT_DAY = f"date_part('month', {DATE}) = m"
SINCE_MIDNIGHT = "((hour * 60 + minute) * 60 + second) * 1000000.0 + micro"


EXACT = {
    Type.DATE: "p[4] IS NULL",
    Type.TIMESTAMP: "coalesce(p[7], '') !~ '^[0-9]{6}0*[1-9]'",
}
"""What keeps two ids apart: no time where a day is read, and no more digits than there
is place for.
"""


def _moment(x: str, form: str, value: str, exact: str = "") -> str:
    """A date or a time from its parts: only numbers that a date can have reach the
    functions that would refuse others.

    The first of the month is always a date, and a day further on is one of the same
    month or none at all.
    """
    parts = [
        f"CAST(coalesce(p[{place}], '0') AS integer) AS {name}"
        for place, name in enumerate(PARTS, 1)
    ]
    micro = "CAST(left(rpad(coalesce(p[7], '0'), 6, '0'), 6) AS integer) AS micro"
    offset = (
        "CAST(p[8] || '1' AS integer) * (CAST(p[9] AS integer) * 60 + "
        "CAST(coalesce(p[10], '0') AS integer))"
    )
    found = f"(SELECT regexp_match({x}, '{form}') AS p OFFSET 0) found"
    which = f"p IS NOT NULL AND {exact}" if exact else "p IS NOT NULL"
    listed = (
        f"(SELECT {', '.join([*parts, micro])}, {offset} AS away FROM "
        f"{found} WHERE {which} OFFSET 0) parts"
    )
    return (
        f"(SELECT CASE WHEN {WITHIN} THEN (CASE WHEN {THAT_DAY} THEN "
        f"{value} END) END FROM {listed})"
    )


def _plain_time(type_: Type) -> str:
    return DATE if type_ is Type.DATE else _time(SINCE_MIDNIGHT)


def _zoned_time(type_: Type) -> str:
    """A time in UTC, or its day there."""
    time = _time(f"{SINCE_MIDNIGHT} - coalesce(away, 0) * 60000000.0")
    return time if type_ is Type.TIMESTAMP else f"CAST({time} AS date)"


def _time(micros: str) -> str:
    return f"CAST({DATE} AS timestamp) + ({micros}) * INTERVAL '1 microsecond'"


def as_text(x: str, type_: Type) -> str:
    """Any value as a string, compared byte by byte. A real always shows that it is one:
    1.0, as all engines write it.
    """
    if type_ is Type.TEXT:
        return x
    if type_ is not Type.REAL:
        return f"(CAST({x} AS text) {BYTES})"
    return f"({named([x], _real_text)} {BYTES})"


def _real_text(x: str) -> str:
    # PostgreSQL writes 1e+15 where the others still write all digits
    plain = f"CAST(CAST(CAST({x} AS text) AS numeric) AS text)"
    shown = (
        f"(CASE WHEN abs({x}) >= 1e15 AND abs({x}) < 1e16 THEN {plain} "
        f"ELSE CAST({x} AS text) END)"
    )
    return named(
        [shown], lambda it: f"(CASE WHEN {it} ~ '[.e]' THEN {it} ELSE {it} || '.0' END)"
    )
