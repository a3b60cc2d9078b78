"""Every listed operation gives each row what it gives that row alone, whatever is in the
other rows: forwards and backwards.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._pytree import tree_leaves

from dither.learn.failures import FAILED
from dither.learn.gradients.operations import LISTED, name_of
from dither.learn.gradients.oracle import Traced
from dither.learn.gradients.program import BLANK, Program
from dither.learn.gradients.trace import traced
from dither.learn.gradients.untraceable import Untraceable
from tests.learn.gradients.samples import (
    DRAWN,
    PLACED,
    SAMPLES,
    TRAINED,
    WRITTEN,
    Sample,
)

NAN, INF = float("nan"), float("inf")
ODD = [NAN, INF, -INF, 0.0, -1.0, 1e30, 1e-40, 1.0, 2.0, NAN, -1e30, 0.0]
HOSTILE = [NAN, INF, 1e30, -1.0, 0.0]
CHANGED = 2
"""The row that is replaced; the others are usual, odd, tied and huge."""
CALLS = SAMPLES | WRITTEN
PRODUCTS = (
    "prod",
    "prod of an axis",
    "cumprod",
    "cumsum",
    "logcumsumexp",
    "scatter",
    "norm",
)
OTHERS = [name for name in CALLS if name not in PRODUCTS]


class Model(nn.Module):
    """A sample of one row; its loss is a weighted sum of what it gives."""

    def __init__(self, sample: Sample) -> None:
        super().__init__()
        self.sample = sample
        generator = torch.Generator().manual_seed(1)
        shapes = ((4, 4), (4,), (16, 4))
        self.weights = nn.ParameterList(
            torch.randn(shape, generator=generator) for shape in shapes
        )

    def forward(self, *row: Tensor) -> list[Tensor]:
        return leaves(self.sample(*(one[0] for one in row), *self.weights))


def leaves(found: Any) -> list[Tensor]:
    return [one for one in tree_leaves(found) if isinstance(one, Tensor)]


def rows_of() -> list[Tensor]:
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(6, 3, 4, generator=generator)
    y = torch.randn(6, 3, 4, generator=generator)
    i = torch.randint(0, 3, (6, 4), generator=generator)
    x[3], y[3] = torch.tensor(ODD).view(3, 4), torch.tensor(ODD[::-1]).view(3, 4)
    x[4], y[4] = x[4].round(), 1.0
    x[5], y[5] = x[5] * 1e20, y[5] * 1e-20
    return [x, y, i, x.detach() > 0]


def changed(rows: list[Tensor], value: float) -> list[Tensor]:
    """Other places and another mask too."""
    rows = [one.clone() for one in rows]
    rows[0][CHANGED], rows[1][CHANGED] = value, value
    rows[2][CHANGED], rows[3][CHANGED] = 2, value > 0
    return rows


def some(rows: list[Tensor], row: int) -> list[Tensor]:
    return [one[row : row + 1] for one in rows]


@cache
def program_of(sample: Sample) -> Program:
    return traced(Model(sample), None, tuple(some(rows_of(), 0)))


def total(found: list[Tensor]) -> Any:
    """A sum with weights that have no rows."""
    sums = [
        (one.real if one.is_complex() else one).flatten(1) if one.ndim > 1 else one
        for one in found
        if one.requires_grad
    ]
    if not sums:
        return None
    weighted = [(one * (torch.arange(one[0].numel()) % 5 + 1)).sum() for one in sums]
    return torch.stack([one.double() for one in weighted]).sum()


def ran(program: Program, rows: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Outputs, and gradients of the numbers."""
    given = [one.clone() for one in rows]
    for one in given[:2]:
        one.requires_grad_()
    found = program.run(given, len(given[0]))
    loss = total(found)
    if loss is None:
        return found, []
    try:
        back = torch.autograd.grad(loss, given[:2], allow_unused=True)
    except RuntimeError as error:
        assert "not implemented" in str(error) or "inplace" in str(error), error  # noqa: PT017
        back = ()
    return [one.detach() for one in found], [one for one in back if one is not None]


def plain(values: Tensor) -> Tensor:
    values = values.resolve_conj().resolve_neg()
    return torch.view_as_real(values) if values.is_complex() else values


def same(one: Tensor, other: Tensor, near: float = 0.0) -> bool:
    """Equal, or nearly; NaN is equal to NaN."""
    assert one.shape == other.shape
    assert one.dtype == other.dtype
    one, other = plain(one).double(), plain(other).double()
    scale = other[other.isfinite()].abs().amax() if other.isfinite().any() else 0.0
    equal = (one == other) | (one.isnan() & other.isnan())
    return bool((equal | ((one - other).abs() <= near * (other.abs() + scale))).all())


def without(values: Tensor) -> Tensor:
    return torch.cat([values[:CHANGED], values[CHANGED + 1 :]])


@pytest.mark.parametrize("name", CALLS)
def test_each_row_gets_what_it_gets_alone(name: str) -> None:
    program, rows = program_of(CALLS[name]), rows_of()
    found, back = ran(program, rows)
    for row in range(6):
        outputs, gradients = ran(program, some(rows, row))
        for one, other in zip(found, outputs, strict=True):
            assert same(one[row], other[0], 1e-5), row
        if all(plain(one).isfinite().all() for one in outputs):
            for one, other in zip(back, gradients, strict=True):
                assert same(one[row], other[0], 1e-4), row


@pytest.mark.parametrize("name", CALLS)
def test_no_row_feels_another(name: str) -> None:
    program, rows = program_of(CALLS[name]), rows_of()
    found = ran(program, rows)
    for value in HOSTILE:
        others = ran(program, changed(rows, value))
        for before, after in zip(found, others, strict=True):
            for one, other in zip(before, after, strict=True):
                assert same(without(one), without(other)), value


@pytest.mark.parametrize("name", CALLS)
def test_a_row_gets_what_the_operation_gives(name: str) -> None:
    model, rows = Model(CALLS[name]), rows_of()
    found, back = ran(program_of(CALLS[name]), rows)
    for row in (0, 1, CHANGED, 4):
        given = [one.clone() for one in some(rows, row)]
        for one in given[:2]:
            one.requires_grad_()
        wanted = model(*given)
        for one, other in zip(found, wanted, strict=True):
            assert same(one[row], other.detach(), 1e-5), row
        loss = total([one.unsqueeze(0) for one in wanted])
        if back and loss is not None and name not in SHARED:
            parts = torch.autograd.grad(loss, given[:2], allow_unused=True)
            gradients = [one for one in parts if one is not None]
            for one, other in zip(back, gradients, strict=True):
                assert same(one[row], other[0], 1e-4), row


SHARED = ("median", "nanmedian")
"""Equal numbers share their gradient, or one of them has it."""


def test_no_listed_operation_is_without_a_sample() -> None:
    calls = [*CALLS.values(), *DRAWN.values()]
    steps = [step for call in calls for step in program_of(call).steps]
    # A program has zeros where a model asks for memory that nobody has written to.
    assert not LISTED - {name_of(step.target) for step in steps} - BLANK.keys()


def used(oracle: Traced, rows: list[Tensor]) -> dict[str, Tensor]:
    """The gradient of each parameter for each row."""
    count = len(rows[0])
    found = oracle.measured(tuple(rows), torch.zeros(count), torch.ones(count))
    return {
        name: torch.stack([use.whole() for use in one.uses]).sum(0)
        for name, one in found.items()
    }


def loss_of(found: list[Tensor], _: Tensor) -> Tensor:
    return total([one.unsqueeze(0) for one in found]).float()


@pytest.mark.parametrize("name", TRAINED.split())
def test_each_row_uses_parameters_as_alone(name: str) -> None:
    model, rows = Model(SAMPLES[name]), rows_of()
    first = tuple(some(rows, 0))
    oracle = Traced.of(model, loss_of, first, torch.zeros(1))
    found = used(oracle, rows)
    assert found
    for row in (0, 1, CHANGED, 4):
        loss = loss_of(model(*some(rows, row)), torch.zeros(1))
        wanted = torch.autograd.grad(loss, list(model.weights), allow_unused=True)
        for place, one in enumerate(wanted):
            if one is not None:
                assert same(found[f"weights.{place}"][row], one.flatten(), 1e-4), row
    for value in HOSTILE:
        others = used(oracle, changed(rows, value))
        assert all(same(without(found[key]), without(others[key])) for key in found)


@pytest.mark.parametrize("name", DRAWN)
def test_each_row_draws_for_itself(name: str) -> None:
    program, rows = program_of(DRAWN[name]), rows_of()
    rows = [one.nan_to_num(1.0, 1.0, 1.0) for one in rows]
    found = drawn(program, rows)
    one_row = Model(DRAWN[name])(*some(rows, 0))
    assert [one.shape[1:] for one in found] == [one.shape for one in one_row]
    for one in found:
        assert len({tuple(row.flatten().tolist()) for row in one}) == len(one)
    for value in (0.0, -1.0, 1e30):
        others = drawn(program, changed(rows, value))
        for one, other in zip(found, others, strict=True):
            assert same(without(one), without(other))


def drawn(program: Program, rows: list[Tensor]) -> list[Tensor]:
    torch.manual_seed(4)
    return [one.detach() for one in program.run(rows, len(rows[0]))]


@pytest.mark.parametrize("bad", [-1, 3, 4, 100, -4, 2**62])
@pytest.mark.parametrize("name", PLACED)
def test_places_out_of_range_are_of_that_row_only(name: str, bad: int) -> None:
    """An error is one of the whole part, whose rows are then tried alone."""
    rows = [rows_of()[0][:5].nan_to_num(1.0, 1.0, 1.0), rows_of()[2][:5]]
    call = PLACED[name]
    program = placed(call)
    try:
        found = [tuple(program.run(rows, 5))]
        for place in range(4):
            rows[1][CHANGED, : place + 1] = bad
            found.append(tuple(program.run(rows, 5)))
        rows[0][[0, 1, 3, 4]] = 7.0
        last = tuple(program.run(rows, 5))
    except FAILED as error:
        assert isinstance(error, Untraceable | IndexError | RuntimeError)  # noqa: PT017
        assert name == "index_fill" or not isinstance(error, Untraceable)  # noqa: PT017
        return
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            assert same(without(one), without(other))
    for one, other in zip(found[-1], last, strict=True):
        assert same(one[CHANGED], other[CHANGED])


@cache
def placed(call: Any) -> Program:
    rows = (rows_of()[0][:1], rows_of()[2][:1])
    model = nn.Module()
    model.forward = lambda x, i: leaves(call(x[0], i[0]))  # type: ignore[method-assign]
    return traced(model, None, rows)


def rows_without_zeros() -> list[Tensor]:
    """Products of the last row are too large for a float on the way."""
    rows = rows_of()
    rows[0], rows[1] = rows[0].nan_to_num(1, 1, 1), rows[1].nan_to_num(1, 1, 1)
    for one in rows[:2]:
        one.copy_(one.clamp(-2, 2).abs() + 0.5)
        one[5] = torch.tensor([1e30, 1e-30]).repeat(3, 2).sort(0)[0]
    rows[0][5, 0], rows[0][5, 1] = 1e30, 1e-30
    return rows


@pytest.mark.parametrize(
    "name", [*PRODUCTS, *(pytest.param(n, marks=pytest.mark.full) for n in OTHERS)]
)
def test_the_only_zero_is_of_that_row_only(name: str) -> None:
    """PyTorch's way back from a product asks whether any number is 0."""
    program, rows = program_of(CALLS[name]), rows_without_zeros()
    found = ran(program, rows)
    for value in (0.0, NAN, INF, -1.0):
        others = ran(program, changed(rows, value))
        for before, after in zip(found, others, strict=True):
            for one, other in zip(before, after, strict=True):
                assert same(without(one), without(other)), value


@pytest.mark.full
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("kind", [torch.bool, torch.float32])
@pytest.mark.parametrize(
    "shape",
    [(5, 6), (1, 6), (3, 5, 6), (1, 5, 6), (2, 3, 5, 6), (2, 1, 5, 6), (1, 1, 1, 6)],
)
def test_each_row_has_its_own_mask(
    shape: tuple[int, ...], kind: torch.dtype, own: bool
) -> None:
    generator = torch.Generator().manual_seed(5)
    sizes = ((2, 3, 5, 8), (2, 3, 6, 8), (2, 3, 6, 8), shape)
    rows = [torch.randn(4, *size, generator=generator) for size in sizes]
    rows[3][1], rows[3][2] = -INF, 1.0
    masks = rows[3] if kind.is_floating_point else rows[3] > 0
    rows[2][3, 0, 0, 0] = NAN

    def attention(*row: Tensor) -> Tensor:
        mask = row[3][0] if own else masks[0]
        return functional.scaled_dot_product_attention(*(x[0] for x in row[:3]), mask)

    rows[3] = masks
    model = nn.Module()
    model.forward = attention  # type: ignore[method-assign]
    program = traced(model, None, tuple(some(rows, 0)))
    found = program.run(rows, 4)
    for row in range(4):
        assert same(found[row], program.run(some(rows, row), 1)[0], 1e-5)
        assert same(found[row], attention(*some(rows, row)), 1e-5)
