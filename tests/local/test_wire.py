"""Messages as bytes, one by one and in batches."""

from __future__ import annotations

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.local.wire import HEADER, Header, Messages

HEAD = Header(b"12345678", 7, 300, 2)


def test_the_header_is_what_the_page_says() -> None:
    packed = HEAD.to_bytes()
    assert packed.hex() == "d1010700" + b"12345678".hex() + "2c010200"
    assert len(packed) == HEADER
    assert Header.from_bytes(packed) == HEAD


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_batch_is_read_as_it_was_written(count: int) -> None:
    records = np.arange(3 * count, dtype=np.uint8).reshape(count, 3)
    batch = Messages(HEAD, records)
    again = Messages.from_bytes(batch.to_bytes())
    assert again.header == HEAD
    assert again.records.tolist() == records.tolist()
    assert [one[HEADER:] for one in batch] == [row.tobytes() for row in records]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-1],
        lambda data: data[:10],
        lambda data: b"",
        lambda data: b"\xd1" + data[1:],
        lambda data: data[:1] + b"\2" + data[2:],
        lambda data: data[:HEADER] + b"\xff\xff\xff\xff" + data[HEADER + 4 :],
        lambda data: data[:HEADER] + b"\0\0\0\0" + data[HEADER + 4 :],
    ],
)
def test_what_is_no_batch(change) -> None:
    data = Messages(HEAD, np.zeros((4, 3), np.uint8)).to_bytes()
    with pytest.raises(ArgumentError, match="messages"):
        Messages.from_bytes(change(data))
