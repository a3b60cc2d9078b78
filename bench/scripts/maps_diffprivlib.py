"""diffprivlib's two-dimensional histogram: its counts, and how long they took."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

from bench.scripts.loop import serve

tools: Any = import_module("diffprivlib.tools")
numpy: Any = import_module("numpy")


def answer(path: str, bins: int, epsilon: float, save: str = "") -> float:
    points = numpy.load(path)
    began = time.process_time()
    counts, _, _ = tools.histogram2d(
        *points.T, epsilon=epsilon, bins=bins, range=((0, 1), (0, 1))
    )
    used = time.process_time() - began
    if save:
        numpy.save(save, counts)
    return used


serve(answer)
