r"""Strings that are read as values of a declared type, in all engines.

A string in one of these forms is a value, and any other is NULL. So engines agree,
however much more their own casts accept (`0x10`, `1_000`, `1d`, `epoch`), and none of
them rounds: "5.5" is not an integer (rule R1, R10).

The patterns are read alike by Python, DuckDB (RE2), PostgreSQL and Java: they have no
`\s` and no `\d`, which differ between them, and no flags.
"""

from __future__ import annotations

__all__ = [
    "BLANK",
    "DATES",
    "FALSE",
    "FINER",
    "INFINITE",
    "INTEGER",
    "LONGEST",
    "MISSING",
    "MOMENT",
    "NUMBER",
    "TRUE",
    "WHOLE",
    "rewritten",
]

LONGEST = 1_000
"""Longer strings are not values of another type. PostgreSQL fails to search one of
hundreds of megabytes.
"""
BLANK = r"[ \t\n\r\f\x0B]*"


def _between_blanks(form: str) -> str:
    return f"{BLANK}(?:{form}){BLANK}"


def _words(*words: str) -> str:
    """Words in upper or lower case, of ASCII only: flags would take other letters for
    these (ſ for s) in some engines.
    """
    return "|".join(
        "".join(f"[{one.upper()}{one}]" if one.isalpha() else one for one in word)
        for word in words
    )


WHOLE = _between_blanks(r"[+-]?[0-9]+(?:\.0*)?")
"""Whole numbers without an exponent, the only form of ids."""
INTEGER = _between_blanks(
    r"[+-]?(?:[0-9]+(?:\.0*)?|[0-9]{1,19}(?:\.[0-9]{0,17})?[eE]\+?[0-9]{1,2})"
)
"""Numbers that a DECIMAL(38,18) holds exactly, unless they are beyond 64 bits anyway.
One with an exponent (R writes 1e+05) has to be whole, too.
"""
NUMBER = _between_blanks(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
"""PostgreSQL certainly holds such numbers: they have at most 10,999 digits before and
after the point.
"""
INFINITE = _between_blanks(f"[+-]?(?:{_words('inf', 'infinity')})")
"""Infinite numbers become the nearest declared bound, or NULL if there is none."""
TRUE = _between_blanks(_words("true", "t", "yes", "y", "1"))
FALSE = _between_blanks(_words("false", "f", "no", "n", "0"))

MISSING = ("na", "n/a", "#n/a", "nan", "null", "none", "-", "--", "?", ".", "")
"""Signs of missing values in many files, in lower case. None is of a form."""

YEAR = "[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000"
"""0001 to 9999."""
DAY = f"({YEAR})-(0?[1-9]|1[0-2])-(0?[1-9]|[12][0-9]|3[01])"
CLOCK = r"([01]?[0-9]|2[0-3]):([0-5]?[0-9])(?::([0-5]?[0-9])(?:\.([0-9]+))?)?"
ZONE = "Z| UTC|([+-])(0[0-9]|1[0-5])(?::?([0-5][0-9]))?"
MOMENT = _between_blanks(f"{DAY}(?:[ T]{CLOCK}(?:{ZONE})?)?")
"""Dates and times as ISO 8601 writes them. The groups are year, month, day, hour,
minute, second, fraction, and the offset's sign, hours and minutes.
"""
FINER = r"\.[0-9]{6}[0-9]*[1-9]"
"""Digits of a second that a time has no place for; they are cut off."""
DATES = (
    (f"^{BLANK}([0-9]{{4}})/([0-9]{{1,2}})/([0-9]{{1,2}})($|[^0-9])", (1, 2, 3, 4)),
    (
        rf"^{BLANK}([0-9]{{1,2}})\.([0-9]{{1,2}})\.([0-9]{{4}})($|[^0-9])",
        (3, 2, 1, 4),
    ),
    (f"^{BLANK}([0-9]{{4}})([0-9]{{2}})([0-9]{{2}})({BLANK})$", (1, 2, 3, 4)),
)
"""Other unambiguous dates: 2024/1/31, 31.1.2024 (day first) and 20240131. The numbers
are the groups that hold the year, the month, the day and the rest.
"""


def rewritten(sql: str, replace: str = r"regexp_replace({}, '{}', '{}')") -> str:
    r"""A string whose date is written as in ISO 8601, if it is one of DATES.

    `replace` is an engine's function, whose replacement names groups as \1.
    """
    for pattern, (year, month, day, rest) in DATES:
        groups = rf"\{year}-\{month}-\{day}\{rest}"
        sql = replace.format(sql, pattern, groups)
    return sql
