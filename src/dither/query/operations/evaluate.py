"""Expressions over released keys and aggregates, in Python: post-processing, which
costs nothing.
"""

from __future__ import annotations

from dither.query.operations.evaluate_ends import Ends, ends
from dither.query.operations.evaluate_values import leaves, value

__all__ = ["Ends", "ends", "leaves", "value"]
