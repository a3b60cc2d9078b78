"""The winner of a noisy contest: argmax of weight·score + noise, exactly, for three
kinds of noise.

Gumbel noise gives the exponential mechanism, exponential noise gives permute-and-flip
(Ding et al. 2021), Laplace noise gives report-noisy-max. The noise is a continuous
variable of which more bits are drawn when needed, so there are no ties and no rounding:
floats only sort out the candidates that cannot win, and the few left are compared
exactly.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.noise import stream
from dither.noise.exact import LOG_ERROR, Interval, Uniform, context, decimal_of, widen
from dither.noise.stream import Source, Words

__all__ = ["Noise", "noisy_argmax"]

Floats = NDArray[np.float64]
Scores = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.object_]

CHUNK = 1 << 15
BITS = 63  # of the uniform number; the 64th bit is the Laplace sign
SPARE = 40  # a uniform number below 2^-40 has too few known bits for floats
RIM = 20  # and, for Gumbel noise, so has one above 1 − 2^-20
LIMIT = 1 << 62
FARTHEST = -(10**307)


class Noise(Enum):
    """The noise added to each score, of scale 1."""

    GUMBEL = "gumbel"
    EXPONENTIAL = "exponential"
    LAPLACE = "laplace"


def noisy_argmax(scores: Scores, weight: float, noise: Noise) -> int:
    """The index of the largest weight·score + noise, for finite scores (floats,
    integers or an array of fractions).

    Integers beyond ±2^62 are treated as that.

    Guarantee: that of the mechanism that calls it, with the weight as its calibration.
    Why: the comparison is exact, so the winner's law is that of ideal noise
    (docs/proofs/noise.md).
    Assumes: AES-256-CTR is indistinguishable from uniform bits; log and log1p within
    2^-45 on this platform (tested).
    """
    if scores.ndim != 1 or scores.size == 0:
        raise ArgumentError(
            "scores",
            "must be a list with one number for each candidate, at least one",
        )
    if not (math.isfinite(weight) and weight >= 0):
        raise ArgumentError(
            "weight", "must be finite and at least 0; pass a number such as 1.0"
        )
    # Noise that underflows must not decide whether a call succeeds, so the caller's
    # `np.seterr` is set aside.
    with np.errstate(all="ignore"):
        return contest(_plain(scores), float(weight), noise, stream.current())


def _plain(scores: NDArray[Any]) -> Scores:
    """Scores as float64, int64 or fractions, so that differences neither wrap round nor
    lose bits.
    """
    kind, whole = scores.dtype.kind, scores
    if kind == "u":
        whole = np.minimum(scores, np.array(LIMIT, np.uint64))
    if kind in "bui":
        return whole.astype(np.int64).clip(-LIMIT, LIMIT)
    if kind == "f" and scores.dtype.itemsize <= 8:
        return scores.astype(np.float64, copy=False)
    if kind == "O" and all(isinstance(score, Fraction) for score in scores):
        return scores
    raise ArgumentError(
        "scores", f"must be numbers of at most 64 bits or fractions, not {scores.dtype}"
    )


def contest(
    scores: Scores, weight: float, noise: Noise, source: Source, bits: int = BITS
) -> int:
    """Tests shorten `bits`, which makes contenders many; the winner stays the same in
    law.
    """
    best = scores.max()
    picked = [np.empty(0, np.intp)]
    drawn = [np.empty(0, np.uint64)]
    floor = -np.inf  # some candidate reaches at least this
    first = int(scores.argmax()) // CHUNK
    for chunk in (first, *(i for i in range(-(-scores.size // CHUNK)) if i != first)):
        start = chunk * CHUNK
        part = scores[start : start + CHUNK]
        words: Words = np.empty(part.size, np.uint64)
        source.fill(words)
        wanted = (
            floor - leads(part.max(keepdims=True), best, weight).item()
            if floor > -np.inf
            else -np.inf
        )
        near = possible(words, wanted, bits)
        low, high = bounds(part[near], weight, noise, words[near], bits, best)
        floor = max(floor, low.max(initial=-np.inf))
        near = near[high >= floor]
        picked.append(near + start)
        drawn.append(words[near])
    return _decide(
        scores,
        weight,
        noise,
        np.concatenate(picked),
        np.concatenate(drawn),
        floor,
        source,
        bits,
    )


def possible(words: Words, wanted: float, bits: int) -> NDArray[np.intp]:
    """The candidates whose noise reaches what the best of their chunk needs, or may:
    the others lose.

    Noise of a uniform number u is at most −ln u, for all three kinds. The slack covers
    what floats get wrong, in the lead too: where 2^-50 of it is more than that, only a
    number whose known bits are all 0 can make up for it.
    """
    reach = math.exp(min(0.0, noise_error(bits) + 1e-3 - wanted))
    heads = np.bitwise_and(words, np.uint64((1 << BITS) - 1))
    return np.flatnonzero(
        heads <= np.uint64(min((1 << BITS) - 1, math.ceil(reach * 2.0**BITS)))
    )


def _decide(
    scores: Scores,
    weight: float,
    noise: Noise,
    near: NDArray[np.intp],
    words: Words,
    floor: float,
    source: Source,
    bits: int,
) -> int:
    """The winner among those that may win."""
    best = scores.max()
    _, high = bounds(scores[near], weight, noise, words, bits, best)
    contenders = near[high >= floor]
    if contenders.size == 1:
        return int(contenders[0])
    exact = [
        Fraction(weight) * (_fraction(scores[i]) - _fraction(best)) for i in contenders
    ]
    left = zip(exact, words[high >= floor], strict=True)
    return int(
        contenders[
            winner(
                [Contender(lead, noise, int(word), bits, source) for lead, word in left]
            )
        ]
    )


def _float(lead: Fraction) -> float:
    return float(lead) if lead >= FARTHEST else -math.inf


def _fraction(score: Any) -> Fraction:
    return score if isinstance(score, Fraction) else Fraction(score.item())


def bounds(
    scores: Scores, weight: float, noise: Noise, words: Words, bits: int, best: Any
) -> tuple[Floats, Floats]:
    """Float ends between which weight·(score − best) + noise lies; infinitely far apart
    where floats do not know.
    """
    lead = leads(scores, best, weight)
    value, unsure = noise_values(words, noise, bits)
    value += lead
    # What floats got wrong in the lead is relative to it; one cut at 1e300 loses to the
    # best score anyway.
    error = np.minimum(np.abs(lead, out=lead), 1e300, out=lead)
    error *= 2.0**-50
    error += noise_error(bits)
    low, high = value - error, value + error
    low[unsure] = -np.inf
    high[unsure] = np.inf
    return low, high


def leads(scores: Scores, best: Any, weight: float) -> Floats:
    """weight·(score − best) by floats; −∞ only where it is below −1e307.

    Fractions are subtracted exactly. Floats are halved first, so that a difference of
    huge scores stays finite until a small weight has shrunk it.
    """
    lead: Floats
    if scores.dtype.kind == "O":
        return np.array(
            [_float(Fraction(weight) * (score - best)) for score in scores], np.float64
        )
    if scores.dtype.kind == "i":
        lead = (scores - best).astype(np.float64)
        lead *= weight
        return lead
    lead = (scores * 0.5).astype(np.float64, copy=False)
    lead -= best * 0.5
    lead *= weight
    lead += lead
    return lead


def noise_error(bits: int) -> float:
    """Error of the float noise that is treated as known; term by term in
    docs/proofs/noise.md.
    """
    return 2.0 ** (SPARE + 1 - bits) + 2.0**-36 + 32 * LOG_ERROR


def noise_values(
    words: Words, noise: Noise, bits: int
) -> tuple[Floats, NDArray[np.intp]]:
    """Float noise of these words, and the places where it is not known well."""
    heads = np.bitwise_and(words, np.uint64((1 << BITS) - 1))
    if bits < BITS:
        heads = heads >> np.uint64(BITS - bits) << np.uint64(BITS - bits)
    unsure = heads < np.uint64(1 << (BITS - SPARE))
    if noise is Noise.GUMBEL:
        unsure |= heads > np.uint64((1 << BITS) - (1 << (BITS - RIM)))
    places = np.flatnonzero(unsure)
    heads[places] = np.uint64(1 << (BITS - 1))
    value = heads.view(np.int64).astype(np.float64)
    value *= 2.0**-BITS
    if noise is Noise.GUMBEL:
        np.log1p(np.negative(value, out=value), out=value)
        np.log(np.negative(value, out=value), out=value)
    else:
        np.log(value, out=value)
    if noise is Noise.LAPLACE:
        np.copysign(value, words.view(np.int64), out=value)
    else:
        np.negative(value, out=value)
    return value, places


class Contender:
    """A candidate that may win: its exact lead (weight·score less that of the best
    score) and its noise.
    """

    def __init__(
        self, lead: Fraction, noise: Noise, word: int, bits: int, source: Source
    ) -> None:
        self.lead, self.noise = lead, noise
        self.negative = noise is Noise.LAPLACE and word >> BITS == 1
        self.uniform = Uniform((word & (1 << BITS) - 1) >> (BITS - bits), bits, source)

    def ends(self) -> Interval:
        """The ends between which lead + noise lies."""
        ctx = context(self.uniform.bits)
        known = self._noise_ends(ctx)
        if known is None:
            return Decimal("-Infinity"), Decimal("Infinity")
        lead = decimal_of(ctx, self.lead)
        return widen(ctx, *(ctx.add(lead, end) for end in known))

    def _noise_ends(self, ctx: decimal.Context) -> Interval | None:
        head, unit = self.uniform.head, 1 << self.uniform.bits
        if self.noise is Noise.GUMBEL:
            head = unit - 1 - head
        if head == 0:
            return None
        whole = ctx.ln(Decimal(unit))
        least, most = widen(
            ctx,
            *(ctx.subtract(whole, ctx.ln(Decimal(end))) for end in (head + 1, head)),
        )
        if self.noise is Noise.GUMBEL:
            return (
                None
                if least <= 0
                else widen(ctx, *(ctx.ln(end).copy_negate() for end in (most, least)))
            )
        return (
            (most.copy_negate(), least.copy_negate())
            if self.negative
            else (least, most)
        )


def winner(contenders: Sequence[Contender]) -> int:
    """Which contender is ahead, with as many bits as it takes."""
    while True:
        ends = [contender.ends() for contender in contenders]
        ahead = max(range(len(ends)), key=lambda i: ends[i][0])
        if all(high < ends[ahead][0] for i, (_, high) in enumerate(ends) if i != ahead):
            return ahead
        for contender in contenders:
            contender.uniform.refine()
