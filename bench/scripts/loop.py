"""Answer requests, one JSON object a line. This runs inside a peer's environment: standard library only."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable


def serve(answer: Callable[..., float]) -> None:
    for line in sys.stdin:
        print(json.dumps(answer(**json.loads(line))), flush=True)


def rate_of_vector(draw: Callable[[], object], n: int) -> float:
    """Samples per CPU-second of one call that draws n of them."""
    began = time.process_time()
    draw()
    return n / (time.process_time() - began)


def rate_of_scalar(draw: Callable[[], object], seconds: float) -> float:
    """Samples per CPU-second of single calls, repeated for about this long."""
    began, n, used = time.process_time(), 0, 0.0
    while used < seconds:
        draw()
        n += 1
        used = time.process_time() - began
    return n / used
