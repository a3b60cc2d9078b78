"""Dither turns sensitive data into answers that are safe to publish, with differential privacy."""

from dither._version import __version__

__all__ = ["__version__"]
