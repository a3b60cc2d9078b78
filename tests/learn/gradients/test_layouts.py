"""Where rows are is found out also where gradients vanish or sizes coincide; models for
which it cannot be are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from dither.learn.gradients.layouts import layouts_of
from dither.learn.gradients.oracle import Ghost
from dither.learn.gradients.tape import SECOND
from dither.learn.gradients.untraceable import Untraceable
from tests.learn.gradients.models import Adapter, Both, Last, encoder

LOSS = functional.cross_entropy
COUNT = 3
Values = Callable[[int], Tensor]


def layouts(model: nn.Module, inputs: Tensor) -> dict[int, str]:
    return layouts_of(model, LOSS, inputs, torch.arange(len(inputs)) % 5)


class Lambda(nn.Module):
    """A linear layer and a function of its outputs."""

    def __init__(
        self,
        func: Callable[[nn.Linear, Tensor], Tensor],
        wide: int = 4,
        size: tuple[int, int] = (4, 5),
    ) -> None:
        super().__init__()
        self.layer, self.out = nn.Linear(*size), nn.Linear(wide, 5)
        self.func = func

    def forward(self, values: Tensor) -> Tensor:
        return self.func(self.layer, values)


def test_as_many_places_as_rows() -> None:
    torch.manual_seed(0)
    found = layouts(Last(), torch.randn(COUNT, COUNT, 3))
    assert set(found.values()) == {SECOND}


def test_one_place() -> None:
    torch.manual_seed(0)
    model = Last()
    found = layouts(model, torch.randn(COUNT, 1, 3))
    inputs, targets = torch.randn(4, 1, 3), torch.arange(4)
    sums = Ghost(model, LOSS, found)
    parts = [sums.measured(inputs, targets, torch.ones(4))]
    assert all(bool(one.squares.isfinite().all()) for one in parts[0].values())


def test_weights_that_begin_at_zero() -> None:
    model = Adapter()
    nn.init.zeros_(model.up.weight)
    assert len(layouts(model, torch.randn(COUNT, 12))) == 3


def test_units_that_are_off() -> None:
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 5))
    nn.init.constant_(model[0].bias, -2.0)
    assert [one.number for one in layouts(model, torch.randn(COUNT, 4))] == [0, 1]


def test_a_layer_that_is_always_off_is_not_guessed_at() -> None:
    def off(layer: nn.Linear, values: Tensor) -> Tensor:
        return torch.relu(layer(values) - 1e6) + values.mean() * 0 + values[:, :1]

    with pytest.raises(Untraceable):
        layouts(Lambda(off), torch.randn(COUNT, 4))


def test_models_with_dropout() -> None:
    model = nn.Sequential(
        nn.Linear(3, 8), nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3), nn.Flatten()
    )
    model.append(nn.Linear(32, 5))
    encoder_like = model[1]
    encoder_like.self_attn.batch_first = True
    found = layouts(model, torch.randn(COUNT, 4, 3))
    assert SECOND in found.values()


MIXING = (
    lambda layer, values: layer(values - values.mean(0)) + layer(values).mean(0),
    lambda layer, values: layer(values.flip(0)),
    lambda layer, values: functional.linear(values, layer.weight.tanh()),
    lambda layer, values: functional.linear(values, layer.weight + 1, layer.bias),
    lambda layer, values: torch.cat([layer.weight.mean(1)[None], layer(values)])[1:],
    lambda layer, values: (
        functional.linear(layer.weight, layer.weight)[0] + values.sum()
    ),
)


@pytest.mark.parametrize("func", MIXING)
def test_what_cannot_be_followed_is_refused(
    func: Callable[[nn.Linear, Tensor], Tensor],
) -> None:
    with pytest.raises(Untraceable):
        layouts(Lambda(func), torch.randn(COUNT, 4))


def test_rows_inside_places_are_refused() -> None:
    def inside(layer: nn.Linear, values: Tensor) -> Tensor:
        flat = values.transpose(0, 1).reshape(-1, 4)  # places outside, rows inside
        return layer(flat).view(2, -1, 5).sum(0)

    with pytest.raises(Untraceable):
        layouts(Lambda(inside), torch.randn(COUNT, 2, 4))


def test_one_row_says_nothing() -> None:
    with pytest.raises(Untraceable):
        layouts(nn.Linear(4, 5), torch.randn(1, 4))


def test_another_way_than_the_one_looked_at_is_refused() -> None:
    def either(layer: nn.Linear, values: Tensor) -> Tensor:
        once = layer(values)
        return once + layer(values * 2) if float(values[0, 0]) > 0 else once

    model = Lambda(either)
    found = layouts(model, -torch.rand(COUNT, 4))
    with pytest.raises(Untraceable):
        Ghost(model, LOSS, found).measured(
            torch.rand(4, 4), torch.zeros(4, dtype=torch.int64), torch.ones(4)
        )


@pytest.mark.parametrize(
    "make",
    [
        Both,
        lambda: nn.Sequential(
            nn.Embedding(9, 8), encoder(), nn.Flatten(), nn.Linear(24, 5)
        ),
    ],
)
def test_the_model_is_left_as_it_was(make: Callable[[], nn.Module]) -> None:
    model = make()
    before = [one.clone() for one in model.parameters()]
    layouts(model, torch.randint(0, 9, (COUNT, 3)))
    pairs = zip(before, model.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
    assert all(one.grad is None for one in model.parameters())
    assert model.training


class Choosing(nn.Module):
    """A model with ways of equal shapes."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two, self.way = nn.Linear(5, 5), nn.Linear(5, 5), "both"

    def forward(self, values: Tensor) -> Tensor:
        if self.way == "one":
            return self.one(values)
        first = self.two(values) if self.way == "swapped" else self.one(values)
        last = values[: len(values) // 2] if self.way == "fewer" else values
        places = self.two(last).mean(0) * 0 if self.way == "fewer" else self.two(last)
        return first + places


@pytest.mark.parametrize("way", ["one", "swapped", "fewer"])
def test_other_calls_and_shapes_than_those_looked_at_are_refused(way: str) -> None:
    torch.manual_seed(2)
    model = Choosing()
    inputs, targets = torch.randn(4, 5), torch.zeros(4, dtype=torch.int64)
    found = Ghost(model, LOSS, layouts(model, inputs))
    oracle = found.settled(inputs, targets)
    oracle.measured(inputs, targets, torch.ones(4))
    model.way = way
    with pytest.raises(Untraceable):
        oracle.measured(inputs, targets, torch.ones(4))


def test_a_small_use_that_is_not_seen_is_found() -> None:
    class Hidden(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, values: Tensor, weight: Tensor) -> Tensor:
            ctx.save_for_backward(values, weight)
            return values @ weight

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
            values, weight = ctx.saved_tensors
            return gradient @ weight.T, values.T @ gradient

    def small(layer: nn.Linear, values: Tensor) -> Tensor:
        hidden = Hidden.apply(values, layer.weight)  # type: ignore[no-untyped-call]
        return values + 1e-6 * hidden

    model = Lambda(small, size=(5, 5))
    model.out.requires_grad_(False)

    class Beside(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.then = nn.Linear(5, 5), model

        def forward(self, values: Tensor) -> Tensor:
            return self.then(self.first(values))

    with pytest.raises(Untraceable, match="not seen"):
        layouts(Beside(), torch.randn(COUNT, 5))
