"""The server's side of device statistics: parcels come in, each is counted once, and
tallies are kept durably in SQLite or PostgreSQL.

`Collector` is the core, without a web framework; `dither.local.collector.web` is a thin
ASGI app over it.
"""

from dither.local.collector.collector import Collector
from dither.local.collector.outcome import CODES, Outcome
from dither.local.collector.status import Status

__all__ = ["CODES", "Collector", "Outcome", "Status"]
