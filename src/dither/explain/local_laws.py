"""The error of answers that devices randomize themselves, in closed form.

Widths are those of a normal with the largest variance that the answers can have, and
half a step of the estimate for what is not normal about it. A device that has no answer
says "none", which is one value more.
"""

from __future__ import annotations

import math

from dither.explain.laws import NORMAL, normal_width

__all__ = ["LEVELS", "error", "oracle"]

YES_OR_NO = 2
LEVELS = 6
"""Number of levels below the root of the tree of counts that a quantile is read off: 64
bins.
"""


def error(
    query: str,
    epsilon: float,
    n: int,
    bounds: tuple[float, float],
    bins: int,
    confidence: float,
) -> float:
    """The ± of an estimate from n devices, in the units of the answer."""
    if query == "count":
        return _normal(n, _chosen(epsilon, YES_OR_NO, 1.0)[1], confidence)
    if query == "histogram":
        return _normal(n, _chosen(epsilon, bins, 1.0)[1], confidence)
    if query == "quantile":
        return _rank(epsilon, n, confidence)
    mean = _mean(epsilon, n, bounds, confidence)
    return mean if query == "mean" else n * mean


def oracle(query: str, epsilon: float, bins: int) -> str:
    """The method that the devices use."""
    if query in ("count", "histogram"):
        return _chosen(epsilon, YES_OR_NO if query == "count" else bins, 0.0)[0]
    return "a tree of counts" if query == "quantile" else "one bit for each number"


def _normal(n: int, law: tuple[float, float], confidence: float) -> float:
    variance, step = law
    return normal_width(confidence) * math.sqrt(n * variance) + step / 2


def _law(p: float, q: float, part: float) -> tuple[float, float]:
    """The variance of one device's estimate, and the step of the sum: a true one is
    reported with probability p, another with q; a part of the devices has it.
    """
    step = 1.0 / (p - q)
    return (q * (1 - q) * step * step + part * (1 - p - q) * step, step)


def _chosen(
    epsilon: float, values: int, part: float
) -> tuple[str, tuple[float, float]]:
    """The better of k-ary response and optimized unary encoding (Wang et al. 2017) for
    so many values and "none", chosen where few devices have the value; then its law
    where a part of them has it.
    """
    odds = math.exp(epsilon)
    # the values, and "none", less the one that is true
    others = values
    ways = {
        "k-ary response": (odds / (odds + others), 1.0 / (odds + others)),
        "unary encoding": (0.5, 1.0 / (odds + 1.0)),
    }
    best = min(ways, key=lambda name: _law(*ways[name], 0.0)[0])
    return best, _law(*ways[best], part)


def _mean(
    epsilon: float, n: int, bounds: tuple[float, float], confidence: float
) -> float:
    """Each device sends ±c with c = (e^ε + 1)/(e^ε − 1) on a scale of ±1 (Duchi, Jordan
    & Wainwright 2018), so no variance is above c².
    """
    half = (bounds[1] - bounds[0]) / 2
    size = half / math.tanh(epsilon / 2)
    return size * (normal_width(confidence) / math.sqrt(n) + 1.0 / n)


def _rank(epsilon: float, n: int, confidence: float) -> float:
    """Each device answers for one level of a binary tree. A rank adds up one node of
    each level; the chosen one is right if all ranks of the leaves are (union bound).

    Why: a level of n/h devices, scaled by h, has variance h·n·v for a node, and which
    devices are asked adds at most h·n over all levels; v is that of unary encoding,
    with at most h·n more for those who are in a node.
    """
    outside = (1 - confidence) / 2**LEVELS
    unary = _law(0.5, 1.0 / (math.exp(epsilon) + 1.0), 0.0)[0]
    variance = LEVELS * LEVELS * n * unary + 2 * LEVELS * n
    # from the tail: the confidence of each is 1 in floats where the stated one is near
    return -NORMAL.inv_cdf(outside / 2) * math.sqrt(variance)
