from __future__ import annotations

import numpy as np
import pytest

from dither.local.oracles.oracle import numbers_of, records_of, size_of


@pytest.mark.parametrize("size", range(1, 8))
def test_numbers_come_back_from_their_records(size: int) -> None:
    last = 256**size - 1
    numbers = np.array([0, 1, 255, last // 3, last - 1, last])
    records = records_of(numbers, size)
    assert records.shape == (6, size)
    assert [row.tobytes() for row in records] == [
        int(number).to_bytes(size, "little") for number in numbers
    ]
    assert (numbers_of(records) == numbers).all()
    assert numbers_of(records[:0]).shape == (0,)


def test_a_record_has_as_many_bytes_as_it_needs() -> None:
    assert [size_of(count) for count in (1, 2, 256, 257, 1 << 16, 1 << 17)] == [
        1,
        1,
        1,
        2,
        2,
        3,
    ]
