"""Clipped sums are those of a loop that looks at one unit at a time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from dither.learn.gradients.clipping import Flat
from dither.learn.gradients.layouts import layouts_of
from dither.learn.gradients.oracle import Ghost, Oracle, trained
from dither.learn.gradients.single import Single
from tests.learn.gradients.models import CASES, ROWS, Case

RADIUS = 0.3
NEAR = 1e-5


def loop(
    case: Case, model: nn.Module, inputs: Tensor, targets: Tensor, rows: int = 1
) -> dict[str, Tensor]:
    """One unit at a time, in plain PyTorch."""
    parameters = trained(model)
    total = {name: torch.zeros_like(one) for name, one in parameters.items()}
    for start in range(0, len(inputs), rows):
        losses = [
            case.loss(model(inputs[i : i + 1]), targets[i : i + 1])
            for i in range(start, start + rows)
        ]
        found = torch.autograd.grad(sum(losses), list(parameters.values()))
        norm = sum(one.double().square().sum() for one in found) ** 0.5
        weight = min(1.0, RADIUS / float(norm))
        for name, one in zip(parameters, found, strict=True):
            total[name] += weight * one
    return total


def far(found: dict[str, Tensor], wanted: dict[str, Tensor]) -> float:
    apart = sum((found[name] - one).square().sum() for name, one in wanted.items())
    size = sum(one.square().sum() for one in wanted.values())
    return float((apart / size).sqrt())


def ghost(case: Case, model: nn.Module) -> Oracle:
    layouts = layouts_of(model, case.loss, case.inputs(3), case.targets(3))
    return Ghost(model, case.loss, layouts)


def single(case: Case, model: nn.Module) -> Oracle:
    return Single(model, case.loss)


ROUTES = (ghost, single)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("rows", [1, 2, 4])
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
    assert far(found, loop(case, model, inputs[:5], targets[:5])) < NEAR


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -float("inf"), 3e38])
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", ["mlp", "images", "norms", "shared"])
def test_odd_numbers_count_for_nothing(
    name: str, route: Callable[[Case, nn.Module], Oracle], odd: float
) -> None:
    torch.manual_seed(3)
    case = next(one for one in CASES if one.name == name)
    model = case.model()
    inputs, targets = case.inputs(ROWS), case.targets(ROWS)
    wanted = loop(case, model, inputs[1:], targets[1:])
    inputs[0] = odd
    found = route(case, model).sums(inputs, targets, torch.ones(ROWS), Flat(RADIUS))
    assert all(one.isfinite().all() for one in found.values())
    if odd != 3e38 or name == "mlp":  # a norm layer makes a usual row out of it
        assert far(found, wanted) < NEAR
