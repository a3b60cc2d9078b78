"""diffprivlib's estimators, with public bounds of -1 to 1 and its other settings as they
are.
"""

from __future__ import annotations

import math
import signal
from importlib import import_module
from typing import Any

import numpy as np

from bench.scripts.estimators_parts import COMPONENTS, score, split, timed
from bench.scripts.loop import serve

models: Any = import_module("diffprivlib.models")


class TooLong(Exception):
    """A fit took more CPU time than it may."""


def _stop(*_: Any) -> None:
    raise TooLong


signal.signal(signal.SIGPROF, _stop)


def made(model: str, width: int, classes: int, epsilon: float, how: Any) -> Any:
    bounds = np.full(width, -1.0), np.full(width, 1.0)
    norm = math.sqrt(width)
    given: dict[str, dict[str, Any]] = {
        "LogisticRegression": {"data_norm": norm},
        "GaussianNB": {"bounds": bounds},
        "RandomForestClassifier": {"bounds": bounds, "classes": list(range(classes))},
        "LinearRegression": {"bounds_X": bounds, "bounds_y": (-1.0, 1.0)},
        "KMeans": {"bounds": bounds, "n_clusters": classes},
        "PCA": {"bounds": bounds, "data_norm": norm, "n_components": COMPONENTS},
        "StandardScaler": {"bounds": bounds},
    }
    return getattr(models, model)(epsilon=epsilon, **given[model], **how)


def answer(
    model: str,
    path: str,
    number: int,
    classes: int,
    epsilon: float,
    seconds: float,
    how: Any = None,
) -> Any:
    """A score and CPU-seconds; or in words why there is none."""
    parts = split(path, number)
    asked = made(model, parts[0].shape[1], classes, epsilon, how or {})
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        fitted, used = timed(lambda: asked.fit(*parts[:2]))
    except TooLong:
        return f"a fit took more than {seconds:g} CPU-seconds"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return score(model, fitted, parts), used


serve(answer)
