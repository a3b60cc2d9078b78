"""Rows of bits: what is drawn and added in bulk is what one bit after the other gives."""

from __future__ import annotations

import numpy as np
import pytest

from dither.local import bits
from dither.local.words import FRESH, Keyed


@pytest.mark.parametrize("wide", [1, 7, 8, 64, 65, 130])
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 24, 25, 75, 1000])
def test_columns_are_sums(
    monkeypatch: pytest.MonkeyPatch, rows: int, wide: int
) -> None:
    """In blocks of every fill, down to three rows."""
    packed = bits.biased(FRESH, 1 << 31, rows, wide)
    before = packed.copy()
    each = np.unpackbits(packed, axis=1, count=wide, bitorder="little")
    for block in (1, 1 << 10, 1 << 21):
        monkeypatch.setattr(bits, "ROWS", block)
        assert (bits.columns(packed, wide) == each.sum(axis=0)).all()
    assert (packed == before).all()


def test_many_rows_are_added_in_levels() -> None:
    packed = np.full((100_000, 3), 0b10110101, np.uint8)
    ones = np.unpackbits(packed[0], bitorder="little").astype(np.int64)
    assert (bits.columns(packed, 24) == 100_000 * ones).all()


@pytest.mark.parametrize("threshold", [0, 1, 0x1E812345, 1 << 31, (1 << 32) - 1])
def test_a_byte_decides_and_ties_draw_again(threshold: int) -> None:
    drawn = Keyed(b"key").take(1000 // 4).view(np.uint8)
    words = Keyed(b"key")
    packed = bits.biased(words, threshold, 5, 200)
    found = np.unpackbits(packed, axis=1, bitorder="little").reshape(-1)
    again = Keyed(b"key")
    again.take(250)
    ties = np.flatnonzero(drawn == threshold >> 24)
    expected = drawn < threshold >> 24
    expected[ties] = again.take(ties.size) < (threshold & 0xFFFFFF) << 8
    assert (found == expected).all()
    assert (words.take(4) == again.take(4)).all()


def test_one_bit_of_each_row() -> None:
    packed = bits.biased(FRESH, 1 << 30, 100, 20)
    places = np.arange(100) % 20
    wanted = np.arange(100) % 3 == 0
    bits.put(packed, places, wanted)
    assert (bits.get(packed, places) == wanted).all()
