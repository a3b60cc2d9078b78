"""The views of an output: exact values, ranges, low bits, draws from calls of their
own; for several numbers, classifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.classifiers import Weighed, curve, line, tame
from dither.audit.features import Bins, Feature, Odd, Table
from dither.audit.outcomes import Encoder, Outcomes

__all__ = ["features"]

COLUMNS = 16
CURVED = 5
"""Number of columns that classifiers look at (those that differ most); fewer for one
with products.
"""
MIX = np.uint64(0x9E3779B97F4A7C15)


def features(encoder: Encoder, parts: Sequence[Outcomes]) -> list[Feature]:
    """Every way to look at outputs like these, the simplest first."""
    odd = Odd.fit(encoder, parts)
    if not encoder.width:
        return [Table(_nothing, "the output", odd, np.array([], np.int64))]
    found = (
        _single(partial(_column, 0), "the output", odd, parts)
        if encoder.width == 1
        else _several(odd, parts)
    )
    if len(set(np.concatenate([one.kinds[one.numbers] for one in parts]).tolist())) > 1:
        found.append(Table.fit(_type, "the type of the output", odd, parts))
    return found


def _single(view: Any, what: str, odd: Odd, parts: Sequence[Outcomes]) -> list[Feature]:
    found: list[Feature] = [
        Bins.fit(view, what, odd, parts),
        Table.fit(view, f"the exact value of {what}", odd, parts),
    ]
    found += _low_bits(view, what, odd, parts)
    if any(one.alone.any() for one in parts):
        found.append(_alone(view, what, odd, parts))
    return found


def _low_bits(
    view: Any, what: str, odd: Odd, parts: Sequence[Outcomes]
) -> list[Feature]:
    real = parts[0].values.dtype.kind == "f"
    ways = REAL_BITS if real else INTEGER_BITS
    return [
        Table.fit(partial(way, view), f"{words} of {what}", odd, parts)
        for words, way in ways
    ]


def _alone(view: Any, what: str, odd: Odd, parts: Sequence[Outcomes]) -> Feature:
    return Table.fit(
        partial(_if_alone, view),
        f"the exact value of {what} of a call for one draw",
        odd,
        parts,
    )


def _several(odd: Odd, parts: Sequence[Outcomes]) -> list[Feature]:
    columns = _different(parts)
    found: list[Feature] = [Table.fit(_row, "the whole output", odd, parts)]
    for place in columns[:2]:
        found += _single(
            partial(_column, int(place)),
            f"number {place + 1} of the output",
            odd,
            parts,
        )
    found += _weighed(columns, odd, parts)
    separating = line(columns, parts)
    found.append(Bins.fit(separating, "a weighted sum of the output", odd, parts))
    curving, words = curve(columns[:CURVED], parts), "a weighted sum of products"
    found.append(Bins.fit(curving, f"{words} of the output", odd, parts))
    if any(one.alone.any() for one in parts):
        found.append(_alone(_row, "the output", odd, parts))
    return found


def _weighed(
    columns: NDArray[np.int64], odd: Odd, parts: Sequence[Outcomes]
) -> list[Feature]:
    """Likelihood ratios of single numbers, by range and by low bits, added up."""
    views = [partial(_column, int(place)) for place in columns]
    by_range = [Bins.fit(view, "", odd, parts) for view in views]
    by_bits = [one for view in views for one in _low_bits(view, "", odd, parts)[:1]]
    ways = (
        ("a likelihood ratio of the output", by_range),
        ("a likelihood ratio of the output's low bits", by_bits),
    )
    return [Bins.fit(Weighed.fit(each, parts), what, odd, parts) for what, each in ways]


def _nothing(outcomes: Outcomes) -> NDArray[np.int64]:
    return np.zeros(len(outcomes), np.int64)


def _type(outcomes: Outcomes) -> NDArray[np.int64]:
    return outcomes.kinds


def _column(place: int, outcomes: Outcomes) -> NDArray[Any]:
    return np.ascontiguousarray(outcomes.values[:, place])


def _row(outcomes: Outcomes) -> NDArray[np.int64]:
    """One number for all numbers of an output; two rows that differ hardly ever have
    the same.
    """
    mixed = np.zeros(len(outcomes), np.uint64)
    for column in np.ascontiguousarray(outcomes.values.T).view(np.uint64):
        mixed = (mixed ^ column) * MIX
        mixed ^= mixed >> np.uint64(29)
    return mixed.view(np.int64)


def _if_alone(view: Any, outcomes: Outcomes) -> NDArray[np.int64]:
    seen = view(outcomes)
    codes = seen.view(np.int64) if seen.dtype.kind == "f" else seen
    found: NDArray[np.int64] = np.where(outcomes.alone, codes, 0)
    return found


def _lowest(view: Any, outcomes: Outcomes) -> NDArray[np.int64]:
    """The place of the lowest bit that is set in a real: it is a multiple of 2^place
    and of no higher power of two.
    """
    part, exponent = np.frexp(np.nan_to_num(view(outcomes)))
    whole = np.ldexp(part, 53).astype(np.int64)
    zeros = np.bitwise_count((whole & -whole) - 1).astype(np.int64)
    found: NDArray[np.int64] = np.where(
        whole == 0, 5000, exponent.astype(np.int64) - 53 + zeros
    )
    return found


def _lowest_by_size(view: Any, outcomes: Outcomes) -> NDArray[np.int64]:
    exponent: NDArray[np.int64] = np.frexp(np.nan_to_num(view(outcomes)))[1].astype(
        np.int64
    )
    return _lowest(view, outcomes) * 8192 + exponent


def _last_three(view: Any, outcomes: Outcomes) -> NDArray[np.int64]:
    bits: NDArray[np.int64] = view(outcomes).view(np.int64) & 7
    return bits


def _last_four(view: Any, outcomes: Outcomes) -> NDArray[np.int64]:
    bits: NDArray[np.int64] = view(outcomes) & 15
    return bits


REAL_BITS = (
    ("the place of the lowest bit", _lowest),
    ("the place of the lowest bit, together with the size,", _lowest_by_size),
    ("the last three bits", _last_three),
)
INTEGER_BITS = (("the last four bits", _last_four),)


def _different(parts: Sequence[Outcomes]) -> NDArray[np.int64]:
    """The columns whose mean or spread differs most between the sides, beside what
    chance does.
    """
    first, second = (tame(one.values[one.numbers]) for one in parts)
    if not len(first) or not len(second):
        return np.arange(min(parts[0].values.shape[1], COLUMNS))
    low, high = np.quantile(np.concatenate([first, second]), [0.001, 0.999], axis=0)
    first, second = np.clip(first, low, high), np.clip(second, low, high)
    middle = (first.mean(axis=0) + second.mean(axis=0)) / 2
    apart = np.maximum(
        _apart(first, second), _apart((first - middle) ** 2, (second - middle) ** 2)
    )
    return np.argsort(-apart, kind="stable")[:COLUMNS]


def _apart(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> NDArray[np.float64]:
    spread = first.var(axis=0) / len(first) + second.var(axis=0) / len(second)
    found: NDArray[np.float64] = np.abs(
        first.mean(axis=0) - second.mean(axis=0)
    ) / np.sqrt(spread + 1e-12)
    return found
