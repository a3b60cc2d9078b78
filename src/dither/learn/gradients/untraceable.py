"""Reasons for which a model cannot be traced."""

from __future__ import annotations

__all__ = ["DECIDES", "Untraceable"]

DECIDES = "values of a row decide what is done, or a shape"


class Untraceable(Exception):
    """Its message is the reason. The model then sees one row at a time."""
