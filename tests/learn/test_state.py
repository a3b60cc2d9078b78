"""Nothing but noisy weights comes out of a run, or lasts from part to part."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dither import ArgumentError
from dither.learn import preview, train
from dither.learn.preparing import prepared
from dither.learn.settings import Settings
from dither.learn.state import Held
from tests.learn.data import model, owned, records


class Slotted:
    __slots__ = ("last",)


class Helper:
    """A plain object of a model."""

    def __init__(self) -> None:
        self.slotted, self.array = Slotted(), np.zeros(4)


class Keeping(nn.Module):
    """A module that keeps something of the rows it sees, in some way."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.line, self.way, self.log = nn.Linear(4, 3), way, [[torch.zeros(1)]]
        self.register_buffer("top", torch.zeros(4))
        self.helper, self.queue = Helper(), deque([1])
        self.frozen = nn.Parameter(torch.zeros(4), requires_grad=False)

    def forward(self, inputs: Tensor) -> Tensor:
        getattr(self, f"_{self.way}")(inputs.detach())
        found: Tensor = self.line(inputs)
        return found

    def _settling(self, inputs: Tensor) -> None:
        self.top.copy_(torch.maximum(self.top, inputs.amax(0)))

    def _large(self, inputs: Tensor) -> None:
        self.top += (inputs.abs() > 2).sum()

    def _replaced(self, inputs: Tensor) -> None:
        self.top = inputs.amax(0)

    def _attribute(self, inputs: Tensor) -> None:
        self.last = inputs

    def _nested(self, inputs: Tensor) -> None:
        self.log[0].append(inputs)

    def _parameter(self, inputs: Tensor) -> None:
        self.frozen.data.add_(inputs.sum(0))

    def _object(self, inputs: Tensor) -> None:
        self.helper.last = inputs

    def _slots(self, inputs: Tensor) -> None:
        self.helper.slotted.last = inputs

    def _in_large_batches(self, inputs: Tensor) -> None:
        if len(inputs) > 3:
            self.helper.last = inputs

    def _very_large(self, inputs: Tensor) -> None:
        # Beyond all rows that a model is tried with.
        if bool(((inputs > 1e8) & inputs.isfinite()).any()):
            self.top += inputs.amax(0)
            self.frozen.data.add_(inputs.amax(0))
            self.last = inputs
            self.log.append([inputs])
            self.log[0].append(inputs)
            self.queue.append(inputs)
            self.helper.last = self.helper.slotted.last = inputs
            self.helper.size = float(inputs.max())
            self.helper.array[:] = inputs[0].numpy()
            self.training = False
            self.line.weight.data += 1e6


WAYS = ["settling", "large", "replaced", "attribute", "nested", "parameter"]
WAYS += ["object", "slots", "in_large_batches"]


@pytest.mark.parametrize("way", WAYS)
def test_models_that_keep_rows_are_refused(way: str) -> None:
    with pytest.raises(ArgumentError, match="keeps"):
        preview(Keeping(way), records(), **owned())


def test_nothing_kept_comes_out_of_a_run() -> None:
    inputs, targets = records()
    inputs[:20] = 1e9
    found = train(Keeping("very_large"), (inputs, targets), **owned(batch=200)).value
    assert not found.top.any()
    assert not found.frozen.any()
    assert not hasattr(found, "last")
    assert len(found.log) == len(found.log[0]) == len(found.queue) == 1
    assert vars(found.helper).keys() == {"slotted", "array"}
    assert found.line.weight.abs().max() < 1e3
    assert all(one.grad is None for one in found.parameters())


def test_nothing_lasts_from_part_to_part(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, targets = records()
    inputs[:] = 1e9
    seen: list[Any] = []
    restore = Held.restore

    def noted(held: Held) -> None:
        restore(held)
        seen.append(held.changed())

    monkeypatch.setattr(Held, "restore", noted)
    train(Keeping("very_large"), (inputs, targets), **owned(micro=10))
    assert len(seen) > 20
    assert set(seen) == {None}


def test_everything_is_put_back() -> None:
    kept = Keeping("very_large")
    held = Held.of(kept)
    kept(torch.full((2, 4), 1e9))
    assert kept.log[0][1:]
    held.restore()
    assert len(kept.log) == len(kept.log[0]) == len(kept.queue) == 1
    assert not kept.helper.array.any()
    assert not hasattr(kept.helper, "last")
    assert not hasattr(kept.helper, "size")
    assert not hasattr(kept.helper.slotted, "last")
    assert not hasattr(kept, "last")
    assert kept.training
    assert held.changed() is None


def test_the_released_module_is_not_the_one_that_saw_rows() -> None:
    ready = prepared(model(), records(), Settings(**owned()))
    apart = {id(one) for one in ready.model.modules()}
    assert not apart & {id(one) for one in ready.fresh.modules()}


def test_layers_without_a_shape_are_refused() -> None:
    with pytest.raises(ArgumentError, match="of unknown shape"):
        preview(nn.LazyLinear(3), records(), **owned())
