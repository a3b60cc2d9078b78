"""Clipped sums are those of a loop that looks at one unit at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._pytree import tree_map

from dither.learn.gradients.alone import Alone
from dither.learn.gradients.clipping import Automatic, Flat, PerLayer
from dither.learn.gradients.oracle import Oracle, Traced, called, trained
from tests.learn.gradients.models import CASES, ROWS, Case, reals

RADIUS = 0.3
NEAR = 1e-5


def loop(
    case: Case, model: nn.Module, inputs: Any, targets: Tensor, rows: int = 1
) -> dict[str, Tensor]:
    """One unit at a time, in plain PyTorch."""
    parameters = trained(model)
    total = {name: torch.zeros_like(one) for name, one in parameters.items()}
    for start in range(0, len(targets), rows):
        losses = [
            case.loss(called(model, cut(inputs, i, i + 1)), targets[i : i + 1])
            for i in range(start, start + rows)
        ]
        found = torch.autograd.grad(sum(losses), list(parameters.values()))
        norm = sum(one.double().square().sum() for one in found) ** 0.5
        weight = min(1.0, RADIUS / float(norm))
        for name, one in zip(parameters, found, strict=True):
            total[name] += weight * one
    return total


def cut(inputs: Any, start: int, stop: int) -> Any:
    return tree_map(lambda one: one[start:stop], inputs)


def far(found: dict[str, Tensor], wanted: dict[str, Tensor]) -> float:
    apart = sum((found[name] - one).square().sum() for name, one in wanted.items())
    size = sum(one.square().sum() for one in wanted.values())
    return float((apart / size).sqrt())


def traced(case: Case, model: nn.Module) -> Oracle:
    return Traced.of(model, case.loss, case.inputs(1), case.targets(1))


def alone(case: Case, model: nn.Module) -> Oracle:
    return Alone(model, case.loss)


ROUTES = (traced, alone)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_sums_are_those_of_a_loop(
    case: Case, rows: int, route: Callable[[Case, nn.Module], Oracle]
) -> None:
    torch.manual_seed(1)
    model = case.model()
    inputs, targets = case.inputs(ROWS), case.targets(ROWS)
    there = torch.ones(ROWS)
    found = route(case, model).sums(inputs, targets, there, Flat(RADIUS), rows)
    assert far(found, loop(case, model, inputs, targets, rows)) < NEAR


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rows_that_fill_up_count_for_nothing(
    case: Case, route: Callable[[Case, nn.Module], Oracle]
) -> None:
    torch.manual_seed(2)
    model = case.model()
    inputs, targets = case.inputs(ROWS), case.targets(ROWS)
    there = torch.tensor([1.0] * 5 + [0.0] * 3)
    found = route(case, model).sums(inputs, targets, there, Flat(RADIUS))
    assert far(found, loop(case, model, cut(inputs, 0, 5), targets[:5])) < NEAR


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -float("inf"), 3e38])
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", ["mlp", "images", "norms", "shared"])
def test_odd_numbers_count_for_nothing(
    name: str, route: Callable[[Case, nn.Module], Oracle], odd: float
) -> None:
    torch.manual_seed(3)
    case = named(name)
    model = case.model()
    inputs, targets = case.inputs(ROWS), case.targets(ROWS)
    wanted = loop(case, model, inputs[1:], targets[1:])
    inputs[0] = odd
    found = route(case, model).sums(inputs, targets, torch.ones(ROWS), Flat(RADIUS))
    assert all(one.isfinite().all() for one in found.values())
    if odd != 3e38 or name == "mlp":  # a norm layer makes a usual row out of it
        assert far(found, wanted) < NEAR


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", ["text", "two", "images", "loose"])
def test_parts_of_a_batch_add_up(
    name: str, route: Callable[[Case, nn.Module], Oracle]
) -> None:
    torch.manual_seed(4)
    case = named(name)
    model = case.model()
    inputs, targets = case.inputs(ROWS), case.targets(ROWS)
    oracle, there = route(case, model), torch.ones(ROWS)
    whole = oracle.sums(inputs, targets, there, Flat(RADIUS), 2)
    parts = [
        oracle.sums(
            cut(inputs, i, i + 4), targets[i : i + 4], there[:4], Flat(RADIUS), 2
        )
        for i in (0, 4)
    ]
    both = {one: parts[0][one] + parts[1][one] for one in whole}
    assert far(both, whole) < NEAR


@pytest.mark.parametrize("name", ["text", "two", "images"])
def test_few_gradients_are_held_at_once(name: str) -> None:
    torch.manual_seed(5)
    case = named(name)
    model = case.model()
    inputs, targets = case.inputs(ROWS), case.targets(ROWS)
    there = torch.tensor([1.0] * 6 + [0.0] * 2)
    whole = Alone(model, case.loss).sums(inputs, targets, there, Flat(RADIUS), 2)
    little = Alone(model, case.loss, held=1)
    assert far(little.sums(inputs, targets, there, Flat(RADIUS), 2), whole) < NEAR


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", ["mlp", "places", "images", "deep images", "loose"])
def test_odd_rows_that_fill_up_leave_their_unit_alone(
    name: str, route: Callable[[Case, nn.Module], Oracle], odd: float
) -> None:
    torch.manual_seed(6)
    case = named(name)
    model = case.model()
    inputs, targets = case.inputs(2), case.targets(2)
    wanted = loop(case, model, inputs[:1], targets[:1])
    inputs[1] = odd
    there = torch.tensor([1.0, 0.0])
    found = route(case, model).sums(inputs, targets, there, Flat(RADIUS), 2)
    assert far(found, wanted) < NEAR


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", ["text", "images"])
def test_each_layer_has_its_radius(
    name: str, route: Callable[[Case, nn.Module], Oracle]
) -> None:
    torch.manual_seed(7)
    case = named(name)
    model = case.model()
    inputs, targets = case.inputs(1), case.targets(1)
    names = list(trained(model))
    radii = dict(
        zip(names, torch.linspace(1e-3, 1e-2, len(names)).tolist(), strict=True)
    )
    found = route(case, model).sums(inputs, targets, torch.ones(1), PerLayer(radii))
    plain = loop(case, model, inputs, targets)
    for part, radius in radii.items():
        norm = float(found[part].double().norm())
        assert norm <= radius
        if float(plain[part].norm()) > 1e-4:
            assert norm > radius * (1 - 1e-3)
            cosine = functional.cosine_similarity(
                found[part].flatten(), plain[part].flatten(), dim=0
            )
            assert float(cosine) > 1 - 1e-4


@pytest.mark.parametrize("route", ROUTES)
def test_automatic_clipping_brings_gradients_to_one_length(
    route: Callable[[Case, nn.Module], Oracle],
) -> None:
    torch.manual_seed(8)
    case = named("mlp")
    model = case.model()
    inputs, targets = case.inputs(1), case.targets(1)
    found = route(case, model).sums(inputs, targets, torch.ones(1), Automatic(2.0))
    norm = sum(float(one.double().square().sum()) for one in found.values()) ** 0.5
    plain = torch.autograd.grad(
        case.loss(model(inputs), targets), list(model.parameters())
    )
    own = sum(float(one.double().square().sum()) for one in plain) ** 0.5
    assert norm == pytest.approx(2 * own / (own + 0.01), rel=1e-5)
    assert norm < 2


@pytest.mark.parametrize("name", ["mlp", "text", "images", "deep images", "tied"])
def test_bfloat16_sums_are_in_float32_and_within_the_radius(name: str) -> None:
    torch.manual_seed(9)
    case = named(name)
    model = case.model()
    oracle = traced(case, model)
    inputs, targets = case.inputs(1), case.targets(1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = oracle.sums(inputs, targets, torch.ones(1), Flat(RADIUS))
    wanted = loop(case, model, inputs, targets)
    assert all(one.dtype == torch.float32 for one in found.values())
    norm = sum(float(one.double().square().sum()) for one in found.values()) ** 0.5
    assert norm <= RADIUS
    assert far(found, wanted) < 0.05


@pytest.mark.parametrize("route", ROUTES)
def test_an_output_that_no_parameter_reaches_has_no_gradient(
    route: Callable[[Case, nn.Module], Oracle],
) -> None:
    class Unused(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.seen, self.unseen = nn.Linear(4, 5), nn.Linear(4, 5)

        def forward(self, values: Tensor) -> Tensor:
            self.unseen(values)
            return self.seen(values)

    case = Case("unused", Unused, reals(4))
    model = case.model()
    found = route(case, model).sums(
        case.inputs(4), case.targets(4), torch.ones(4), Flat(1.0)
    )
    assert float(found["unseen.weight"].abs().max()) == 0
    assert float(found["seen.weight"].abs().max()) > 0


def named(name: str) -> Case:
    return next(one for one in CASES if one.name == name)


def test_weights_that_are_too_small_are_zero() -> None:
    """Rounded to a float32 that is not usual, they would be too large."""
    squares = {"a": torch.tensor([1e30, 2e30, 1.3e30], dtype=torch.float64)}
    found = Flat(1e-30)(squares)["a"].double() * squares["a"].sqrt()
    assert bool((found <= 1e-30).all())


def test_modules_with_two_names_are_put_back() -> None:
    layer = nn.Linear(4, 4)
    model = nn.Sequential(layer, nn.Tanh(), layer, nn.Linear(4, 5))
    before = list(model.parameters())
    case = Case("shared", lambda: model, reals(4))
    inputs, targets, there = case.inputs(6), case.targets(6), torch.ones(6)
    oracle = Alone(model, case.loss, held=1)  # in several parts
    found = oracle.sums(inputs, targets, there, Flat(RADIUS))
    assert far(found, loop(case, model, inputs, targets)) < NEAR
    pairs = zip(model.parameters(), before, strict=True)
    assert all(one is other for one, other in pairs)
