"""What each operation does to Python values, as SQL does it: NULL is None, and what is
not finite is None.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from dither.query.catalogue import calendar as dates
from dither.query.catalogue.types import Type

__all__ = ["SOMETIMES_NULL", "STRICT", "cast", "round_half_away", "tidy"]

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
TRUTHS = {"true": True, "t": True, "yes": True, "y": True, "1": True}
FALSEHOODS = {"false": False, "f": False, "no": False, "n": False, "0": False}


def tidy(value: Any, type_: Type) -> Any:
    """The value in its type's Python form; None where it has none."""
    if value is None or type_ not in (Type.INTEGER, Type.REAL, Type.BOOLEAN):
        return value
    if type_ is Type.BOOLEAN:
        return bool(value)
    try:
        number = float(value)
    except OverflowError:
        return None
    if not math.isfinite(number):
        return None
    return int(value) if type_ is Type.INTEGER else number


def round_half_away(value: float, digits: int = 0) -> float:
    """ROUND: halves go away from zero, and digits are cut by scaling, as engines do."""
    scaled = value * 10.0**digits if digits >= 0 else value / 10.0**-digits
    if not math.isfinite(scaled):
        return value
    size = abs(scaled)
    whole = float(math.floor(size))
    whole = math.copysign(whole + 1 if size - whole >= 0.5 else whole, value)
    back = whole / 10.0**digits if digits >= 0 else whole * 10.0**-digits
    return back if math.isfinite(back) else value


def _whole_quotient(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return float(math.trunc(a / b))


def _remainder(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) % abs(b) * (1 if a >= 0 else -1)
    return math.fmod(a, b)


def _rounded(value: Any, digits: int = 0) -> Any:
    if isinstance(value, int):
        step = 10 ** max(-digits, 0)
        return (abs(value) + step // 2) // step * step * (1 if value >= 0 else -1)
    return round_half_away(value, digits)


def _substring(text: str, start: int, length: int | None) -> str:
    """Counted from 1; a negative start counts from the end, and what lies before the
    text is empty.
    """
    first = start - 1 if start >= 0 else start + len(text)
    last = len(text) if length is None else first + length
    return text[max(first, 0) : max(last, 0)]


def _like(text: str, pattern: str, escape: str | None, flags: int = 0) -> bool:
    """Each part between % is found once, from left to right (an atomic group): trying
    all ways would take for ever.
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
    rest = "".join(f"(?>.*?{part})" for part in others[:-1]) + "".join(
        f".*{part}" for part in others[-1:]
    )
    return re.fullmatch(first + rest, text, re.DOTALL | flags) is not None


def _ilike(text: str, pattern: str, escape: str | None) -> bool:
    return _like(text, pattern, escape, re.IGNORECASE)


def _concat(*texts: str) -> str:
    return "".join(texts)


def cast(value: Any, type_: Type) -> Any:
    """CAST; what cannot be cast is None."""
    if type_ is Type.TEXT:
        return _written(value)
    if isinstance(value, str):
        return _read(value, type_)
    if type_ is Type.INTEGER:
        return _held(round(value))
    if type_ is Type.DATE:
        return value.date() if isinstance(value, datetime) else value
    if type_ is Type.TIMESTAMP and not isinstance(value, datetime):
        return dates.midnight(value)
    return value


def _held(number: int) -> int | None:
    return number if -(2**63) <= number < 2**63 else None


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return str(value).rstrip("0") if value.microsecond else str(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _read(text: str, type_: Type) -> Any:
    if type_ is Type.BOOLEAN:
        return {**TRUTHS, **FALSEHOODS}.get(text.strip().lower())
    if type_ in (Type.DATE, Type.TIMESTAMP):
        found = dates.parse(text)
        return found and cast(found, type_)
    if NUMBER.fullmatch(text) is None:
        return None
    try:
        return (
            float(text)
            if type_ is Type.REAL
            else _held(int(Decimal(text).quantize(Decimal(1), ROUND_HALF_UP)))
        )
    except InvalidOperation:
        return None


def _both(*values: bool | None) -> bool | None:
    return False if False in values else None if None in values else True


def _either(*values: bool | None) -> bool | None:
    return True if True in values else None if None in values else False


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _compared(
    function: Callable[[Any, Any], bool],
) -> Callable[[Any, Any], bool | None]:
    return lambda a, b: None if a is None or b is None else function(a, b)


def _between(value: Any, low: Any, high: Any) -> bool | None:
    return _both(
        _compared(operator.ge)(value, low), _compared(operator.le)(value, high)
    )


def _among(value: Any, *options: Any) -> bool | None:
    return _either(*(_compared(operator.eq)(value, option) for option in options))


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: function(
        (value for value in values if value is not None), default=None
    )


def _case(*parts: Any) -> Any:
    pairs = zip(parts[:-1:2], parts[1::2], strict=True)
    return next((value for condition, value in pairs if condition), parts[-1])


STRICT: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "intdiv": _whole_quotient,
    "mod": _remainder,
    "neg": operator.neg,
    "abs": abs,
    "sign": lambda x: (x > 0) - (x < 0),
    "round": _rounded,
    "floor": math.floor,
    "ceil": math.ceil,
    "sqrt": math.sqrt,
    "ln": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "exp": math.exp,
    "power": math.pow,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "lower": str.lower,
    "upper": str.upper,
    "length": len,
    "trim": lambda text: text.strip(" "),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
    "concat": _concat,
    "substring": _substring,
    "like": _like,
    "ilike": _ilike,
    "starts_with": str.startswith,
    "contains": operator.contains,
    "extract": dates.part,
    "date_trunc": dates.truncate,
    "date_diff": lambda start, end, unit: dates.difference(unit, start, end),
    "date_sub": lambda end, start: dates.difference("day", start, end),
    "add_days": dates.later_days,
    "add_months": dates.later_months,
    "cast": cast,
}
SOMETIMES_NULL: dict[str, Callable[..., Any]] = {
    "least": _extreme(min),
    "greatest": _extreme(max),
    "is_null": lambda value: value is None,
    "is_not_null": lambda value: value is not None,
    "is_distinct": operator.ne,
    "is_not_distinct": operator.eq,
    "in": _among,
    "between": _between,
    "and": _both,
    "or": _either,
    "not": _not,
    "is_true": lambda value: value is True,
    "is_false": lambda value: value is False,
    "case": _case,
    "coalesce": lambda *values: next(
        (value for value in values if value is not None), None
    ),
    "nullif": lambda a, b: None if a is not None and a == b else a,
}
