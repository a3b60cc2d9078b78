"""Rows are told apart exactly: what is small, or comes from large rows, counts too."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from dither.learn.gradients.layouts import layouts_of
from dither.learn.gradients.untraceable import Untraceable

INPUTS = torch.sin(torch.arange(12.0)).view(3, 4)
TARGETS = torch.tensor([0, 1, 2])


class Leaking(nn.Module):
    """One row has a tiny part in another; or any, where rows are large."""

    def __init__(self, part: float, above: float = 0.0) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(4, 8), nn.Linear(8, 3)
        self.part, self.above = part, above

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = self.first(inputs)
        if bool(inputs.abs().max() > self.above):
            hidden = hidden + self.part * hidden.roll(1, 0)
        found: Tensor = self.last(hidden)
        return found


@pytest.mark.parametrize("model", [Leaking(1e-9), Leaking(1e-30), Leaking(0.5, 10.0)])
def test_rows_that_leak_are_found(model: nn.Module) -> None:
    with pytest.raises(Untraceable):
        layouts_of(model, functional.cross_entropy, INPUTS, TARGETS)


def test_rows_apart_are_followed() -> None:
    found = layouts_of(Leaking(0.5, 1e9), functional.cross_entropy, INPUTS, TARGETS)
    assert len(found) == 2
