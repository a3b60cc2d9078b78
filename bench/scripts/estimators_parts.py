"""Splits, and the scores that models of every library get. This runs inside a peer's
environment too: numpy and scikit-learn only.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

metrics: Any = import_module("sklearn.metrics")

COMPONENTS = 2


@lru_cache(maxsize=1)
def _opened(path: str) -> dict[str, Any]:
    with np.load(path) as held:
        return {name: held[name] for name in held.files}


def split(path: str, number: int) -> tuple[Any, Any, Any, Any]:
    """Training rows and targets, then those for the test."""
    held = _opened(path)
    tested = np.zeros(len(held["inputs"]), bool)
    tested[held["tests"][number]] = True
    inputs, targets = held["inputs"], held["targets"]
    return inputs[~tested], targets[~tested], inputs[tested], targets[tested]


def timed(fit: Callable[[], Any]) -> tuple[Any, float]:
    """The clock of this thread: that of a process goes by ticks while a limit of its CPU
    time is set, as one is for the peer.
    """
    began = time.thread_time()
    model = fit()
    return model, time.thread_time() - began


def score(model: str, fitted: Any, parts: tuple[Any, Any, Any, Any]) -> float:
    """The larger the better, on rows that the fit did not see."""
    if model == "StandardScaler":
        return -scaling_error(fitted, parts[0])
    inputs, targets = parts[2:]
    if model == "PCA":
        return captured(fitted.components_, inputs)
    predicted = fitted.predict(inputs)
    if model == "KMeans":
        return float(metrics.adjusted_rand_score(targets, predicted))
    if targets.dtype.kind == "f":
        clipped = np.clip(np.nan_to_num(predicted), -1, 1)
        return float(metrics.r2_score(targets, clipped))
    return float((predicted == targets).mean())


def captured(components: Any, inputs: Any) -> float:
    """The share of the variance that directions hold, made orthonormal."""
    turned, _ = np.linalg.qr(np.nan_to_num(components).T)
    centred = inputs - inputs.mean(axis=0)
    return float(((centred @ turned) ** 2).sum() / (centred**2).sum())


def scaling_error(fitted: Any, inputs: Any) -> float:
    """How far means and deviations are off, in deviations."""
    mean, deviation = inputs.mean(axis=0), inputs.std(axis=0)
    kept = deviation > 0
    apart = (fitted.mean_ - mean)[kept] / deviation[kept]
    wider = np.asarray(fitted.scale_)[kept] / deviation[kept] - 1
    return float(np.sqrt((apart**2 + wider**2).mean()))
