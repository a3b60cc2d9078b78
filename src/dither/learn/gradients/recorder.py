"""The uses of parameters that gradients of a program's rows come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional

from dither.learn.gradients.norms import ghost_is_cheaper
from dither.learn.gradients.uses import Factored, Lookup, Outer, Use, Whole

__all__ = ["Part", "Recorder"]


@dataclass(frozen=True)
class Part:
    """A trained parameter, or a block of it along its first axis; a matrix may be
    `turned`, so that its columns are the parameter's rows.
    """

    parameter: Tensor
    begin: int = 0
    end: int | None = None
    turned: bool = False

    @property
    def values(self) -> Tensor:
        plain = self.parameter.detach()
        if not self.whole:
            plain = plain[self.begin : self.end]
        return plain.T if self.turned else plain

    @property
    def whole(self) -> bool:
        return self.end is None

    @property
    def ndim(self) -> int:
        return self.parameter.ndim

    @property
    def shape(self) -> torch.Size:
        return self.values.shape

    def block(self, begin: int, length: int) -> Part:
        """Some of its rows."""
        return Part(self.parameter, self.begin + begin, self.begin + begin + length)

    def placed(self, use: Use) -> Use:
        """The use of the whole parameter that a use of this block is."""
        if self.whole:
            return use
        total, end = len(self.parameter), self.end or 0
        if isinstance(use, Outer):
            left = functional.pad(use.left, (self.begin, total - end))
            return Outer(left, use.right, use.kernel)
        if isinstance(use, Lookup):
            return Lookup(use.lines + self.begin, use.right, total)
        each = self.parameter[0].numel()
        outside = (self.begin * each, (total - end) * each)
        return Whole(functional.pad(use.whole(), outside))


@dataclass
class Recorder:
    """`names` are the trained parameters by identity; `units` and `rows` how many units a
    batch has, and rows per unit; `absent` the rows that only fill a unit up.
    """

    names: Mapping[int, str]
    units: int
    rows: int = 1
    absent: Tensor | None = None
    uses: dict[str, list[Use]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Without a number that needs a gradient, the backward pass would not visit a
        # layer whose inputs are data.
        self.anchor = torch.zeros(
            (), dtype=torch.float32, device="cpu", requires_grad=True
        )

    @property
    def count(self) -> int:
        """Rows of a batch."""
        return self.units * self.rows

    def arranged(self, values: Tensor, axes: int = 1) -> Tensor:
        """[rows, …] becomes [units, places, …] with the last `axes` axes as they are."""
        tail = values.shape[values.ndim - axes :]
        found = values.reshape(self.units, -1, *tail)
        if self.absent is None:
            return found
        # A gradient of 0 times an input that is not a number is not a number.
        hidden = self.absent.view(self.units, self.rows, 1)
        hidden = hidden.expand(-1, -1, found.shape[1] // self.rows)
        return found.masked_fill(hidden.reshape(*found.shape[:2], *[1] * axes), 0)

    def summed(self, values: Tensor) -> Tensor:
        """[rows or places of them, …] becomes [units, entries], without rows that are
        absent.
        """
        kept = torch.promote_types(values.dtype, torch.float32)
        flat = values.reshape(len(values), -1)
        if len(values) == self.units:
            return flat.to(kept)
        return self.arranged(flat).sum(1, dtype=kept)

    def note(self, part: Part | Tensor | None, use: Callable[[], Use]) -> None:
        """Remember how a trained parameter was used; others are passed over.

        A gradient that will be held is made at once, so that what it is made of can go
        before earlier layers need memory.
        """
        if not isinstance(part, Part):
            return
        found = use()
        if isinstance(found, Factored) and not ghost_is_cheaper([found]):
            found = Whole(found.whole())
        name = self.names[id(part.parameter)]
        self.uses.setdefault(name, []).append(part.placed(found))
