"""Many clients at once do what each does alone, in plain PyTorch; none reaches another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from dither.learn.federated.clients import Held, schema_of
from dither.learn.federated.descent import Descent
from dither.learn.made_up import made_up_part
from dither.learn.preparing import differentiating
from tests.learn.federated.data import INF, NAN, Pair, federation, model, ready, run
from tests.learn.federated.test_aggregation import total

ROWS = 6
MODELS = {
    "linear": lambda: nn.Linear(4, 2),
    "hidden": model,
    "normed": lambda: nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.Linear(6, 2)),
}


EXAMPLE = made_up_part(schema_of((torch.zeros(4), 0)), ROWS, nn.Linear(4, 2))


def block(pairs: list[Pair], count: int) -> tuple[Held, object]:
    clients = Held(pairs, schema_of((torch.zeros(4), 0)), ROWS)
    return clients, clients.take(np.arange(len(pairs)), count)


def plain(own: nn.Module, pair: Pair, steps: int, batch: int | None) -> list[Tensor]:
    """A client alone, with PyTorch's own optimizer."""
    start = [one.detach().clone() for one in own.parameters()]
    optimizer = torch.optim.SGD(own.parameters(), lr=0.2)
    inputs, targets = pair
    for step in range(steps):
        width = batch or len(targets)
        rows = (step * width + np.arange(min(width, len(targets)))) % len(targets)
        optimizer.zero_grad()
        functional.cross_entropy(own(inputs[rows]), targets[rows]).backward()
        optimizer.step()
    return [
        one.detach() - old for one, old in zip(own.parameters(), start, strict=True)
    ]


@pytest.mark.parametrize("batch", [None, 2])
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_each_client_does_what_it_does_alone(
    name: str, together: bool, batch: int | None
) -> None:
    torch.manual_seed(5)  # allowed: starting weights are public
    own = MODELS[name]()
    pairs = list(federation(5).values())
    pairs[1] = pairs[1][0][:3], pairs[1][1][:3]
    descent = Descent(own, functional.cross_entropy, 3, 0.2, ROWS, batch, EXAMPLE)
    descent = descent.together() if together else descent
    weights = {name: one.detach().clone() for name, one in own.named_parameters()}
    with differentiating(own):
        found = descent.changes(weights, block(pairs, 8)[1])
    for line, pair in enumerate(pairs):
        own.load_state_dict(weights)
        wanted = plain(own, pair, 3, batch)
        for one, change in zip(wanted, found.values(), strict=True):
            assert torch.allclose(change[line], one, atol=1e-6)
    assert all(bool((one[5:] == 0).all()) for one in found.values())


@pytest.mark.parametrize("odd", [NAN, INF, 1e38, -1e38, 0.0])
def test_an_odd_client_changes_no_other(odd: float) -> None:
    """Bit by bit, where the others keep their places."""
    own = model()
    pairs = list(federation(4).values())
    descent = Descent(own, functional.cross_entropy, 4, 1.0, ROWS, None, EXAMPLE)
    descent = descent.together()
    weights = {name: one.detach() for name, one in own.named_parameters()}
    changed = [*pairs]
    # Of NaN and infinity the rows are no rows; large ones make infinite weights.
    changed[2] = torch.full_like(pairs[2][0], odd), pairs[2][1]
    with differentiating(own):
        before = descent.changes(weights, block(pairs, 6)[1])
        after = descent.changes(weights, block(changed, 6)[1])
    others = [0, 1, 3, 4, 5]
    for name in weights:
        assert torch.equal(before[name][others], after[name][others])


def test_a_client_that_makes_a_model_fail_fails_alone() -> None:
    class Picky(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(4, 2)

        def forward(self, inputs: Tensor) -> Tensor:
            if bool((inputs > 100).any()):
                raise RuntimeError("too large")
            found: Tensor = self.inner(inputs)
            return found

    own = Picky()
    pairs = list(federation(3).values())
    weights = {name: one.detach() for name, one in own.named_parameters()}
    alone = Descent(own, functional.cross_entropy, 2, 0.1, ROWS)
    with differentiating(own):
        before = alone.changes(weights, block(pairs, 3)[1])
        pairs[1] = pairs[1][0] + 1000, pairs[1][1]
        after = alone.changes(weights, block(pairs, 3)[1])
    for name in weights:
        assert torch.equal(before[name][[0, 2]], after[name][[0, 2]])
        assert bool(after[name][1].isnan().all())


class Counting(nn.Module):
    """Counts how deep it is, and does not when it fails."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.depth = nn.Linear(4, 2), 0

    def forward(self, inputs: Tensor) -> Tensor:
        self.depth += 1
        inverse = torch.linalg.inv(torch.diag_embed(inputs - 7))
        found: Tensor = self.inner(inverse.sum(-1)) * self.depth
        self.depth -= 1
        return found


def test_what_a_failing_client_leaves_behind_changes_no_other() -> None:
    own, pairs = Counting(), list(federation(4).values())
    made, clients = ready(own, pairs, **run(units=4, cohort=4, clip=1e3, block=4))
    assert made.descent is not None
    assert made.descent.together
    before = total(made, clients, [1, 2, 3])
    pairs[0] = pairs[0][0] * 0 + 7, pairs[0][1]  # a matrix that has no inverse
    assert torch.allclose(total(made, clients, [0, 1, 2, 3]), before, rtol=1e-4)


def test_no_more_rows_count_than_were_declared() -> None:
    inputs = torch.arange(80.0).view(20, 4)
    clients = Held(
        [(inputs, torch.zeros(20).long())], schema_of((torch.zeros(4), 0)), 6
    )
    kept = clients.take(np.array([0]), 2)
    assert int(kept.there.sum()) == 6
    again = clients.take(np.array([0]), 2)
    assert torch.equal(kept.inputs, again.inputs)
    other = replace(clients, salt=np.uint64(77)).take(np.array([0]), 2)
    assert not torch.equal(kept.inputs, other.inputs)


class Centred(torch.autograd.Function):
    """The mean of its rows, which says to `vmap` that those of other clients are its own."""

    generate_vmap_rule = False

    @staticmethod
    def forward(inputs: Tensor) -> Tensor:
        return inputs - inputs.mean()

    @staticmethod
    def setup_context(*_: Any) -> None:
        pass

    @staticmethod
    def vmap(_: Any, __: Any, inputs: Tensor) -> tuple[Tensor, int]:
        return Centred.apply(inputs), 0  # type: ignore[no-untyped-call]


class Mixing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 2)

    def forward(self, inputs: Tensor) -> Tensor:
        moved = Centred.apply(inputs)  # type: ignore[no-untyped-call]
        found: Tensor = self.inner(moved)
        return found


def test_no_code_of_a_model_meets_several_clients() -> None:
    own = Mixing()
    pairs = list(federation(3).values())
    weights = {name: one.detach() for name, one in own.named_parameters()}
    descent = Descent(own, functional.cross_entropy, 2, 0.1, ROWS, None, EXAMPLE)
    descent = descent.together()
    changed = [pairs[0], (pairs[1][0] + 1e6, pairs[1][1]), pairs[2]]
    with differentiating(own):
        before = descent.changes(weights, block(pairs, 3)[1])
        after = descent.changes(weights, block(changed, 3)[1])
    for name in weights:
        assert torch.equal(before[name][[0, 2]], after[name][[0, 2]])
