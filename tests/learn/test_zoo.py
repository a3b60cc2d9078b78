"""Models that people have: what happens to each, and that one unit more moves its sums
by the radius at most (rule R25).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from dither import ArgumentError
from dither.learn import Automatic, PerLayer
from dither.learn.draws import Draws
from dither.learn.gradients import alone as one_row
from dither.learn.gradients.alone import Alone
from dither.learn.gradients.clipping import Flat
from dither.learn.gradients.oracle import Oracle, Traced, called, trained
from dither.learn.history import evaluating
from dither.learn.preparing import differentiating
from dither.learn.ready import Ready
from dither.learn.rows import Batch, Units
from tests.learn.neighbours import SIZE, joined, run_of, sums, units_in
from tests.learn.zoo.every import ZOO
from tests.learn.zoo.made import ALONE, REFUSED, TRACED, Model
from tools.pages import outdated
from tools.zoo import pages

NAMES = {one.name: one for one in ZOO}
TRAINED = [one.name for one in ZOO if one.expected != REFUSED]
BATCHED = [one.name for one in ZOO if one.expected == TRACED]
RADIUS, ROWS = 0.5, 8
NEAR = 1e-4
MISSING, LARGE = -1.0, 100.0
FAR = 3e38
"""Its square is infinite in float32."""
TOP, OUTSIDE, IGNORED = "the largest", 1 << 31, -100
HOSTILE: tuple[tuple[Any, ...], ...] = (
    (-1.0, -1, 0.0, 0),
    (0.0, 0, -1e8, 1),
    (1e8, TOP, 1e8, 2),
    (FAR, OUTSIDE, FAR, 0),
    (math.nan, -OUTSIDE, 1.0, 1),
    (math.inf, 1, 1.0, 2),
    (1.0, 1, math.nan, OUTSIDE),
    (1.0, TOP, FAR, IGNORED),
)
"""Inputs that are real or whole, and targets that are."""
MORE: tuple[tuple[Any, ...], ...] = (
    (-1e8, 1, 0.0, -1),
    (1e-38, 2, 1e-38, 0),
    (2.0**-149, 0, 1e8, TOP),
    (-FAR, 1 << 62, -FAR, 1 << 62),
    (1e19, -(1 << 62), 1e19, 0),
    (-math.inf, OUTSIDE - 1, math.inf, -OUTSIDE),
    (255.0, 255, 255.0, 1),
    (1e4, TOP, -1e4, 2),
)


def records(model: Model, flat: bool = True) -> Any:
    """Ordinary rows, and some as people write them that have no value: -1 in one place
    or in all, nothing but padding; and one of large numbers.
    """
    torch.manual_seed(7)  # allowed: made-up records
    inputs, targets = model.inputs(ROWS), model.targets(ROWS)
    return tree_map(partial(_with_odd_rows, flat=flat), inputs), targets


def _with_odd_rows(values: Tensor, flat: bool) -> Tensor:
    found, real = values.clone(), values.is_floating_point()
    if found.ndim > 1:
        found[::2, ..., 0] = MISSING if real else 0
    if flat or not real:
        found[3] = MISSING if real else values.max()
        found[5] = 0
        found[7] = LARGE if real else 1
    return found


def odd(model: Model, row: tuple[Any, ...], count: int = 1) -> Any:
    """Rows of such inputs and targets."""
    real, whole, score, label = row
    inputs, targets = records(model)
    filled = tree_map(partial(_filled, real=real, whole=whole), inputs)
    both = filled, _filled(targets, score, label)
    return tree_map(lambda one: one[:1].repeat(count, *[1] * (one.ndim - 1)), both)


def _filled(values: Tensor, real: float, whole: Any) -> Tensor:
    if values.is_floating_point():
        return torch.full_like(values, real)
    number = int(values.max()) if whole == TOP else whole
    if values.dtype in (torch.uint8, torch.bool):
        number %= 1 << 8
    return torch.full_like(values, number)


@cache
def run(name: str) -> Ready:
    return run_with(name, RADIUS)


def run_with(name: str, clip: Any, rows: int = 1) -> Ready:
    model = NAMES[name]
    units = ROWS // rows + 1
    more = {"owner": owners(ROWS, rows), "rows": rows} if rows > 1 else {}
    plain = {"loss": model.loss, "clip": clip, "units": units, "batch": units}
    return run_of(model.make, records(model), **plain | more, micro=units)


def owners(count: int, rows: int) -> Any:
    return "row" if rows == 1 else np.arange(count) // rows


def happens(name: str) -> str:
    """The route of a model, or why it is refused."""
    try:
        return run(name).probed.route
    except ArgumentError as error:
        return f"{REFUSED}: {error}"


@pytest.mark.parametrize("name", NAMES)
def test_what_happens_to_a_model(name: str) -> None:
    model, found = NAMES[name], happens(name)
    assert found.startswith(model.expected)
    assert model.reason in found
    assert bool(model.reason) == (model.expected != TRACED)


def test_most_ordinary_models_take_one_backward_pass() -> None:
    ordinary = [one.expected for one in ZOO if one.kind != "tricks"]
    assert len(NAMES) == len(ZOO) >= 60
    assert ordinary.count(TRACED) >= 50
    assert ordinary.count(ALONE) <= 4
    assert REFUSED not in ordinary


def test_the_page_shows_the_models() -> None:
    assert outdated(pages()) == [], "run python tools/zoo.py"


@pytest.mark.parametrize("name", BATCHED)
def test_sums_are_those_of_one_row_at_a_time(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Of a model that draws, in its final form; of one that draws even there, with the
    same draws for one row.
    """
    # One row at a time, generators are seeded for each row.
    monkeypatch.setattr(one_row, "apart", lambda _: lambda _: None)
    model, ready = NAMES[name], run(name)
    alone = Alone(ready.model, model.loss)
    # One number in all places is ill-conditioned: norms divide by a spread of 0.
    data = records(model, flat=False)
    batch = units_in(ready, data).take(np.arange(ROWS), ROWS)
    with differentiating(ready.model):
        if not model.draws:
            assert apart(ready.probed.oracle, alone, batch) < NEAR
            return
        with evaluating(ready.model):
            one = batch.map(lambda values: values[:1])
            final = Traced.of(ready.model, model.loss, one.inputs, one.targets)
            some = one if draws(ready.model, one) else batch
            assert apart(final, alone, some) < NEAR


def draws(model: nn.Module, batch: Batch) -> bool:
    before = Draws.now(torch.device("cpu"))
    called(model, batch.inputs)
    return before.moved


def apart(oracle: Oracle, alone: Oracle, batch: Batch) -> float:
    """The relative difference of the clipped sums."""
    found, wanted = (clipped(one, batch) for one in (oracle, alone))
    return float((found - wanted).norm() / wanted.norm())


def clipped(oracle: Oracle, batch: Batch) -> Tensor:
    torch.manual_seed(1)  # allowed: the same draws for both
    given = (batch.inputs, batch.targets, batch.there.float())
    found = oracle.sums(*given, Flat(RADIUS))
    return torch.cat([one.flatten().double() for one in found.values()])


@pytest.mark.parametrize("name", TRAINED)
def test_one_unit_more_moves_the_sums_by_the_radius_at_most(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    found = list(moves(monkeypatch, run(name), NAMES[name], HOSTILE))
    assert max(found) <= RADIUS * SIZE
    assert max(found) > RADIUS / 10  # or nothing was tried


def moves(
    monkeypatch: pytest.MonkeyPatch,
    ready: Ready,
    model: Model,
    rows: tuple[tuple[Any, ...], ...],
) -> Iterator[float]:
    """How far each of these rows moves the sums, as a unit more."""
    data, many = records(model), ready.plan.rows

    def summed(some: Any, count: int) -> Tensor:
        units: Units = units_in(ready, some, owners(count, many))
        return sums(monkeypatch, ready, units)

    without = summed(data, ROWS)
    for row in rows:
        both = joined(data, odd(model, row, many))
        yield float((summed(both, ROWS + many) - without).norm())


def each_layer(name: str) -> PerLayer:
    names = trained(run(name).model)
    return PerLayer(dict.fromkeys(names, RADIUS / math.sqrt(len(names))))


@pytest.mark.full
@pytest.mark.parametrize("name", TRAINED)
def test_more_odd_units_move_the_sums_by_the_radius_at_most(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """By other kinds of clipping, and of units of two rows."""
    for clip, rows in ((Automatic(RADIUS), 1), (each_layer(name), 2)):
        ready = run_with(name, clip, rows)
        found = moves(monkeypatch, ready, NAMES[name], HOSTILE + MORE)
        assert max(found) <= RADIUS * SIZE
