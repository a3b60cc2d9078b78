"""Numbers and tables as people read them: as many digits as the error leaves, and no
control characters.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from numbers import Integral, Real
from typing import Any

__all__ = [
    "UNBOUNDED",
    "aligned",
    "cell",
    "clean",
    "closes",
    "ends_in_words",
    "finite",
    "level",
    "missing",
    "number",
    "percent",
    "quantity",
    "tells",
    "told",
    "told_nothing",
    "width_in_words",
    "with_interval",
]

NULL = "NULL"
UNBOUNDED = "no interval: declare rows"
LARGEST = 1e15
EVEN = 0.1
"""Ends whose distances differ by no more than this part are shown as one ±, the larger
one.
"""
ROUNDING = 1e-6
"""Part of the last printed digit that is treated as an error of floats."""
NEARLY = 1e-9
"""Part of a range that is within the error of floats."""
LOPSIDED = 3.0
"""From so many times the noise on, what may be hidden on one side is shown by itself.
"""

Pair = tuple[Any, Any]


def clean(text: str) -> str:
    """The text on one line, with control characters written out: a key may hold some
    that a terminal would execute.
    """
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode()
        for sign in text
    )


def number(value: Any, width: float | None = None) -> str:
    """A value as text; a real is shown down to the second digit of its ±, where that is
    known.
    """
    if missing(value):
        return NULL
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    if isinstance(value, Real):
        return _real(float(value), width)
    return value.isoformat() if isinstance(value, date) else clean(str(value))


def quantity(count: int, noun: str) -> str:
    """A number with its noun in the right form: `1 row`, `1,000 rows`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def missing(value: Any) -> bool:
    """Whether there is no value: NULL, or a real that is not a number."""
    return value is None or (isinstance(value, Real) and math.isnan(value))


def finite(value: Any) -> Any:
    """The value as JSON can hold it: dates as text, and null for reals that are not
    finite.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return value.isoformat() if isinstance(value, date) else value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if math.isfinite(value) else None


def _real(value: float, width: float | None) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    known = width is not None and 1 / LARGEST <= width < math.inf
    if abs(value) >= LARGEST or (0 < abs(value) < 1 / LARGEST and not known):
        return f"{value:.6g}"
    if width is not None and 0 < width < math.inf:
        return f"{value:z,.{_decimals(width, 2)}f}"
    text = f"{value:,.{_decimals(abs(value) or 1.0, 6)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _decimals(size: float, digits: int) -> int:
    """Decimal places that show `digits` significant digits of a number of this size."""
    return min(max(0, digits - 1 - math.floor(math.log10(size))), 15 + digits)


def width_in_words(width: float, *, integer: bool = False) -> str:
    """A ± rounded up to two digits, so that the printed one is never narrower."""
    if not 0 < width < math.inf:
        return "±∞" if width else "±0"
    if integer or width == math.floor(width) < LARGEST:
        return f"±{math.ceil(width - 1e-9):,}"
    scale = 10.0 ** _decimals(width, 2)
    rounded = math.ceil(width * scale - ROUNDING) / scale
    return f"±{_real(rounded, rounded)}"


def cell(value: Any, ends: Pair | None, noise: Pair | None = None) -> str:
    """A value with its interval: `51.5 ±0.4` if it lies in the middle, `3 (0 to 11)` if
    it does not, and `≈ 1,180, at least 1,134` if one side has no limit.

    `noise` is the interval of the noise alone. As long as no side is three times as
    wide, one ± says enough.
    """
    if ends is None:
        return number(value)
    low, high = ends
    if (
        low is None
        or (isinstance(low, Real) and math.isinf(low))
        or (isinstance(high, Real) and math.isinf(high))
    ):
        return (
            number(value)
            if missing(value)
            else f"≈ {number(value)}, {_open(low, high)}"
        )
    if not isinstance(low, Real) or not isinstance(value, Real) or missing(value):
        return f"{number(value)} ({number(low)} to {number(high)})"
    below, above = float(value) - float(low), float(high) - float(value)
    width, whole = max(below, above), isinstance(value, Integral)
    inside = below >= 0 and above >= 0
    even = inside and _even(value, (below, above), noise if noise != ends else None)
    certain = width > 0 or noise in (None, ends)  # else both ends were cut at a limit
    if certain and (even or width <= 0):
        return f"{number(value, width)} {width_in_words(width, integer=whole)}"
    if whole:
        low, high = _whole(low), _whole(high)
    first, last = ends_in_words(low, high, width)
    return f"{number(value, width)} ({first} to {last})"


def tells(ends: Pair | None, noise: Pair | None, known: Pair | None) -> bool:
    """Whether an interval tells more than what was `known` before: it does not hold all
    of that. If an interval is open because rows are not declared, that of the noise
    alone decides.
    """
    if known is None or ends is None or None in (*known, *ends):
        return True
    if noise is not None and None not in noise and not closes(ends):
        ends = noise
    (low, high), (least, most) = ends, known
    if isinstance(least, Real) and _finite(least) and _finite(most):
        slack = NEARLY * (float(most) - float(least))
        return bool(low > least + slack or high < most - slack)
    return bool(low > least or high < most)


def told(
    ends: Sequence[Pair | None],
    noise: Callable[[], Sequence[Pair | None]],
    known: Sequence[Pair | None],
) -> list[bool]:
    """Whether each cell of a column tells more than what was known before. The intervals
    of the noise alone are computed only if they are needed.
    """
    needed = not all(one is None or closes(one) for one in ends)
    alone = noise() if needed else [None] * len(ends)
    return [tells(*cell) for cell in zip(ends, alone, known, strict=True)]


def closes(ends: Pair | None) -> bool:
    """Whether an interval has two ends."""
    return ends is not None and None not in ends and all(map(_finite, ends))


def told_nothing(known: Pair) -> str:
    """The words for a cell that no information: what is possible, as it was before."""
    low, high = known
    if _finite(low) and _finite(high):
        return f"no information: {number(low)} to {number(high)} is possible"
    if _finite(low) or _finite(high):
        end, side = (low, "or more") if _finite(low) else (high, "or less")
        return f"no information: {number(end)} {side} is possible"
    return "no information: any number is possible"


def _finite(end: Any) -> bool:
    return not isinstance(end, Real) or math.isfinite(end)


def level(confidence: float) -> str:
    """A confidence as text: `95 %`."""
    return f"{100 * confidence:.6g} %"


def with_interval(value: Any, ends: Pair | None, words: str = "") -> str:
    """A value with the ends of its interval in parentheses, as papers write it. `words`
    come before the ends, such as "95 % interval".
    """
    if ends is None or not all(isinstance(end, Real) for end in (value, *ends)):
        return number(value)
    low, high = ends
    if not (math.isfinite(low) and math.isfinite(high)):
        return cell(value, ends)
    width = max(float(high) - float(value), float(value) - float(low))
    first, last = ends_in_words(_whole(low), _whole(high), width)
    before = f"{words} " if words else ""
    return f"{number(_whole(value), width)} ({before}{first} to {last})"


def ends_in_words(low: Any, high: Any, width: float) -> tuple[str, str]:
    """The ends of an interval, with the digits that fit its ±. They are rounded outward,
    so that the printed interval is never narrower than the real one.
    """
    return _outward(low, width, math.floor), _outward(high, width, math.ceil)


def _outward(end: Any, width: float, rounded: Callable[[float], int]) -> str:
    scale = 10.0 ** _decimals(width, 2) if 0 < width < math.inf else 0.0
    if isinstance(end, Integral) or not 0 < scale * abs(end) < LARGEST:
        return number(end, width)
    nearly = ROUNDING if rounded is math.floor else -ROUNDING
    return number(rounded(end * scale + nearly) / scale, width)


def _whole(value: Any) -> Any:
    """A real without a fraction as an integer, which is shown without decimals."""
    fits = float(value).is_integer() and abs(value) < LARGEST
    return int(value) if fits else value


def _open(low: Any, high: Any) -> str:
    if isinstance(low, Real) and not math.isinf(low):
        return f"at least {number(low)}"
    return (
        f"at most {number(high)}"
        if isinstance(high, Real) and not math.isinf(high)
        else UNBOUNDED
    )


def _even(value: Any, sides: tuple[float, float], noise: Pair | None) -> bool:
    """Whether one ± says enough about both sides."""
    if noise is None or not all(isinstance(end, Real) for end in noise):
        return math.isclose(*sides, rel_tol=EVEN)
    widths = float(value) - float(noise[0]), float(noise[1]) - float(value)
    if not math.isclose(*widths, rel_tol=EVEN):
        return math.isclose(*sides, rel_tol=EVEN)
    return all(side <= LOPSIDED * max(widths) for side in sides)


def percent(share: float) -> str:
    """A share in percent, three digits, rounded up: a cost never looks smaller than it
    is.
    """
    if not 0 < share < math.inf:
        return f"{100 * share:g} %"
    scale = 10.0 ** _decimals(100 * share, 3)
    return f"{math.ceil(100 * share * scale - 1e-6) / scale:g} %"


def aligned(rows: Sequence[Sequence[str]], right: Iterable[int] = ()) -> list[str]:
    """Lines of a table, two spaces between its columns; those in `right` stand on the
    right.
    """
    widths = [max(map(_columns, column)) for column in zip(*rows, strict=True)]
    numbers = set(right)
    lines = []
    for row in rows:
        padded = (
            " " * (width - _columns(text)) + text
            if place in numbers
            else text + " " * (width - _columns(text))
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(padded).rstrip())
    return lines


def _columns(text: str) -> int:
    """Number of columns of a terminal that the text takes."""
    return sum(_wide(sign) for sign in text)


def _wide(sign: str) -> int:
    if unicodedata.combining(sign):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1
