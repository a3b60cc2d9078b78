"""How far a client moves a round's sum, by brute force: all subsets of tiny federations,
with the worst that a client can hold or send.
"""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from dither.learn import Adaptive, Automatic, PerLayer
from dither.learn.clipping import Adapting
from dither.learn.federated import Weighted
from dither.learn.federated.aggregation import Sum, Updates
from dither.learn.federated.rounds import Rounds
from dither.learn.federated.weighing import ALIKE
from dither.learn.gradients.oracle import trained
from dither.learn.preparing import differentiating
from tests.learn.federated.data import (
    INF,
    NAN,
    federation,
    model,
    number,
    ready,
    run,
    sent,
    told,
)

RADIUS = 0.3
FEW = federation(2)
X, Y = FEW["c0"]
WORST: list[Any] = [
    FEW["c1"],
    (X * 0, Y),
    (X * 1e30, 1 - Y),
    (torch.full_like(X, NAN), Y),
    (torch.where(X > 0, INF, X), Y),
    (X, Y + 99),
    (X[:, :2], Y),
    (X[:0], Y[:0]),
    (X, Y[:2]),
    None,
    "nobody",
]
SIZES = [1.0, 3.0, 1e30, INF, NAN, -5.0, 0.0]
SENT = [0.1, 50.0, -1e38, INF, NAN, 0.0]


def total(made: Any, clients: Any, places: list[int]) -> Tensor:
    """The sum of a round in which these clients take part."""
    rounds = Rounds(made, clients)
    weights = {name: one.detach() for name, one in trained(made.model).items()}
    found = Sum(made.radius, made.weight)
    with differentiating(made.model):
        for updates in rounds._updates(weights, np.array(places, np.intp)):
            found.add(updates)
    zero = {name: torch.zeros_like(one).double() for name, one in weights.items()}
    return torch.cat(
        [(found.totals.get(name, one)).flatten() for name, one in zero.items()]
    )


def largest_move(made: Any, clients: Any, count: int) -> float:
    """Over all subsets, and any one client of each."""
    every = range(count)
    sums = {
        some: total(made, clients, list(some))
        for size in range(count + 1)
        for some in combinations(every, size)
    }
    assert all(bool(torch.isfinite(one).all()) for one in sums.values())
    moves = [
        float((one - sums[tuple(i for i in some if i != gone)]).norm())
        for some, one in sums.items()
        for gone in some
    ]
    return max(moves)


@pytest.mark.parametrize(
    "clip",
    [
        pytest.param(RADIUS, id="flat"),
        pytest.param(Automatic(RADIUS), id="automatic", marks=pytest.mark.full),
        pytest.param(Adaptive(RADIUS), id="adaptive", marks=pytest.mark.full),
    ],
)
def test_no_client_moves_a_sum_by_more_than_the_radius(clip: Any) -> None:
    rest = [FEW["c0"], (X * 1e3, Y)]
    reached = 0.0
    for odd in WORST:
        options = run(units=3, cohort=3, clip=clip, local_lr=5.0)
        made, clients = ready(model(), [*rest, odd], **options)
        reached = max(reached, largest_move(made, clients, 3))
    assert reached <= RADIUS
    assert reached > 0.99 * RADIUS


def test_layers_have_radii_of_their_own() -> None:
    own = model()
    radii = {name: 0.1 for name, _ in own.named_parameters()}
    made, clients = ready(own, FEW, **run(clip=PerLayer(radii), local_lr=50.0))
    assert largest_move(made, clients, 2) <= 0.2


def test_weights_are_bounded_whatever_a_client_says() -> None:
    weight = Weighted(most=3.0, mean=2.0)
    reached = 0.0
    for size, update in product(SIZES, SENT):
        held = [(0.2, 1.0), (-40.0, 2.0), (update, size)]
        made, clients = ready(number(), held, **told(clip=0.5, weight=weight))
        reached = max(reached, largest_move(made, clients, 3))
    assert reached <= 1.5
    assert reached > 1.499


def test_sizes_are_rows_where_clients_train_here() -> None:
    weight = Weighted(most=4.0, mean=2.0)
    held = [(X[:2], Y[:2]), (X, Y)]
    made, clients = ready(model(), held, **run(weight=weight, clip=1e-3))
    one, two = (total(made, clients, [place]).norm() for place in (0, 1))
    assert [float(one), float(two)] == pytest.approx([2e-3, 4e-3], rel=1e-3)


def test_sums_are_divided_by_what_was_declared() -> None:
    """One client of four came, and the mean is over four of a mean weight of 2."""
    weight = Weighted(most=3.0, mean=2.0)
    options = told(clip=1.0, weight=weight, noise=1e-9)
    made, clients = ready(number(), [(0.5, 3.0)], **options)
    rounds = Rounds(made, clients)
    rounds.step(1, 1e-9)
    assert float(made.model.weight.detach()) == pytest.approx(0.5 * 3 / 8, rel=1e-4)


@pytest.mark.parametrize(
    "odd",
    [
        None,
        {},
        {"weight": torch.zeros(2, 2)},
        {"weight": "text"},
        {"weight": torch.zeros(1, 1), "more": 1},
        ({"weight": torch.ones(1, 1)}, "large"),
        ({"weight": torch.ones(1, 1)}, None),
        {"weight": torch.full((1, 1), NAN)},
        {"weight": torch.zeros(1, 1)},
        {"weight": torch.ones(1, 1).to_sparse()},
        (1, 2, 3),
        ZeroDivisionError,
    ],
    ids=repr,
)
def test_what_cannot_be_used_counts_for_nothing(odd: Any) -> None:
    def client(weights: dict[str, Tensor], held: Any) -> Any:
        weights["weight"] += 9  # its own copy
        if held != "odd":
            return sent(weights, held)
        if odd is ZeroDivisionError:
            raise odd
        return odd

    made, clients = ready(number(), [0.5, "odd", 0.25], **told(client=client))
    assert float(total(made, clients, [0, 1, 2])) == pytest.approx(0.75, rel=1e-5)


def test_an_adaptive_count_moves_by_half_a_client() -> None:
    for change in (0.1, 5.0, INF, NAN):
        radius = Adapting.of(Adaptive(1.0), number(), 4)
        found = Sum(radius, ALIKE)
        one = torch.tensor([[[change]]])
        found.add(Updates({"weight": one}, torch.ones(1), torch.ones(1).bool()))
        assert abs(radius.below) <= 0.5


def test_a_radius_does_not_show_its_count_in_bits_that_noise_lacks() -> None:
    for below in (0.0, 2.5):
        radius = Adapting.of(Adaptive(1.0, count_noise=3.0, rate=1.0), number(), 4000)
        radius.below = below
        radius.step()
        count = 4000 * (-math.log(radius.clipping.radius))
        assert abs(64 * count - round(64 * count)) < 1e-6
