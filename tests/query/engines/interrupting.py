"""Ctrl-C while an engine's statement is waited for."""

from __future__ import annotations

import itertools
import signal
import threading
from types import ModuleType
from typing import Any

import pytest

__all__ = ["interrupt_a_wait"]


def interrupt_a_wait(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, number: int
) -> None:
    """Another thread raises the signal during this one of the short waits in which the
    module waits for a statement.
    """
    wait, count = module.wait, itertools.count(1)

    def interrupted(*args: Any, **named: Any) -> Any:
        if next(count) == number:
            threading.Thread(target=signal.raise_signal, args=[signal.SIGINT]).start()
        return wait(*args, **named)

    monkeypatch.setattr(module, "wait", interrupted)
