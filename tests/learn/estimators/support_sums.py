"""What tests of noisy sums share: tiny rows, their neighbours, and an audit."""

import itertools

import numpy as np

from dither.learn.estimators.data import Declared, Rows
from dither.learn.estimators.owners import WHOLE
from dither.learn.estimators.spending import Spending
from dither.privacy import Unit

PURE = Spending(Unit("user"), epsilon=1.0)
NORMAL = Spending(Unit("user"), mu=0.5)


def declared(width, *, low=-1.0, high=1.0, classes=None, units=None, rows=1):
    lows, highs = np.broadcast_to(low, width), np.broadcast_to(high, width)
    return Declared(lows.astype(float), highs.astype(float), classes, None, units, rows)


def rows_of(inputs, targets=None, weights=None):
    inputs = np.asarray(inputs, float).reshape(-1, np.shape(inputs)[-1])
    if weights is None:
        weights = np.ones(len(inputs), np.int64)
    if targets is not None:
        targets = np.asarray(targets, np.int64)
    return Rows(inputs, targets, np.asarray(weights, np.int64))


def joined(one, other):
    targets = None
    if one.targets is not None:
        targets = np.concatenate([one.targets, other.targets])
    return Rows(
        np.concatenate([one.inputs, other.inputs]),
        targets,
        np.concatenate([one.weights, other.weights]),
    )


def units(width, values=(0.0, 0.3, 0.5, 1.0), classes=None):
    """Every unit of one row with these values; then units of two rows, each of half the
    weight.
    """
    points = list(itertools.product(values, repeat=width))
    labels = range(classes) if classes else [0]
    for point, label in itertools.product(points, labels):
        yield 1, rows_of([point], [label] if classes else None)
    for one, other in itertools.product(points[:: len(points) // 4], points):
        pair = list(labels)[:1] + list(labels)[-1:]
        halves = [WHOLE // 2] * 2
        yield WHOLE, rows_of([one, other], pair if classes else None, halves)
