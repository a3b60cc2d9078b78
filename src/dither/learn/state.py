"""All that a module holds: parameters, buffers, and what its code keeps beside them.

Only trained parameters get noise, so nothing else may come out of a run, or last from one
part of a batch to the next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

__all__ = ["Held", "held_by"]

HIDDEN = ("_parameters", "_buffers", "_modules")
"""Names of places that names of tensors leave out."""
OWN = frozenset(nn.Module().__dict__) - {"training", *HIDDEN}
"""What every module has; the rest of its `__dict__` is its code's."""
PLAIN = (
    str | bytes | int | float | complex | bool | None | type | ModuleType | FunctionType
    | BuiltinFunctionType | Enum | torch.dtype | torch.device
)  # fmt: skip
"""What holds nothing that could change."""
CONTAINERS = (dict, list, set, tuple, frozenset, deque)
"""These have no attributes."""
MISSING = object()


@dataclass(frozen=True)
class Kept:
    """A tensor, its memory, and a copy of what it held."""

    tensor: Tensor
    data: Tensor
    copy: Tensor

    @classmethod
    def of(cls, tensor: Tensor) -> Kept:
        return cls(tensor, tensor.data, tensor.detach().clone())

    def restore(self) -> None:
        if not _same(self.tensor, self.copy):
            self.tensor.data = self.data
            self.data.copy_(self.copy)


@dataclass(frozen=True)
class Held:
    """What a module held at some moment."""

    model: nn.Module
    kept: dict[int, Kept]
    places: tuple[Callable[[], None], ...]

    @classmethod
    def of(cls, model: nn.Module) -> Held:
        kept, places = {}, []
        for _, one in held_by(model):
            if isinstance(one, Tensor):
                kept[id(one)] = Kept.of(one)
            elif (refill := _refill(one)) is not None:
                places.append(refill)
        return cls(model, kept, tuple(places))

    def restore(self) -> None:
        """Put everything back, whatever code of the module has done since."""
        for refill in self.places:
            refill()
        on_gpu = [one for one in self.kept.values() if one.data.is_cuda]
        with torch.no_grad():
            for one in self.kept.values():
                if not one.data.is_cuda:
                    one.restore()
            _put_back(on_gpu)

    def changed(self) -> str | None:
        """The name of something that holds other tensors now; None if nothing does."""
        for name, tensor in held_by(self.model):
            if not isinstance(tensor, Tensor):
                continue
            held = self.kept.get(id(tensor))
            if held is None or not _same(held.copy, tensor):
                return name
        return None


def _put_back(kept: list[Kept]) -> None:
    """On a GPU to ask what has changed takes longer than to copy all of it."""
    for one in kept:
        one.tensor.data = one.data
    if kept:
        torch._foreach_copy_([one.data for one in kept], [one.copy for one in kept])


def held_by(model: nn.Module) -> Iterator[tuple[str, Any]]:
    """Everything that a module holds, directly or in what it holds, each thing once and
    with a name.
    """
    seen: set[int] = set()
    ahead: deque[tuple[str, Any]] = deque(model.named_modules())
    modules = {id(one) for _, one in ahead}
    while ahead:
        name, one = ahead.popleft()
        if isinstance(one, PLAIN) or id(one) in seen:
            continue
        seen.add(id(one))
        yield name, one
        parts = () if isinstance(one, Tensor) else _parts(one)
        for key, part in parts:
            if id(part) not in modules:
                inner = name if key in HIDDEN else f"{name}.{key}" if name else str(key)
                ahead.append((inner, part))


def _parts(one: Any) -> Iterator[tuple[Any, Any]]:
    """What is in a container, and the attributes of anything."""
    if isinstance(one, dict):
        yield from list(one.items())
    elif isinstance(one, list | tuple | set | frozenset | deque):
        yield from enumerate(list(one))
    elif isinstance(one, MethodType):
        yield "__self__", one.__self__
    elif isinstance(one, partial):
        yield from (("func", one.func), ("args", one.args), ("keywords", one.keywords))
    yield from _attributes(one).items()


def _attributes(one: Any) -> dict[str, Any]:
    if type(one) in CONTAINERS:
        return {}
    own = getattr(one, "__dict__", None)
    found = dict(own) if isinstance(own, dict) else {}
    if isinstance(one, nn.Module):
        return {name: part for name, part in found.items() if name not in OWN}
    for name in _slots(type(one)):
        value = getattr(one, name, MISSING)
        if value is not MISSING:
            found[name] = value
    return found


def _slots(kind: type) -> list[str]:
    listed = [one.__dict__.get("__slots__", ()) for one in kind.__mro__]
    every = [(one,) if isinstance(one, str) else tuple(one) for one in listed]
    return [name for one in every for name in one if not name.startswith("__")]


def _refill(one: Any) -> Callable[[], None] | None:
    """What puts a thing's parts back; None if it has none that could change."""
    if isinstance(one, np.ndarray):
        values = one.copy()
        return lambda: np.copyto(one, values)
    refills = [_refill_items(one), _refill_attributes(one)]
    found = [refill for refill in refills if refill is not None]
    if len(found) < 2:
        return found[0] if found else None

    def both() -> None:
        for refill in found:
            refill()

    return both


def _refill_items(one: Any) -> Callable[[], None] | None:
    if isinstance(one, dict):
        return _again(one, dict(one), one.update)
    if isinstance(one, set):
        return _again(one, set(one), one.update)
    if isinstance(one, list | deque):
        return _again(one, list(one), one.extend)
    return None


def _again(one: Any, before: Any, fill: Callable[[Any], Any]) -> Callable[[], None]:
    def refill() -> None:
        if not _unchanged(one, before):
            one.clear()
            fill(before)

    return refill


def _unchanged(one: Any, before: Any) -> bool:
    """Whether the very same things are in a container, in the same order."""
    if len(one) != len(before):
        return False
    pairs = zip(one, before, strict=True)
    if isinstance(one, dict):
        return all(a is b and one[a] is before[b] for a, b in pairs)
    return all(a is b for a, b in pairs)


def _refill_attributes(one: Any) -> Callable[[], None] | None:
    if type(one) in CONTAINERS:
        return None
    before = _attributes(one)
    if not before and not hasattr(one, "__dict__") and not _slots(type(one)):
        return None

    def refill() -> None:
        now = _attributes(one)
        for name in now.keys() - before.keys():
            object.__delattr__(one, name)
        for name, value in before.items():
            if now.get(name, MISSING) is not value:
                object.__setattr__(one, name, value)

    return refill


def _same(one: Tensor, two: Tensor) -> bool:
    alike = one.shape == two.shape and one.dtype == two.dtype
    return alike and _equal(one.detach(), two.detach())


def _equal(one: Tensor, two: Tensor) -> bool:
    if torch.equal(one, two):
        return True
    return bool(((one == two) | (one.isnan() & two.isnan())).all())
