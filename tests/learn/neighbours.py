"""How far one unit more moves a step's clipped sums, through the loop of training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from dither.learn import loop as looping
from dither.learn.gradients.oracle import real_type
from dither.learn.holding import Records
from dither.learn.loop import Loop
from dither.learn.measuring import run_source
from dither.learn.preparing import differentiating, prepared
from dither.learn.ready import Ready
from dither.learn.rows import Units
from dither.learn.run import course
from dither.learn.settings import Settings
from tests.learn.data import owned

__all__ = ["SIZE", "joined", "moved", "run_of", "sums", "units_in"]

SIZE = 1.0 + 1e-5
"""Radii that a unit may move a sum by, with the rounding of float32."""


def run_of(make: Callable[[], nn.Module], data: Any, **more: Any) -> Ready:
    """A run before its charge, of a model whose starting weights are large."""
    torch.manual_seed(0)  # allowed: starting weights are public
    model = make()
    with torch.no_grad():
        for one in model.parameters():
            one.mul_(3)
    plain = owned(batch=200, epochs=1, clip=1.0, micro=250)
    return prepared(model, data, Settings(**plain | more))


def units_in(ready: Ready, data: Any, owner: Any = "row") -> Units:
    """Records as the run reads them."""
    source = run_source(data, owner, ready.settings).real(real_type(ready.model))
    units, _ = Records.read(replace(ready, source=source), None).units(ready)
    return units


def sums(
    monkeypatch: pytest.MonkeyPatch,
    ready: Ready,
    units: Units,
    seed: bytes = bytes(64),
) -> Tensor:
    """The clipped sums of a step that draws each unit, before noise is added. Units are in
    order, and what a model draws is the same in each call.
    """
    caught: list[Tensor] = []

    def noted(_: Loop, found: dict[str, Tensor], __: float) -> None:
        every = [one.flatten().double() for one in found.values()]
        caught.append(torch.cat(every))

    with monkeypatch.context() as patch:
        patch.setattr(Loop, "_descend", noted)
        patch.setattr(looping, "secret", lambda: seed)
        patch.setattr(course, "placed", lambda units, _: units)
        with differentiating(ready.model, ready.settings.precision):
            Loop(ready, units).take(np.arange(len(units)), ready.plan.noises[0])
    return caught[0]


def joined(data: Any, one: Any) -> Any:
    """The records of both."""
    return tree_map(lambda *pair: torch.cat(pair), data, one)


def moved(
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[], nn.Module],
    one: Any,
    data: Any,
    first: bool = False,
    **more: Any,
) -> float:
    """How far one unit more moves the sums; it is the first one or the last."""
    ready = run_of(make, data, **more)
    more_of = joined(one, data) if first else joined(data, one)
    both = (units_in(ready, records) for records in (data, more_of))
    found = [sums(monkeypatch, ready, units) for units in both]
    return float((found[0] - found[1]).norm())
