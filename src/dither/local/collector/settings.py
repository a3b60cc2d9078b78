"""The decisions of the operator of a collector. They are kept in the store, so that all
who look at it later know the same.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from dither.errors import ArgumentError
from dither.local.signing import public_key

__all__ = ["MOST", "Settings", "check_whole"]

MOST = 1 << 40  # messages of a quota


def check_whole(name: str, value: int, most: int) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not 0 <= value <= most:
        raise ArgumentError(name, f"must be a whole number from 0 to {most:,}")


@dataclass(frozen=True)
class Settings:
    """Whose tasks are collected, and for how long what is kept; `Collector` says more."""

    trust: str
    grace: int = 7
    retention: int = 400
    direct: int = 10_000_000

    def __post_init__(self) -> None:
        public_key(self.trust)
        check_whole("grace", self.grace, 366)
        check_whole("retention", self.retention, 36_600)
        check_whole("direct", self.direct, MOST)

    def trusts(self, key: str) -> bool:
        """Whether it is the same key, however it is written."""
        return bytes.fromhex(self.trust) == bytes.fromhex(key)

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Settings:
        return cls(**json.loads(text))
