"""The ids of the last transactions, in memory: what the store has, and nothing more.

To look an id up changes nothing; to insert it into a large sorted table writes a whole
page. So ids are first kept as they come, a row for each transaction, and a process
knows these rows by heart. Before it decides anything it reads those that it has not
seen, of whichever process they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from dither.local.collector.rows import Rows, parted

__all__ = ["Recent"]

MANY = 16_384
"""Number of ids that are put among the older ones together."""


class Recent:
    """Ids by their span. Those that another process has put among the older ones stay
    in here for a while, which is harmless: they are known in both places.
    """

    def __init__(self) -> None:
        self._last = -1
        self._ids: defaultdict[int, set[bytes]] = defaultdict(set)
        self._size = 0

    def catch_up(self, rows: Rows) -> bool:
        """Read what was committed since; called when a transaction begins. Whether ids
        were put among the older ones, which is worth a commit by itself.
        """
        # Only the store says whether a merge was committed, and only in here nobody
        # else looks at what is forgotten
        if self._size >= MANY and not rows.has_fresh(self._last):
            self._ids.clear()
            self._size = 0
        found = rows.fresh(self._last)
        for _, span, ids in found:
            several = parted(ids)
            self._ids[span].update(several)
            self._size += len(several)
        if found:  # all of them, or they are read again after an error
            self._last = found[-1][0]
        if self._size < MANY:
            return False
        rows.merge()
        return True

    def known(self, rows: Rows, span: int, ids: Sequence[bytes]) -> set[bytes]:
        """Which ids were counted before."""
        here = self._ids[span].intersection(ids)
        return here | rows.known(span, [one for one in ids if one not in here])
