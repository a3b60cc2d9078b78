"""Messages as bytes.

A message is a header of 16 bytes and a record whose size the task fixes:

    0xD1, format 1, the task's version (2 bytes), the task's tag (8), period (2),
    stratum (1), 0

A batch has 0xD2 instead of 0xD1, then the header's rest, how many records follow (4
bytes), and the records. Numbers have their lowest byte first. Nothing in a message
says when within its period, or from whom, it came.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError

__all__ = ["BATCH", "FORMAT", "HEADER", "SINGLE", "Header", "Messages"]

Packed = NDArray[np.uint8]

SINGLE, BATCH, FORMAT = 0xD1, 0xD2, 1
LAYOUT = struct.Struct("<BBH8sHBB")
HEADER = LAYOUT.size
COUNT = struct.Struct("<I")


@dataclass(frozen=True)
class Header:
    """Header of a record."""

    tag: bytes
    version: int
    period: int = 0
    stratum: int = 0

    def to_bytes(self, magic: int = SINGLE) -> bytes:
        numbers = (self.version, self.tag, self.period, self.stratum, 0)
        return LAYOUT.pack(magic, FORMAT, *numbers)

    @classmethod
    def from_bytes(cls, data: bytes) -> Header:
        _, _, version, tag, period, stratum, _ = LAYOUT.unpack_from(data)
        return cls(tag, version, period, stratum)


@dataclass(frozen=True, eq=False)
class Messages:
    """Many messages of one task, period and stratum: a header, and a row of bytes for
    each.
    """

    header: Header
    records: Packed

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[bytes]:
        """Each message on its own."""
        head = self.header.to_bytes()
        return (head + row.tobytes() for row in self.records)

    def to_bytes(self) -> bytes:
        """One batch."""
        count = COUNT.pack(len(self.records))
        return self.header.to_bytes(BATCH) + count + self.records.tobytes()

    @staticmethod
    def size(data: bytes, record: int) -> int:
        """How long a batch is whose records have so many bytes; 0 if it is cut off."""
        start = HEADER + COUNT.size
        if len(data) < start:
            return 0
        whole = start + int(COUNT.unpack_from(data, HEADER)[0]) * record
        return whole if whole <= len(data) else 0

    @classmethod
    def from_bytes(cls, data: bytes) -> Messages:
        """A batch, read again. The task says whether its records are usable."""
        start = HEADER + COUNT.size
        if len(data) < start or data[0] != BATCH or data[1] != FORMAT:
            raise ArgumentError(
                "messages",
                "are not a batch of format 1; pass what Messages.to_bytes() returned",
            )
        (count,) = COUNT.unpack_from(data, HEADER)
        body = np.frombuffer(data, np.uint8, offset=start)
        uneven = body.size % count or body.size < count if count else body.size
        if uneven or data[HEADER - 1]:
            raise ArgumentError(
                "messages",
                "are cut off: their records are not complete; pass all bytes of the "
                "batch",
            )
        rows = body.reshape(count, body.size // count if count else 0)
        return cls(Header.from_bytes(data), rows)
