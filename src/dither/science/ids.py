"""Ids in one form, as `dither.ids` has them."""

from dither.ids import EXACT, MANY_DIGITS, identity

__all__ = ["EXACT", "MANY_DIGITS", "identity"]
