"""The device's side: consent, a lifetime budget, and one message for each period."""

from dither.local.client.client import Client
from dither.local.client.sent import Sent

__all__ = ["Client", "Sent"]
