"""The trusted curator: private answers from data that one side holds.

`arrays` answers from an array in hand.
"""

from dither.query.arrays.functions import (
    count,
    histogram,
    mean,
    quantile,
    sum,
    variance,
)

__all__ = ["count", "histogram", "mean", "quantile", "sum", "variance"]
