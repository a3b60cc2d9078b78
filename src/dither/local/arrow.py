"""Messages in a column of Arrow's, as `task.tally` takes them.

Messages of a task have one size, so that a column of them is a table of bytes already:
they are put together by their headers without becoming objects of Python's.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.local.wire import FORMAT, HEADER, SINGLE, Header, Messages

__all__ = ["messages"]

Packed = NDArray[np.uint8]
NO_MESSAGE = b""


def messages(column: Any, record: int, *, batches: bool) -> Iterator[Messages | bytes]:
    """What a binary column holds. A tally of it is that of the list of its values."""
    import pyarrow as pa

    size = HEADER + record
    yield from repeat(NO_MESSAGE, column.null_count)
    values = column.drop_null().cast(pa.large_binary())
    alike = _alike(values, size, batches)
    rows = _joined(values.filter(pa.array(alike))).reshape(-1, size)
    yield from _grouped(rows)
    for value in values.filter(pa.array(~alike)):
        yield value.as_py()


def _alike(values: Any, size: int, batches: bool) -> NDArray[np.bool_]:
    """Which values are messages of this size: one each, or several in a row where
    batches are read, too.
    """
    import pyarrow.compute as pc

    lengths = pc.binary_length(values).to_numpy()
    single = pc.starts_with(values, bytes([SINGLE])).to_numpy(zero_copy_only=False)
    whole = lengths % size == 0 if batches else lengths == size
    found: NDArray[np.bool_] = single & whole
    return found


def _joined(values: Any) -> Packed:
    """The bytes of all values, one after the other."""
    _, places, data = values.buffers()
    if not len(values):
        return np.empty(0, np.uint8)
    ends = np.frombuffer(places, np.int64)[values.offset :][: len(values) + 1]
    return np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]


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
