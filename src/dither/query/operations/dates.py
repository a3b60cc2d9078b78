"""Dates and times. All of them stay within the years 1 to 9999; what would leave is
NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from sqlglot import exp

from dither.query.catalogue import calendar as dates
from dither.query.catalogue.types import Range, Type
from dither.query.operations import ranges
from dither.query.operations.arguments import (
    TypeProblem,
    convert,
    describe,
    expect,
    is_null,
    limits,
    literal,
    null,
    of_type,
    unify,
)
from dither.query.operations.expressions import Call, Expr, Literal
from dither.query.operations.reading import (
    BINARY,
    Reading,
    Written,
    constant,
    plain,
)
from dither.query.operations.record import Builder, Operation, Options, register
from dither.query.operations.writing import Args, Spelling, Writer

__all__ = ["between_years", "postgres_number", "spark_number"]

PARTS = {
    "quarter": Range(1, 4),
    "month": Range(1, 12),
    "day": Range(1, 31),
    "dow": Range(0, 6),
    "isodow": Range(1, 7),
    "doy": Range(1, 366),
    "week": Range(1, 53),
    "hour": Range(0, 23),
    "minute": Range(0, 59),
    "second": Range(0, 59),
}
RISING = ("year", "isoyear", "decade", "century", "epoch")
"""Parts that grow with the date, so that its ends are theirs."""
NAMES = {
    "dayofweek": "dow",
    "weekday": "dow",
    "dayofyear": "doy",
    "weekofyear": "week",
    "dayofmonth": "day",
}
NODES: dict[type[exp.Expr], str] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Week: "week",
    exp.WeekOfYear: "week",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.DayOfYear: "doy",
    exp.DayOfWeek: "dow",
    exp.DayOfWeekIso: "isodow",
    exp.Hour: "hour",
    exp.Minute: "minute",
    exp.Second: "second",
}
DAYS = {"DAY": 1, "WEEK": 7}
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120, "CENTURY": 1200}
LONGEST = 18
"""Digits of the count of an INTERVAL; no date moves that far."""
MOST_DAYS = 3_652_059
MOST_MONTHS = 120_000


# Reading


def _read_extract(written: Written) -> Expr:
    part = written.node.this
    name = part.name if isinstance(part, exp.Var | exp.Literal) else ""
    return written.call("extract", written.arg("expression"), options=(name.lower(),))


def _read_part(part: str) -> Callable[[Written], Expr]:
    return lambda written: written.call("extract", written.arg(), options=(part,))


def _read_date_part(written: Written) -> Expr:
    part, moment = written.node.expressions
    name = written.binder.constant(part, "the part of a date")
    found = written.binder.bind(moment)
    return written.call("extract", found, options=(str(name).lower(),))


def _read_day_of_week(written: Written) -> Expr:
    return written.call("extract", *written.many(), options=("dow",))


def _read_truncate(written: Written) -> Expr:
    unit = written.node.text("unit").lower()
    return written.call("date_trunc", written.arg(), options=(unit,))


def _read_difference(written: Written) -> Expr:
    """DATE_DIFF(unit, a, b) is b minus a; sqlglot reverses the arguments."""
    later, earlier = written.arg(), written.arg("expression")
    unit = written.node.text("unit").lower()
    return written.call("date_diff", earlier, later, options=(unit,))


def _read_days_between(written: Written) -> Expr | None:
    if not _is_date(written.arg()):
        return None
    return written.call("date_sub", written.arg(), written.arg("expression"))


def _is_date(expr: Expr) -> bool:
    return expr.type is Type.DATE and not is_null(expr)


def _read_shift(op: str, units: dict[str, int]) -> Callable[[Written], Expr | None]:
    """A date plus or less an INTERVAL, or a constant number of days."""

    def bind(written: Written) -> Expr | None:
        moved, other = written.arg(), plain(written.node.expression)
        sign = -1 if isinstance(written.node, exp.Sub) else 1
        if isinstance(other, exp.Interval):
            unit, count = _interval(written, other)
            if unit not in units:
                return None
            options = (sign * count * units[unit],)
            return written.binder.call(other, op, moved, options=options)
        if op != "add_days" or not _is_date(moved):
            return None
        days = _whole(written.arg("expression"))
        if days is None:
            return None
        return written.call("add_days", moved, options=(sign * days,))

    return bind


def _whole(expr: Expr) -> int | None:
    if isinstance(expr, Literal) and expr.type is Type.INTEGER:
        found: int | None = expr.value
        return found
    return None


def _interval(written: Written, node: exp.Interval) -> tuple[str, int]:
    written.binder.only(node, "this", "unit")
    known = DAYS | MONTHS
    unit = node.text("unit").upper()
    unit = unit.removesuffix("S") if unit.removesuffix("S") in known else unit
    count = str(constant(node.this))
    digits = count.removeprefix("-")
    if unit not in known or not digits.isdecimal() or len(count) > LONGEST:
        raise written.binder.problem(
            "an INTERVAL needs a whole number of days, weeks, months, "
            "quarters or years; write INTERVAL 3 DAY",
            node,
            "INTERVAL",
        )
    return unit, int(count)


# Types and ranges


def _moments(what: str, args: tuple[Expr, ...], count: int) -> tuple[Expr, ...]:
    expect(what, args, count)
    return tuple(_moment(what, arg) for arg in args)


def _moment(what: str, arg: Expr) -> Expr:
    if is_null(arg):
        return arg if arg.type is Type.TIMESTAMP else null(Type.DATE)
    if isinstance(arg, Literal) and arg.type is Type.TEXT:
        return _parsed(arg.value)
    if not of_type(arg, Type.DATE, Type.TIMESTAMP):
        raise TypeProblem(
            f"{what} needs a date, not {describe(arg)}; write CAST(… AS DATE) "
            "around a string"
        )
    return arg


def _parsed(text: str) -> Literal:
    value = dates.parse(text)
    if value is None:
        raise TypeProblem(
            "this string is not a date; write '2024-01-31' or '2024-01-31 12:00:00'"
        )
    return literal(value)


def _word(what: str, options: Options, known: tuple[str, ...]) -> str:
    written = str(options[0]).lower() if options else ""
    word = NAMES.get(written, written)
    word = word.removesuffix("s") if word not in known else word  # MONTHS is MONTH
    if word not in known:
        raise TypeProblem(
            f"{what} does not support the part {written!r:.40}; use one of "
            f"{', '.join(known)}"
        )
    return word


def _ends(expr: Expr) -> tuple[date, date]:
    """The earliest and the latest value of a date or time."""
    low, high = ranges.sides(limits(expr))
    at = dates.moment if expr.type is Type.TIMESTAMP else dates.day
    return at(int(low)), at(int(high))


def _span(first: date | None, last: date | None, type_: Type) -> Range:
    """A range from its ends; None is as far as dates go."""
    whole = dates.MICROSECONDS if type_ is Type.TIMESTAMP else dates.DAYS
    return Range(
        whole.low if first is None else dates.place(first),
        whole.high if last is None else dates.place(last),
    )


def _extract(args: tuple[Expr, ...], options: Options) -> Expr:
    args = _moments("EXTRACT", args, 1)
    part = _word("EXTRACT", options, (*RISING, *PARTS))
    result = Type.REAL if part == "epoch" else Type.INTEGER
    range_ = PARTS.get(part) or Range(
        *(dates.part(end, part) for end in _ends(args[0]))
    )
    return Call(result, range_, "extract", args, (part,))


def _truncate(args: tuple[Expr, ...], options: Options) -> Expr:
    args = _moments("DATE_TRUNC", args, 1)
    unit = _word("DATE_TRUNC", options, dates.UNITS)
    # a date has no hours to keep, but the result is asked for as a time
    if args[0].type is Type.DATE and unit in ("hour", "minute", "second"):
        args = (convert(args[0], Type.TIMESTAMP),)
    first, last = (dates.truncate(end, unit) for end in _ends(args[0]))
    return Call(
        args[0].type, _span(first, last, args[0].type), "date_trunc", args, (unit,)
    )


def _difference(args: tuple[Expr, ...], options: Options) -> Expr:
    args = unify("DATE_DIFF", _moments("DATE_DIFF", args, 2))
    unit = _word("DATE_DIFF", options, dates.UNITS)
    (earliest, latest), (first, last) = map(_ends, args)
    range_ = Range(
        dates.difference(unit, latest, first), dates.difference(unit, earliest, last)
    )
    return Call(Type.INTEGER, range_, "date_diff", args, (unit,))


def _days_between(args: tuple[Expr, ...], _: Options) -> Expr:
    args = _moments("-", args, 2)
    if any(arg.type is Type.TIMESTAMP for arg in args):
        raise TypeProblem(
            "only dates can be subtracted, not timestamps; write DATE_DIFF('hour', a, b)"
        )
    return Call(
        Type.INTEGER,
        ranges.subtract(limits(args[0]), limits(args[1])),
        "date_sub",
        args,
    )


def _count(options: Options, most: int) -> int:
    count = options[0] if options else None
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeProblem(
            "a date can only be moved by a constant; write d + INTERVAL 3 DAY"
        )
    return max(-most, min(count, most))


def _shift(op: str, later: Callable[[date, int], date | None], most: int) -> Builder:
    def build(args: tuple[Expr, ...], options: Options) -> Expr:
        args, count = _moments("INTERVAL", args, 1), _count(options, most)
        first, last = (later(end, count) for end in _ends(args[0]))
        if (first if count > 0 else last) is None:
            return null(args[0].type)  # even the nearest value is moved too far
        return Call(args[0].type, _span(first, last, args[0].type), op, args, (count,))

    return build


# SQL: arguments lie within the years 1 to 9999, and so do the results


def between_years(sql: str, type_: Type, spelling: Spelling) -> str:
    """NULL outside of the years 1 to 9999, and for the infinities."""
    whole: Range = dates.DAYS if type_ is Type.DATE else dates.MICROSECONDS
    low, high = (
        spelling.written(whole.low or 0, type_),
        spelling.written(whole.high or 0, type_),
    )
    return spelling.once(
        sql, lambda it: f"(CASE WHEN {it} BETWEEN {low} AND {high} THEN {it} END)"
    )


def _postgres_time(sql: str) -> str:
    """A date as a time: without a zone, which PostgreSQL would otherwise give it."""
    return f"CAST({sql} AS timestamp)"


def postgres_number(sql: str, type_: Type) -> str:
    """Days or microseconds since 1970, exactly."""
    if type_ is Type.DATE:
        return f"CAST({sql} - DATE '1970-01-01' AS bigint)"
    return f"CAST(extract(epoch FROM {sql}) * 1000000 AS bigint)"


def spark_number(sql: str, type_: Type) -> str:
    """Days or microseconds since 1970. (A time without a zone has to be given the
    session's, which is UTC.)
    """
    if type_ is Type.DATE:
        return f"CAST(unix_date({sql}) AS BIGINT)"
    return f"unix_micros(CAST({sql} AS TIMESTAMP))" if type_ is Type.TIMESTAMP else sql


def _duckdb_extract(expr: Call, args: Args, _: Spelling) -> str:
    if expr.options[0] == "epoch":
        return f"epoch({args[0]})"
    return f"date_part('{expr.options[0]}', {args[0]})"


def _postgres_extract(expr: Call, args: Args, _: Spelling) -> str:
    time = _postgres_time(args[0])
    if expr.options[0] == "epoch":
        micros = postgres_number(time, Type.TIMESTAMP)
        return f"(CAST({micros} AS double precision) / 1e6)"
    return f"CAST(trunc(extract({expr.options[0]} FROM {time})) AS bigint)"


SPARK_PARTS = {
    "year": "year({})",
    "quarter": "quarter({})",
    "month": "month({})",
    "day": "day({})",
    "dow": "(dayofweek({}) - 1)",
    "isodow": "(weekday({}) + 1)",
    "doy": "dayofyear({})",
    "week": "weekofyear({})",
    "isoyear": "extract(YEAROFWEEK FROM {})",
    "decade": "(year({}) div 10)",
    "century": "((year({}) + 99) div 100)",
}
SPARK_TIMES = ("hour", "minute", "second")


def _spark_extract(expr: Call, args: Args, _: Spelling) -> str:
    part, (arg,), type_ = expr.options[0], args, expr.args[0].type
    if part == "epoch":
        seconds = "* 86400e0" if type_ is Type.DATE else "/ 1e6"
        return f"({spark_number(arg, type_)} {seconds})"
    if part in SPARK_TIMES:
        return f"CAST({part}(CAST({arg} AS TIMESTAMP_NTZ)) AS BIGINT)"
    return f"CAST({SPARK_PARTS[part].format(f'CAST({arg} AS DATE)')} AS BIGINT)"


def _write_truncate(inner: str) -> Writer:
    def write(expr: Call, args: Args, spelling: Spelling) -> str:
        sql = f"date_trunc('{expr.options[0]}', {inner.format(args[0])})"
        return spelling.cast(sql, expr.type)

    return write


def _duckdb_difference(expr: Call, args: Args, _: Spelling) -> str:
    return f"date_diff('{expr.options[0]}', {args[0]}, {args[1]})"


def _postgres_difference(expr: Call, args: Args, spelling: Spelling) -> str:
    unit = expr.options[0]
    start, end = (_postgres_count(unit, arg, spelling) for arg in args)
    weeks = " / 7" if unit == "week" else ""
    return f"CAST(({end} - {start}){weeks} AS bigint)"


def _postgres_count(unit: str, sql: str, spelling: Spelling) -> str:
    """Number of starts of the unit before a moment. Weeks are counted in days."""
    if unit in dates.LENGTHS:
        seconds = dates.LENGTHS[unit] // 1_000_000
        return f"floor(extract(epoch FROM {_postgres_time(sql)}) / {seconds})"
    if unit in dates.MONTHS:
        months = "extract(year FROM {0}) * 12 + extract(month FROM {0}) - 1"
        return spelling.once(
            sql, lambda it: f"div({months.format(it)}, {dates.MONTHS[unit]})"
        )
    return f"CAST({sql} AS date)"


def _spark_difference(expr: Call, args: Args, spelling: Spelling) -> str:
    """Number of starts of the unit in between; for weeks, the number of whole weeks of
    days.
    """
    unit, type_ = expr.options[0], expr.args[0].type
    if unit in ("day", "week"):
        start, end = (f"CAST({arg} AS DATE)" for arg in args)
        days = f"CAST(datediff({end}, {start}) AS BIGINT)"
        return days if unit == "day" else f"({days} div 7)"
    start, end = (_spark_count(unit, arg, type_, spelling) for arg in args)
    return f"({end} - {start})"


def _spark_count(unit: str, sql: str, type_: Type, spelling: Spelling) -> str:
    """Number of starts of the unit up to a moment."""
    if unit in dates.MONTHS:
        day = f"CAST({sql} AS DATE)"
        months = f"(year({day}) * 12 + month({day}) - 1)"
        return f"CAST({months} div {dates.MONTHS[unit]} AS BIGINT)"
    moment = sql if type_ is Type.TIMESTAMP else f"CAST({sql} AS TIMESTAMP_NTZ)"
    length = dates.LENGTHS[unit]
    return spelling.once(
        spark_number(moment, Type.TIMESTAMP),
        lambda it: f"(({it} - pmod({it}, {length})) div {length})",
    )


Moved = Callable[[str, Call, Spelling], str]


def _write_shift(moved: Moved) -> Writer:
    """A date moved by a constant; NULL where it would leave the years 1 to 9999."""

    def write(expr: Call, args: Args, spelling: Spelling) -> str:
        reach = _reachable(expr)
        if ranges.within(limits(expr.args[0]), Range(*reach)):
            return moved(args[0], expr, spelling)
        low, high = (spelling.written(end, expr.type) for end in reach)
        return spelling.once(
            args[0],
            lambda it: (
                f"(CASE WHEN {it} BETWEEN {low} AND {high} THEN "
                f"{moved(it, expr, spelling)} END)"
            ),
        )

    return write


def _reachable(expr: Call) -> tuple[int, int]:
    """The first and the last value that can be moved, as places. (A call that can move
    none is NULL already.)
    """
    timed, count = expr.type is Type.TIMESTAMP, int(expr.options[0])
    whole = dates.MICROSECONDS if timed else dates.DAYS
    at = dates.moment if timed else dates.day
    back = dates.later_days if expr.op == "add_days" else dates.later_months
    first, last = at(int(whole.low or 0)), at(int(whole.high or 0))
    end: date = back(last if count > 0 else first, -count) or first
    if count > 0:
        return dates.place(first), dates.place(end)
    return dates.place(end), dates.place(last)


def _duckdb_moved(unit: str) -> Moved:
    def moved(sql: str, expr: Call, spelling: Spelling) -> str:
        if expr.type is Type.DATE and unit == "DAY":
            return f"({sql} + ({expr.options[0]}))"
        shifted = f"{sql} + INTERVAL ({expr.options[0]}) {unit}"
        return spelling.cast(shifted, expr.type)

    return moved


def _postgres_moved(unit: str) -> Moved:
    return lambda sql, expr, spelling: spelling.cast(
        f"{sql} + INTERVAL '{int(expr.options[0])} {unit}'", expr.type
    )


def _spark_moved(unit: str, function: str) -> Moved:
    def moved(sql: str, expr: Call, _: Spelling) -> str:
        if expr.type is Type.DATE:
            return f"{function}({sql}, {expr.options[0]})"
        return f"timestampadd({unit}, {expr.options[0]}, {sql})"

    return moved


register(
    Operation(
        "extract",
        reads=(
            Reading(exp.Extract, BINARY, bind=_read_extract),
            *(Reading(node, bind=_read_part(part)) for node, part in NODES.items()),
            Reading("DATE_PART", count=2, bind=_read_date_part),
            Reading("DATEPART", count=2, bind=_read_date_part),
            Reading("WEEKDAY", count=1, bind=_read_day_of_week),
            Reading("DOW", count=1, bind=_read_day_of_week),
        ),
        functions=(
            "EXTRACT",
            "DATE_PART",
            "YEAR",
            "QUARTER",
            "MONTH",
            "WEEK",
            "DAY",
            "DAYOFWEEK",
            "ISODOW",
            "DAYOFYEAR",
            "HOUR",
            "MINUTE",
            "SECOND",
        ),
        build=_extract,
        python=dates.part,
        duckdb=_duckdb_extract,
        postgres=_postgres_extract,
        spark=_spark_extract,
    ),
    Operation(
        "date_trunc",
        reads=(
            Reading(exp.TimestampTrunc, also=("unit",), bind=_read_truncate),
            Reading(exp.DateTrunc, also=("unit",), bind=_read_truncate),
        ),
        functions=("DATE_TRUNC",),
        build=_truncate,
        python=dates.truncate,
        # the others would give a date the session's zone, or refuse it
        duckdb=_write_truncate("{}"),
        postgres=_write_truncate("CAST({} AS timestamp)"),
        spark=_write_truncate("CAST({} AS TIMESTAMP)"),
    ),
    Operation(
        "date_diff",
        reads=(
            Reading(
                exp.DateDiff,
                BINARY,
                ("unit", "date_part_boundary"),
                bind=_read_difference,
            ),
        ),
        functions=("DATE_DIFF",),
        build=_difference,
        python=lambda start, end, unit: dates.difference(unit, start, end),
        duckdb=_duckdb_difference,
        postgres=_postgres_difference,
        spark=_spark_difference,
    ),
    Operation(
        "add_days",
        reads=(
            Reading(exp.Add, BINARY, bind=_read_shift("add_days", DAYS)),
            Reading(exp.Sub, BINARY, bind=_read_shift("add_days", DAYS)),
        ),
        build=_shift("add_days", dates.later_days, MOST_DAYS),
        python=dates.later_days,
        duckdb=_write_shift(_duckdb_moved("DAY")),
        postgres=_write_shift(_postgres_moved("day")),
        spark=_write_shift(_spark_moved("DAY", "date_add")),
    ),
    Operation(
        "add_months",
        reads=(
            Reading(exp.Add, BINARY, bind=_read_shift("add_months", MONTHS)),
            Reading(exp.Sub, BINARY, bind=_read_shift("add_months", MONTHS)),
        ),
        build=_shift("add_months", dates.later_months, MOST_MONTHS),
        python=dates.later_months,
        duckdb=_write_shift(_duckdb_moved("MONTH")),
        postgres=_write_shift(_postgres_moved("month")),
        spark=_write_shift(_spark_moved("MONTH", "add_months")),
    ),
    Operation(  # after the two above, which take a date less a number of days
        "date_sub",
        reads=(Reading(exp.Sub, BINARY, bind=_read_days_between),),
        build=_days_between,
        python=lambda end, start: dates.difference("day", start, end),
        duckdb=lambda _, args, __: f"({args[0]} - {args[1]})",
        postgres=lambda _, args, __: f"CAST({args[0]} - {args[1]} AS bigint)",
        spark=lambda _, args, __: f"CAST(datediff({args[0]}, {args[1]}) AS BIGINT)",
    ),
)
