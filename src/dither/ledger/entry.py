"""Lines of the log: their canonical form as JSON, and the hash that ties each to the
line before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Entry", "canonical", "digest"]

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def canonical(data: Any) -> str:
    """The canonical form of data as JSON, so that its hash is the same everywhere."""
    return _ENCODER.encode(data)


@dataclass(frozen=True)
class Entry:
    """One line of the log. Its hash covers everything in it and the hash of the line
    before.
    """

    seq: int
    time: str
    kind: str
    account: str
    body: Mapping[str, Any]
    hash: str

    @classmethod
    def after(
        cls,
        seq: int,
        previous: str,
        time: str,
        kind: str,
        account: str,
        body: Mapping[str, Any],
    ) -> Entry:
        return cls(
            seq,
            time,
            kind,
            account,
            body,
            digest(previous, seq, time, kind, account, canonical(body)),
        )

    def follows(self, previous: str) -> bool:
        text = canonical(self.body)
        return self.hash == digest(
            previous, self.seq, self.time, self.kind, self.account, text
        )


def digest(
    previous: str, seq: int, time: str, kind: str, account: str, body: str
) -> str:
    """Fields are written as a JSON list, so that no two lines have the same text."""
    return hashlib.sha256(
        canonical([previous, seq, time, kind, account, body]).encode()
    ).hexdigest()
