"""Values of all rows of a part side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dither.learn.gradients import layers
from dither.learn.gradients.recorder import Part, Recorder

__all__ = ["Context", "Rowed", "Rule", "is_plain", "is_shared"]


@dataclass(frozen=True, slots=True)
class Rowed:
    """One value for each row."""

    values: Tensor

    @property
    def ndim(self) -> int:
        """Axes of one row's value."""
        return self.values.ndim - 1

    @property
    def shape(self) -> torch.Size:
        return self.values.shape[1:]

    def folded(self) -> Tensor:
        """All rows side by side along the first axis of their values."""
        return self.values.flatten(0, 1)

    def like(self, folded: Tensor) -> Rowed:
        """The opposite."""
        return Rowed(folded.reshape(*self.values.shape[:2], *folded.shape[1:]))


@dataclass(frozen=True)
class Context:
    """The number of rows, and the recorder of how they use parameters, if there is one."""

    count: int
    recorder: Recorder | None

    def rows(self, value: Any) -> Rowed:
        """A value for each row, of one that rows may share."""
        if isinstance(value, Part):
            if self.recorder is not None:
                return Rowed(layers.copied(self.recorder, value))
            value = value.values
        if isinstance(value, Rowed):
            return value
        return Rowed(value.expand(self.count, *value.shape))


Rule = Callable[..., Any]
"""Takes the context and an operation's arguments. `NotImplemented` leaves it to `vmap`."""


def is_shared(*values: Any) -> bool:
    """Whether all rows have the same weights."""
    return not any(isinstance(one, Rowed) for one in values)


def is_plain(*values: Any) -> bool:
    """Whether nothing of this is trained."""
    return not any(isinstance(one, Part) for one in values)
