"""Numbers in the words of an explanation. An "at most" is rounded up and an "at least"
down, so that both stay true.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

__all__ = ["at_least", "at_most", "factor", "one_in", "plain", "share", "tiny"]

_EXACT = Context(prec=12)  # below this digit is the rounding of floats
_UP, _DOWN = (
    Context(prec=4, rounding=ROUND_CEILING),
    Context(prec=4, rounding=ROUND_FLOOR),
)
_LOG10 = math.log(10.0)


def _digits(value: float, rounding: Context) -> str:
    rounded = rounding.plus(_EXACT.create_decimal_from_float(value))
    return (
        f"{rounded:,f}".rstrip("0").rstrip(".")
        if "." in f"{rounded:f}"
        else f"{rounded:,f}"
    )


def at_most(value: float) -> str:
    """A share in percent, four digits, rounded up."""
    return (
        f"{100 * value:.2g} %"
        if 0.0 < value < 1e-9
        else f"{_digits(100 * value, _UP)} %"
    )


def at_least(value: float) -> str:
    """A share in percent, four digits, rounded down."""
    return "0 %" if value < 1e-9 else f"{_digits(100 * value, _DOWN)} %"


def share(value: float) -> str:
    """A share that somebody stated, as it was stated."""
    return f"{100 * value:.6g} %"


def plain(value: float) -> str:
    """A bound as a number of four digits, rounded up."""
    if not math.isfinite(value):
        return "∞"
    return (
        _digits(value, _UP) if value == 0.0 or 1e-4 <= value < 1e9 else f"{value:.4g}"
    )


def tiny(value: float) -> str:
    """A δ or an ε as people write it."""
    return f"{value:.4g}"


def factor(loss: float) -> str:
    """e^loss, rounded up; beyond a million as a power of ten, beyond all measure as ∞."""
    if loss < math.log(1e6):
        return _digits(math.exp(loss), _UP)
    return f"10^{math.ceil(loss / _LOG10):,}" if loss < 1e9 else "∞"


def one_in(chance: float) -> str:
    """A chance as "1 in 50,000", rounded up in two digits."""
    if chance <= 0.0:
        return "0"
    if chance > 0.05:
        return at_most(chance)
    if chance < 1e-12:
        return f"1 in 10^{math.floor(-math.log10(chance))}"
    digits = 10 ** (math.floor(math.log10(1.0 / chance)) - 1)
    return f"1 in {math.floor(1.0 / chance / digits * (1 + 1e-12)) * digits:,}"
