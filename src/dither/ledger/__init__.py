"""The account book: everything that touches private data is charged before it looks."""

from dither.ledger.account import Account, Receipt
from dither.ledger.budget import Budget
from dither.ledger.ledger import Ledger
from dither.ledger.policy import Policy
from dither.ledger.replay import replay_key
from dither.ledger.verify import verify

__all__ = ["Account", "Budget", "Ledger", "Policy", "Receipt", "replay_key", "verify"]
