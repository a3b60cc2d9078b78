"""Memory that a step gives back is kept for the next one."""

from __future__ import annotations

import torch

__all__ = ["keep_memory"]

LARGE = 31 << 20
"""Bytes; pieces of 32 MiB and more glibc always takes from the system."""


def keep_memory() -> None:
    """Take a large piece of memory and give it back, untouched.

    glibc learns from it to keep what is freed, up to twice as much. Else it returns a
    step's memory to the system and gets it back page by page, which was a quarter of
    the time of a private step. Other allocators are not moved by it.
    """
    torch.empty(LARGE, dtype=torch.uint8)
