"""The records of a column, whatever holds it, one by one.

Whether a column can be read must not depend on a record (rule R1). So all that a record
may raise is caught here and where records are read, and not only an `Exception`: a
class of its own may call `sys.exit()`, and a library in Rust may panic. Only
KeyboardInterrupt is raised again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["LISTS", "items_of"]

LISTS = ("to_pylist", "to_list", "tolist")  # Arrow, pandas and Polars, numpy


def items_of(values: Any) -> Sequence[Any]:
    """The records of a column as objects; those that are masked are None."""
    if isinstance(values, list | tuple):
        return values
    if isinstance(values, np.ma.MaskedArray):
        # `filled(None)` would fill in the array's own fill value, such as "?"
        pairs = zip(items_of(values.data), np.ma.getmaskarray(values), strict=True)
        return [None if missing else item for item, missing in pairs]
    if isinstance(values, np.ndarray):
        return list(values) if values.dtype.kind in "Mm" else list(values.tolist())
    ways = (getattr(values, name) for name in LISTS if hasattr(values, name))
    way = next(ways, None)
    try:
        return list(values) if way is None else list(way())
    except KeyboardInterrupt:
        raise
    except BaseException:  # a time that Python's own types cannot hold
        return [_alone(values, place) for place in range(len(values))]


def _alone(values: Any, place: int) -> Any:
    try:
        item = values[place]
        return item.as_py() if hasattr(item, "as_py") else item
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None
