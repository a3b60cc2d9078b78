"""All that a module holds: parameters, buffers, and what its code keeps beside them.

Only trained parameters get noise, so nothing else may come out of a run, or last from one
part of a batch to the next.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["Held"]

OWN = frozenset(nn.Module().__dict__)
"""What every module has; the rest of its `__dict__` is its code's."""
DEEP = 8
"""Containers within containers that are looked into."""


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
    kept: dict[str, Kept]
    places: tuple[tuple[dict[str, Any], dict[str, Any]], ...]

    @classmethod
    def of(cls, model: nn.Module) -> Held:
        kept = {name: Kept.of(one) for name, one in _named(model)}
        places = tuple(
            (place, dict(place))
            for module in model.modules()
            for place in (module._parameters, module._buffers)
        )
        own = tuple((one.__dict__, _plain(one)) for one in model.modules())
        return cls(model, kept, (*places, *own))

    def restore(self) -> None:
        """Put everything back, whatever code of the module has done since."""
        for place, before in self.places:
            _refill(place, before)
        on_gpu = [one for one in self.kept.values() if one.data.is_cuda]
        with torch.no_grad():
            for one in self.kept.values():
                if not one.data.is_cuda:
                    one.restore()
            _put_back(on_gpu)

    def changed(self) -> str | None:
        """The name of something that holds other tensors now; None if nothing does."""
        for name, tensor in _named(self.model):
            held = self.kept.get(name)
            if held is None or held.tensor is not tensor:
                return name
            if not _same(held.copy, tensor):
                return name
        return None


def _put_back(kept: list[Kept]) -> None:
    """On a GPU to ask what has changed takes longer than to copy all of it."""
    for one in kept:
        one.tensor.data = one.data
    if kept:
        torch._foreach_copy_([one.data for one in kept], [one.copy for one in kept])


def _named(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Every tensor that a module holds under some name."""
    for name, module in model.named_modules():
        for place in (module._parameters, module._buffers, _plain(module)):
            for path, one in _tensors(place, DEEP):
                yield f"{name}.{path}" if name else path, one


def _tensors(value: Any, deep: int) -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        yield "", value
        return
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list | tuple | set | frozenset):
        parts = list(enumerate(value))
    else:
        return
    for key, part in parts if deep else ():
        for path, one in _tensors(part, deep - 1):
            yield f"{key}.{path}" if path else str(key), one


def _plain(module: nn.Module) -> dict[str, Any]:
    """What the module's own code keeps; containers are copied."""
    return {
        name: copy.copy(one) if isinstance(one, list | dict | set) else one
        for name, one in module.__dict__.items()
        if name not in OWN
    }


def _refill(place: dict[str, Any], before: dict[str, Any]) -> None:
    for name in [one for one in place if one not in before and one not in OWN]:
        del place[name]
    for name, one in before.items():
        contained = isinstance(one, list | dict | set)
        place[name] = copy.copy(one) if contained else one


def _same(one: Tensor, two: Tensor) -> bool:
    alike = one.shape == two.shape and one.dtype == two.dtype
    return alike and _equal(one.detach(), two.detach())


def _equal(one: Tensor, two: Tensor) -> bool:
    if torch.equal(one, two):
        return True
    return bool(((one == two) | (one.isnan() & two.isnan())).all())
