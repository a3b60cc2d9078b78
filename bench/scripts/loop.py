"""Answer requests, one JSON object a line. This runs inside a peer's environment:
standard library only.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def serve(answer: Callable[..., Any]) -> None:
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


def peak() -> float | None:
    """The most memory this process had, in MB; None where the system does not say.

    The `ru_maxrss` of getrusage will not do: it starts with what the parent had when it
    started this process.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    kilobytes = next(
        line.split()[1]
        for line in status.read_text().splitlines()
        if line.startswith("VmHWM:")
    )
    return int(kilobytes) * 1024 / 1_000_000
