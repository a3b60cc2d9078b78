"""The account book: everything that touches private data is charged before it looks."""

from dither.ledger.budget import Budget, Receipt

__all__ = ["Budget", "Receipt"]
