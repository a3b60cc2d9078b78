"""Owners of points, as of all records (`dither.science.owners`)."""

from __future__ import annotations

from dither.science.owners import canonical, chosen, codes_of

__all__ = ["canonical", "chosen", "codes_of"]
