"""All that a module holds: parameters, buffers, and what its code keeps beside them.

Only trained parameters get noise, so nothing else may come out of a run, or last from one
part of a batch to the next.
"""

from __future__ import annotations

import random  # allowed: its generators are refused
from array import array
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

from dither.learn.reach import is_own, put_back, reached

__all__ = ["GENERATORS", "HOOKS", "Held", "held_by"]

HIDDEN = ("_parameters", "_buffers", "_modules")
"""Names of places that names of tensors leave out."""
OWN = frozenset(nn.Module().__dict__) - {"training", *HIDDEN}
"""Attributes that every module has; the rest of its `__dict__` is its code's."""
HOOKS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
)
PLAIN = (
    str | bytes | int | float | complex | bool | None | type | ModuleType | FunctionType
    | BuiltinFunctionType | Enum | torch.dtype | torch.device
)  # fmt: skip
"""Types that hold nothing that could change."""
CONTAINERS = (dict, list, set, tuple, frozenset, deque)
"""These have no attributes."""
GENERATORS = (
    torch.Generator,
    np.random.Generator,  # allowed: it is refused
    np.random.RandomState,  # allowed: it is refused
    random.Random,
)
MISSING = object()


@dataclass(frozen=True)
class Kept:
    """A tensor, its memory, and a copy of what it held."""

    tensor: Tensor
    data: Tensor
    copy: Tensor
    gradient: Tensor | None
    learns: bool

    @classmethod
    def of(cls, tensor: Tensor) -> Kept:
        gradient = tensor.grad if tensor.is_leaf else None
        learns = tensor.requires_grad
        return cls(tensor, tensor.data, tensor.detach().clone(), gradient, learns)

    def restore(self) -> None:
        self.restore_flags()
        if not _same(self.tensor, self.copy):
            self.tensor.data = self.data
            self.data.copy_(self.copy)

    def restore_flags(self) -> None:
        if self.tensor.is_leaf:
            if self.tensor.grad is not self.gradient:
                self.tensor.grad = self.gradient
            if self.tensor.requires_grad != self.learns:
                self.tensor.requires_grad_(self.learns)


@dataclass(frozen=True)
class Held:
    """The state of a module at some moment."""

    model: nn.Module
    kept: dict[int, Kept]
    places: tuple[Callable[[], None], ...]

    @classmethod
    def of(cls, model: nn.Module, *code: Any) -> Held:
        """The state now. If other `code` that rows meet is passed, such as a loss, all that
        it and the model can reach is held too: closures, attributes of classes, global
        names, hooks.
        """
        kept, places = {}, []
        for _, one in held_by(model, *code):
            if isinstance(one, Tensor):
                kept[id(one)] = Kept.of(one)
            elif (refill := _refill(one, bool(code))) is not None:
                places.append(refill)
        return cls(model, kept, tuple(places))

    def restore(self) -> None:
        """Put everything back, whatever code of the module has done since."""
        for refill in self.places:
            refill()
        on_gpu = [one for one in self.kept.values() if one.data.is_cuda]
        with torch.no_grad():
            for one in on_gpu:
                one.restore_flags()
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


def held_by(model: nn.Module, *code: Any) -> Iterator[tuple[str, Any]]:
    """Everything that a module holds, directly or in what it holds, each thing once and
    with a name; with `code`, also what it and the module's own code can reach.
    """
    seen: set[int] = set()
    ahead: deque[tuple[str, Any]] = deque(model.named_modules())
    modules = {id(one) for _, one in ahead}
    ahead.extend(("loss", one) for one in code)
    while ahead:
        name, one = ahead.popleft()
        if id(one) in seen or (isinstance(one, PLAIN) and not (code and _leads(one))):
            continue
        seen.add(id(one))
        yield name, one
        parts = () if isinstance(one, Tensor) else _parts(one, bool(code))
        for key, part in parts:
            if id(part) not in modules:
                inner = name if key in HIDDEN else f"{name}.{key}" if name else str(key)
                ahead.append((inner, part))


def _leads(one: Any) -> bool:
    """Whether this is code of somebody's own, which may lead to more."""
    return isinstance(one, FunctionType | type) and is_own(one)


def _parts(one: Any, deep: bool = False) -> Iterator[tuple[Any, Any]]:
    """The content of a container, and the attributes of anything; `deep`, also the class
    of a thing, hooks, and what code leads to.
    """
    if deep:
        yield "class", type(one)
        if isinstance(one, nn.Module):
            yield from ((name, vars(one)[name]) for name in HOOKS)
        if isinstance(one, FunctionType | type):
            yield from reached(one)
            return
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


def _refill(one: Any, deep: bool = False) -> Callable[[], None] | None:
    """A function that restores a thing's parts; None if it has no parts that could
    change.
    """
    if deep and _leads(one):
        return put_back(one)
    if isinstance(one, bytearray | array):
        return _again_in_place(one)
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


def _again_in_place(one: Any) -> Callable[[], None]:
    before = one[:]

    def refill() -> None:
        one[:] = before

    return refill


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
