"""A use of a parameter that the tape does not know."""

from __future__ import annotations

__all__ = ["Untraceable"]


class Untraceable(Exception):
    """Its message names the function. The model then goes by `torch.func`."""
