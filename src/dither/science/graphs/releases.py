"""What questions about graphs return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dither.release import Release

__all__ = ["CountRelease"]


@dataclass(frozen=True, eq=False, repr=False)
class CountRelease(Release):
    """A private number about a graph."""

    def _derived(self, **changes: Any) -> Release:
        fields = ("what", "value", "sources", "spread", "keys", "notes", "noise")
        return Release(**({name: getattr(self, name) for name in fields} | changes))
