"""Arithmetic of reals that cannot fail in PostgreSQL, which raises where others give
infinity, NaN, or round to zero.

Every guard is a CASE whose condition decides on the same values as what it guards:
PostgreSQL computes no branch that is not chosen, and where the values are constants,
neither does its planner. Results are those of IEEE arithmetic, NULL where that is not
finite, and zero where it is closer to zero than the smallest normal number.
"""

from __future__ import annotations

import math
import sys

from dither.query.operations.writing import Args, named, real

__all__ = [
    "add",
    "divide",
    "exponential",
    "logarithm",
    "logarithm2",
    "multiply",
    "over",
    "power",
    "remainder",
    "root",
    "rounded",
]

LARGEST = sys.float_info.max
SMALLEST = sys.float_info.min
QUARTER = 2.0**1022  # of 2^1024, where doubles end
SCALE = 2.0**-512  # twice, it brings the largest product below 1
# Outside of these EXP raises, for an overflow or for a result too close to zero.
EXP_HIGH, EXP_LOW = 709.782712893384, -745.13
POWER_HIGH, POWER_LOW = 709.7827, -745.1
"""Powers are judged by their logarithm, which is known up to a few of its last bits;
the limits leave room for them.
"""
LN2 = math.log(2)
MANTISSA = (1 << 52) - 1
HIDDEN = 1 << 52
EXPONENTS = 2047


def add(args: Args, symbol: str) -> str:
    """A sum or a difference. A quarter of it is computed where it could overflow:
    exactly, and without overflow.
    """

    def guarded(a: str, b: str) -> str:
        near = f"abs({a} * 0.25 {symbol} {b} * 0.25) < {real(QUARTER)}"
        large = f"abs({a}) >= 1 AND abs({b}) >= 1"
        return (
            f"(CASE WHEN {large} THEN (CASE WHEN {near} THEN {a} {symbol} {b} "
            f"END) ELSE {a} {symbol} {b} END)"
        )

    return named(args, guarded)


def multiply(args: Args) -> str:
    """A product. Only two factors above 1 can overflow, and only a factor below 1 can
    make it too small; both are asked before PostgreSQL multiplies, and raises.
    """

    def guarded(a: str, b: str) -> str:
        product = f"{a} * {b}"
        fits = f"(abs({a}) * {real(SCALE)}) * (abs({b}) * {real(SCALE)}) < 1"
        tiny = (
            f"abs({a}) < 1 AND abs({b}) < {real(SMALLEST)} / "
            f"least(abs(nullif({a}, 0)), 1)"
        )
        return (
            f"(CASE WHEN abs({a}) >= 1 AND abs({b}) >= 1 THEN (CASE WHEN "
            f"{fits} THEN {product} END) "
            f"WHEN {tiny} THEN 0 ELSE {product} END)"
        )

    return named(args, guarded)


def divide(args: Args) -> str:
    """NULL for a divisor of zero."""

    def guarded(a: str, b: str) -> str:
        tiny, fits = (
            f"abs({a}) < {real(SMALLEST)} * abs({b})",
            f"abs({a}) < {real(LARGEST)} * abs({b})",
        )
        return (
            f"(CASE WHEN abs({b}) >= 1 THEN (CASE WHEN {tiny} THEN 0 ELSE {a} "
            f"/ {b} END) "
            f"WHEN {b} <> 0 THEN (CASE WHEN {fits} THEN {a} / {b} END) END)"
        )

    return named(args, guarded)


def over(x: str, by: float) -> str:
    """A bounded real in steps of a positive constant: it does not overflow, but it may
    be too close to zero.
    """
    if by <= 1:
        return f"({x} / {real(by)})"
    return named(
        [x],
        lambda it: (
            f"(CASE WHEN abs({it}) < {real(SMALLEST * by)} THEN 0 ELSE {it} / "
            f"{real(by)} END)"
        ),
    )


def root(args: Args) -> str:
    return named(args, lambda x: f"(CASE WHEN {x} >= 0 THEN sqrt({x}) END)")


def logarithm(args: Args, name: str) -> str:
    return named(args, lambda x: f"(CASE WHEN {x} > 0 THEN {name}({x}) END)")


def exponential(args: Args) -> str:
    low, high = f"< {real(EXP_LOW)} THEN 0", f"<= {real(EXP_HIGH)} THEN"
    return named(args, lambda x: f"(CASE WHEN {x} {low} WHEN {x} {high} exp({x}) END)")


def power(args: Args) -> str:
    def guarded(a: str, b: str) -> str:
        # the exponent is cut, or its product with the logarithm could overflow itself
        size = f"least(greatest({b}, -1e20), 1e20) * ln(abs({a}))"
        safe = (
            f"(CASE WHEN {size} < {POWER_LOW} THEN 0 WHEN {size} <= "
            f"{POWER_HIGH} THEN power({a}, {b}) END)"
        )
        return (
            f"(CASE WHEN {b} IS NULL THEN NULL WHEN {b} = 0 THEN {a} * 0 + 1 "
            f"WHEN {a} = 0 THEN (CASE WHEN {b} > 0 THEN {a} END) "
            f"WHEN abs({b}) < 1e-300 THEN (CASE WHEN {a} > 0 THEN 1 END) "
            f"WHEN {a} > 0 OR {b} = trunc({b}) THEN {safe} END)"
        )

    return named(args, guarded)


def rounded(x: str) -> str:
    """Round to the nearest whole number; halves go away from zero."""
    away = "trunc({0}) + sign({0})"
    return named(
        [x],
        lambda it: (
            f"(CASE WHEN abs({it} - trunc({it})) >= 0.5 THEN "
            f"{away.format(it)} ELSE trunc({it}) END)"
        ),
    )


def _bits(x: str) -> str:
    """The 64 bits of a positive double as an integer."""
    return f"CAST(CAST('x' || encode(float8send({x}), 'hex') AS bit(64)) AS bigint)"


def _exponent(bits: str) -> str:
    return f"(greatest(({bits} >> 52) & {EXPONENTS}, 1) - 1075)"


def _whole(bits: str) -> str:
    """The mantissa as an integer: the double is it times two to the exponent."""
    return (
        f"(({bits} & {MANTISSA}) + (CASE WHEN ({bits} >> 52) & "
        f"{EXPONENTS} > 0 THEN {HIDDEN} ELSE 0 END))"
    )


def remainder(args: Args) -> str:
    """The result of `fmod`, exactly: the mantissas are divided as whole numbers,
    however far apart the exponents are.
    """

    def of_bits(a: str, b: str, x: str) -> str:
        scaled = (
            f"CAST({_whole(a)} AS numeric) * power(CAST(2 AS numeric), "
            f"{_exponent(a)} - {_exponent(b)})"
        )
        rest = f"CAST(mod({scaled}, CAST({_whole(b)} AS numeric)) AS double precision)"
        return (
            f"sign({x}) * ({rest} * power({real(2)}, CAST({_exponent(b)} AS "
            "double precision)))"
        )

    def guarded(a: str, b: str) -> str:
        bits = (
            f"(SELECT {_bits(f'abs({a})')} AS it_m, {_bits(f'abs({b})')} AS "
            "it_n OFFSET 0) bits"
        )
        found = f"(SELECT {of_bits('it_m', 'it_n', a)} FROM {bits})"
        return (
            f"(CASE WHEN abs({a}) < abs({b}) THEN {a} WHEN {b} <> 0 THEN {found} END)"
        )

    return named(args, guarded)


def logarithm2(args: Args) -> str:
    """The exponent plus the logarithm of a number near 1: whole for powers of two."""

    def guarded(x: str) -> str:
        # ln(x) / ln(2) would miss some powers of two by a last bit
        exponent = (
            f"(SELECT (({_bits(x)} >> 52) & {EXPONENTS}) - 1023 AS it_e OFFSET 0) bits"
        )
        near = (
            f"(SELECT it_e, {x} / power({real(2)}, CAST(it_e AS double "
            f"precision)) AS it_m FROM {exponent} OFFSET 0) m"
        )
        high, low = (
            f"it_e + 1 + ln(it_m / 2) / {real(LN2)}",
            f"it_e + ln(it_m) / {real(LN2)}",
        )
        value = (
            f"(SELECT CASE WHEN it_m > 1.4142135623730951 THEN {high} ELSE "
            f"{low} END FROM {near})"
        )
        return f"(CASE WHEN {x} > 0 THEN {value} END)"

    return named(args, guarded)
