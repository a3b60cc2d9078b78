"""No warnings: while private records are read, whether there is one may depend on one of
them (rule R1). And no output at all while a search runs.
"""

from __future__ import annotations

import io
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

__all__ = ["muted", "silently"]


@contextmanager
def silently() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class _Nowhere(io.TextIOBase):
    """Takes what is printed, and keeps nothing."""

    def write(self, text: str) -> int:
        return len(text)


@contextmanager
def muted() -> Iterator[None]:
    """Nothing that callers' code prints, logs or warns is shown: how many runs a search
    has, and what losing ones did, must stay hidden.
    """
    nowhere, level = _Nowhere(), logging.root.manager.disable
    logging.disable(sys.maxsize)  # callers have levels of their own above the usual
    try:
        with silently(), redirect_stdout(nowhere), redirect_stderr(nowhere):
            yield
    finally:
        logging.disable(level)
