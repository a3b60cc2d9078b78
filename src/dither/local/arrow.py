"""Messages in a column of Arrow's, as `task.tally` takes them.

Messages of a task have one size, so that a column of them is a table of bytes already:
they are combined by their headers without becoming objects of Python's. What Arrow
itself converts would load pandas where it is installed, which takes more memory than
all of this: bytes are passed on as buffers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.local.wire import FORMAT, HEADER, SINGLE, Header, Messages

__all__ = ["column_of", "messages"]

Packed = NDArray[np.uint8]
NO_MESSAGE = b""


def column_of(value: bytes) -> Any:
    """A binary column with one value."""
    import pyarrow as pa

    ends = np.array([0, len(value)], np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(value)]
    return pa.Array.from_buffers(pa.binary(), 1, buffers)


def messages(column: Any, record: int, *, batches: bool) -> Iterator[Messages | bytes]:
    """The content of a binary column. A tally of it is that of the list of its values."""
    size = HEADER + record
    data, ends = _bytes_of(column.drop_null())
    alike = _alike(data, ends, size, batches)
    joined = data if alike.all() else data[np.repeat(alike, np.diff(ends))]
    yield from _grouped(joined.reshape(-1, size))
    for place in np.flatnonzero(~alike):
        yield data[ends[place] : ends[place + 1]].tobytes()
    yield from repeat(NO_MESSAGE, column.null_count)


def _bytes_of(values: Any) -> tuple[Packed, NDArray[np.int64]]:
    """The bytes of all values in a row, and where each begins; last, where they end."""
    import pyarrow as pa

    if not len(values):
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    wide = values.cast(pa.large_binary())
    _, places, data = wide.buffers()
    ends = np.frombuffer(places, np.int64)[wide.offset :][: len(wide) + 1]
    found = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    return found[ends[0] : ends[-1]], ends - ends[0]


def _alike(
    data: Packed, ends: NDArray[np.int64], size: int, batches: bool
) -> NDArray[np.bool_]:
    """Which values are messages of this size: one each, or several in a row where
    batches are read, too.
    """
    lengths = np.diff(ends)
    alike: NDArray[np.bool_] = lengths == size
    if batches:
        alike = (lengths % size == 0) & (lengths > 0)
        alike[alike] = data[ends[:-1][alike]] == SINGLE
    return alike


def _grouped(rows: Packed) -> Iterator[Messages | bytes]:
    """Messages with equal headers together."""
    heads = rows[:, :HEADER]
    good = (heads[:, 0] == SINGLE) & (heads[:, 1] == FORMAT) & (heads[:, -1] == 0)
    if not good.all():
        yield from repeat(NO_MESSAGE, int(np.count_nonzero(~good)))
        rows = rows[good]
    for group in _by_header(rows):
        head = Header.from_bytes(group[0, :HEADER].tobytes())
        yield Messages(head, np.ascontiguousarray(group[:, HEADER:]))


def _by_header(rows: Packed) -> Iterator[Packed]:
    heads = np.ascontiguousarray(rows[:, :HEADER]).view(np.uint64)
    if not len(heads):
        return
    if (heads == heads[0]).all():
        yield rows
        return
    order = np.lexsort(heads.T)
    heads, rows = heads[order], rows[order]
    edges = 1 + np.flatnonzero((heads[1:] != heads[:-1]).any(axis=1))
    yield from np.split(rows, edges)
