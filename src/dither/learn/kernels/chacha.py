"""Gaussian noise that is drawn on a GPU: ChaCha20 in counter mode (RFC 8439), and Box and
Muller's method.

Guarantee: with ideal words in place of the cipher's, values are independent; each is a
standard normal number except for the rounding of floats, with a tail up to 9.5.
Why: the words of ChaCha20 are a pseudorandom function of the block's number, under a key of
256 bits that `dither.noise` draws for each run. No number is used twice: every program
takes its numbers from a counter in the GPU's memory by an atomic addition, so that
neither another launch, nor another stream, nor a graph that is replayed can get them. A
radius has 64 bits of its own and an angle 32, as in `dither.learn.gaussian`.
Assumes: nobody can tell ChaCha20's words from ideal ones; who can read the GPU's memory while a
run lasts is trusted, because the key is there. Arithmetic is that of floats (rule R25):
logarithm and root in float64, the rest in float32.
"""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["LANES", "NORMALS", "blocks", "noisy"]

LANES = 256
"""Blocks that one program makes."""
NORMALS = 10
"""Normal numbers of one block: five radii and angles from 15 of its 16 words."""


@triton.jit
def _turned(word, by: tl.constexpr):
    return (word << by) | (word >> (32 - by))


@triton.jit
def _quarter(a, b, c, d):
    a = a + b
    d = _turned(d ^ a, 16)
    c = c + d
    b = _turned(b ^ c, 12)
    a = a + b
    d = _turned(d ^ a, 8)
    c = c + d
    b = _turned(b ^ c, 7)
    return a, b, c, d


@triton.jit
def _loaded(state, place: tl.constexpr, zeros):
    return tl.load(state + place).to(tl.uint32, bitcast=True) + zeros


@triton.jit
def _block(state, number):
    """The sixteen words of the blocks with these 64-bit numbers. `state` holds the key's
    eight words and the last two of the nonce; the first counts on from the block number.
    """
    zeros = (number * 0).to(tl.uint32)
    s0, s1 = zeros + 0x61707865, zeros + 0x3320646E
    s2, s3 = zeros + 0x79622D32, zeros + 0x6B206574
    s4, s5 = _loaded(state, 0, zeros), _loaded(state, 1, zeros)
    s6, s7 = _loaded(state, 2, zeros), _loaded(state, 3, zeros)
    s8, s9 = _loaded(state, 4, zeros), _loaded(state, 5, zeros)
    s10, s11 = _loaded(state, 6, zeros), _loaded(state, 7, zeros)
    s12, s13 = (number & 0xFFFFFFFF).to(tl.uint32), (number >> 32).to(tl.uint32)
    s14, s15 = _loaded(state, 8, zeros), _loaded(state, 9, zeros)
    x0, x1, x2, x3, x4, x5, x6, x7 = s0, s1, s2, s3, s4, s5, s6, s7
    x8, x9, x10, x11, x12, x13, x14, x15 = s8, s9, s10, s11, s12, s13, s14, s15
    for _ in range(10):
        x0, x4, x8, x12 = _quarter(x0, x4, x8, x12)
        x1, x5, x9, x13 = _quarter(x1, x5, x9, x13)
        x2, x6, x10, x14 = _quarter(x2, x6, x10, x14)
        x3, x7, x11, x15 = _quarter(x3, x7, x11, x15)
        x0, x5, x10, x15 = _quarter(x0, x5, x10, x15)
        x1, x6, x11, x12 = _quarter(x1, x6, x11, x12)
        x2, x7, x8, x13 = _quarter(x2, x7, x8, x13)
        x3, x4, x9, x14 = _quarter(x3, x4, x9, x14)
    return (
        x0 + s0,
        x1 + s1,
        x2 + s2,
        x3 + s3,
        x4 + s4,
        x5 + s5,
        x6 + s6,
        x7 + s7,
        x8 + s8,
        x9 + s9,
        x10 + s10,
        x11 + s11,
        x12 + s12,
        x13 + s13,
        x14 + s14,
        x15 + s15,
    )


@triton.jit
def blocks(state, first, out, LANES: tl.constexpr):
    """Words of blocks from a number on, as they are: [16, LANES]. For tests."""
    lane = tl.arange(0, LANES)
    words = _block(state, tl.load(first) + lane.to(tl.int64))
    for i in tl.static_range(16):
        tl.store(out + i * LANES + lane, words[i].to(tl.int32, bitcast=True))


@triton.jit
def _pair(low, high, turn):
    """Two normal numbers from a radius of 64 bits and an angle of 32."""
    bits = (high.to(tl.uint64) << 32) | low.to(tl.uint64)
    # Half a step keeps the logarithm away from 0; a small word, which decides the tail,
    # keeps all of its bits.
    uniform = (bits.to(tl.float64) + 0.5) * (2.0**-64)
    radius = tl.sqrt(tl.log(uniform) * -2.0).to(tl.float32)
    angle = turn.to(tl.int32, bitcast=True).to(tl.float32) * (3.141592653589793 / 2**31)
    return radius * tl.cos(angle), radius * tl.sin(angle)


@triton.jit
def _put(values, place, count, noise, deviation, over):
    there = place < count
    before = tl.load(values + place, mask=there, other=0.0)
    tl.store(values + place, (before + deviation * noise) / over, mask=there)


@triton.jit
def noisy(
    table,
    many,
    deviation,
    over,
    state,
    counter,
    LANES: tl.constexpr,
    MOST: tl.constexpr,
):
    """Add noise to float32 values in place, and divide the sums by `over`. For each of
    `many` tensors, at most `MOST`, the table has its address, how many values it has,
    and its first program.
    """
    tensor = tl.arange(0, MOST)
    first = tl.load(table + 2 * many + tensor, mask=tensor < many, other=1 << 62)
    program = tl.program_id(0).to(tl.int64)
    own = tl.sum((first <= program).to(tl.int32), 0) - 1
    values = tl.load(table + own).to(tl.pointer_type(tl.float32))
    count = tl.load(table + many + own)
    program -= tl.load(table + 2 * many + own)
    lane = tl.arange(0, LANES)
    number = tl.atomic_add(counter, LANES, sem="relaxed") + lane.to(tl.int64)
    words = _block(state, number)
    place = program * (10 * LANES) + lane
    for i in tl.static_range(5):
        one, two = _pair(words[3 * i], words[3 * i + 1], words[3 * i + 2])
        _put(values, place + (2 * i) * LANES, count, one, deviation, over)
        _put(values, place + (2 * i + 1) * LANES, count, two, deviation, over)
