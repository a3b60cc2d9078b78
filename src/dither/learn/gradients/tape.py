"""What a model did with its parameters on the way forward, and what came back.

While the tape is on, known layers are called through `taps`; any other use of a
parameter that is trained is `Untraceable`, and its model goes by `torch.func`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from dither.learn.gradients.norms import ghost_is_cheaper
from dither.learn.gradients.taps import Seen
from dither.learn.gradients.untraceable import Untraceable
from dither.learn.gradients.uses import Factored, Use, Whole

__all__ = ["LEADING", "SECOND", "SHARED", "UNSEEN", "Call", "Shapes", "Tape"]

LEADING, SECOND, SHARED, UNSEEN = "leading", "second", "shared", "unseen"
"""Where rows are in what a layer sees: along its first axis (maybe with places inside
it), along its second, or nowhere, because all rows look up the same. No gradient comes
back to a layer that is unseen."""


Known = Callable[..., Any]
Shapes = tuple[tuple[int, ...], ...]


class Call(NamedTuple):
    """Which call of a tapped function it is: a model that leaves a layer out, or takes
    another one, makes other calls.
    """

    number: int
    function: str
    parameters: tuple[str, ...]
    axes: int


@dataclass
class Tape(TorchFunctionMode):
    """`known` are the functions that are tapped, and how; `names` the trained parameters
    by identity; `units` and `rows` how many units a batch has, and rows a unit;
    `layouts` where rows are at each tapped call; `absent` the rows that only fill a unit
    up. With a `watcher`, gradients of outputs are shown to it by the call, and no use is
    noted.
    """

    known: Mapping[Any, Known]
    names: Mapping[int, str]
    units: int
    rows: int = 1
    layouts: Mapping[Call, str] = field(default_factory=dict)
    absent: Tensor | None = None
    watcher: Callable[[Call, Tensor], None] | None = None
    uses: dict[str, list[Use]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    shapes: list[Shapes] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.anchor = torch.zeros(
            (), dtype=torch.float32, device="cpu", requires_grad=True
        )

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        words = dict(kwargs or {})
        if not (self._among(args) or self._among(words.values())):
            return func(*args, **words)
        known = self.known.get(func)
        if known is not None:
            if "input" in words:
                args = (words.pop("input"), *args)
            self._now = func, (*args, *words.values())
            return known(self, func, *args, **words)
        found = func(*args, **words)
        if any(isinstance(one, Tensor) and one.requires_grad for one in _flat(found)):
            raise Untraceable(getattr(func, "__name__", str(func)))
        return found

    @property
    def count(self) -> int:
        """Rows of a batch."""
        return self.units * self.rows

    def watched(self, value: Any) -> bool:
        # A parameter lives as long as its name here, so nothing else has its identity.
        return id(value) in self.names

    def _among(self, values: Iterable[Any]) -> bool:
        """Whether a trained parameter is here, or in a list here."""
        return any(
            self._among(one) if isinstance(one, (list, tuple)) else self.watched(one)
            for one in values
        )

    def call(self, seen: Callable[[str, Any, Tensor], None]) -> tuple[str, Seen]:
        """Where rows are in the next tapped call, and what to do on its way back."""
        call = self._noted()
        layout = self.layouts.get(call, LEADING)
        watcher = self.watcher
        if watcher is not None:
            return layout, lambda _, gradient: watcher(call, gradient)
        if self.layouts and call not in self.layouts:
            raise Untraceable("a model that now takes another way")
        if layout == UNSEEN:
            return LEADING, _refused
        return layout, partial(seen, layout)

    def _noted(self) -> Call:
        func, given = self._now
        values = [one for one in _flat(given) if isinstance(one, Tensor)]
        names = [self.names[id(one)] for one in values if id(one) in self.names]
        name, axes = getattr(func, "__name__", str(func)), values[0].ndim
        self.calls.append(Call(len(self.calls), name, tuple(names), axes))
        self.shapes.append(tuple(tuple(one.shape) for one in values))
        return self.calls[-1]

    def check(self, shapes: Sequence[Shapes] | None) -> None:
        """That the model made all calls, and with these shapes if they are known."""
        if self.layouts and len(self.calls) != len(self.layouts):
            raise Untraceable("a model that now leaves something out")
        if shapes is not None and self.shapes != list(shapes):
            raise Untraceable("a model that now takes rows of other shapes")

    def arranged(self, values: Tensor, layout: str, axes: int = 1) -> Tensor:
        """[units, places, …] with the last `axes` axes as they are."""
        moved = values.transpose(0, 1) if layout == SECOND else values
        tail = moved.shape[moved.ndim - axes :]
        found = moved.reshape(self.units, -1, *tail)
        if self.absent is None:
            return found
        # A gradient of 0 times an input that is not a number is not a number.
        hidden = self.absent.view(self.units, self.rows, 1)
        hidden = hidden.expand(-1, -1, found.shape[1] // self.rows)
        return found.masked_fill(hidden.reshape(*found.shape[:2], *[1] * axes), 0)

    def summed(self, values: Tensor) -> Tensor:
        """[rows, …] becomes [units, entries], without rows that are absent."""
        if len(values) != self.count:
            raise Untraceable("rows that are folded into others")
        flat = values.reshape(self.count, -1)
        if self.rows == 1:
            return flat.to(_kept(values))
        return self.arranged(flat, LEADING).sum(1, dtype=_kept(values))

    def note(self, parameter: Any, use: Callable[[], Use]) -> None:
        """Remember how a trained parameter was used; others are passed over.

        A gradient that will be held is made at once, so that what it is made of can go
        before earlier layers need memory.
        """
        if not self.watched(parameter):
            return
        found = use()
        if isinstance(found, Factored) and not ghost_is_cheaper([found]):
            found = Whole(found.whole())
        self.uses.setdefault(self.names[id(parameter)], []).append(found)


def _flat(values: Any) -> Iterable[Any]:
    if isinstance(values, (list, tuple)):
        for one in values:
            yield from _flat(one)
    else:
        yield values


def _refused(*_: Tensor) -> None:
    raise Untraceable("a layer that gradients now reach")


def _kept(values: Tensor) -> torch.dtype:
    return torch.promote_types(values.dtype, torch.float32)
