"""What a step does to the weights: clipped sums, noise of the right size, public
denominators. An attacker who plants a gradient cannot tell whether it is there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dither.learn import Adaptive, gaussian, preview, train
from dither.learn.gradients.clipping import Flat
from dither.learn.loop import Loop
from dither.learn.preparing import differentiating, prepared
from dither.learn.ready import Ready
from dither.learn.rows import Tensors, Units, units_of
from dither.learn.sampler import Poisson
from dither.learn.settings import Settings
from tests.chance import chance
from tests.learn.data import UNITS, model, owned, records, run

FAR = 6.5
"""Deviations that sound noise exceeds with probability 1e-10."""


class Weights(nn.Module):
    """A model whose gradient for a row is that row, whatever the weights are."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.line = nn.Linear(size, 1, bias=False)

    def forward(self, inputs: Tensor) -> Tensor:
        found: Tensor = self.line(inputs)
        return found


def line(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs + 0 * targets).mean()


def ready(size: int, count: int, **more: Any) -> tuple[Ready, Units]:
    """A run over rows of zeros, but for the first one."""
    inputs = torch.zeros(count, size)
    made = prepared(
        Weights(size),
        (inputs, torch.zeros(count, 1)),
        Settings(**run(loss=line, epochs=1, lr=1.0, owner="row", units=count) | more),
    )
    rows, owners = made.source.read(None)
    return made, units_of(rows, owners, made.plan.rows)


def moved(made: Ready, units: Units) -> Tensor:
    """How one step moves the weights, times the batch size."""
    (weight,) = made.model.parameters()
    with torch.no_grad():
        weight.zero_()
    with differentiating(made.model):
        Loop(made, units).step(made.plan.noises[0])
    return -weight.detach().clone()[0] * made.plan.batch


@chance(1e-8)
def test_noise_has_its_deviation_and_is_independent() -> None:
    made, units = ready(4000, 10, batch=5, noise=1.3, clip=0.7)
    steps = torch.stack([moved(made, units) for _ in range(30)]).double().numpy()
    wanted = 1.3 * 0.7
    count = steps.size
    assert abs(steps.mean()) <= FAR * wanted / math.sqrt(count)
    assert abs(steps.var() / wanted**2 - 1) <= FAR * math.sqrt(2 / count)
    fourth = (steps**4).mean() / wanted**4
    assert abs(fourth - 3) <= FAR * math.sqrt(96 / count)
    for one, two in ((steps[:-1], steps[1:]), (steps[:, :-1], steps[:, 1:])):
        near = (one * two).mean() / wanted**2
        assert abs(near) <= FAR / math.sqrt(one.size)


@chance(1e-8)
def test_an_empty_batch_steps_with_noise() -> None:
    made, _ = ready(50, 10, batch=5)
    nobody = units_of(made.source.read(None)[0], [None] * 10, 1)
    assert len(nobody) == 0
    assert float(moved(made, nobody).abs().min()) > 0


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("micro", [1, 4, 100])
def test_sums_are_clipped_for_each_unit(rows: int, micro: int) -> None:
    """Parts of any size give what a loop over units gives."""
    inputs = torch.arange(1.0, 25.0).view(12, 2)
    owners = np.arange(12) // rows
    made = prepared(
        Weights(2),
        (inputs, torch.zeros(12, 1)),
        Settings(
            **run(loss=line, epochs=1, lr=1.0, clip=2.0, noise=1e-6)
            | {"owner": owners, "units": 12 // rows, "rows": rows}
            | {"batch": 12 // rows, "micro": micro}
        ),
    )
    units = units_of(*made.source.read(None), rows)
    whole = inputs.view(-1, rows, 2).sum(1)
    wanted = (whole * (2 / whole.norm(dim=1)).clamp_max(1)[:, None]).sum(0)
    assert torch.allclose(moved(made, units), wanted, atol=1e-4)


@chance(1e-20)
def test_a_unit_with_many_rows_counts_with_some_of_them() -> None:
    inputs = torch.eye(6)
    made = prepared(
        Weights(6),
        (inputs, torch.zeros(6, 1)),
        Settings(
            **run(loss=line, epochs=1, lr=1.0, clip=100.0, noise=1e-9, batch=1)
            | {"owner": ["a"] * 6, "units": 1, "rows": 2}
        ),
    )
    kept = set()
    for _ in range(40):
        units = units_of(*made.source.read(None), 2)
        found = moved(made, units).round()
        assert found.sum() == 2
        kept |= {tuple(found.tolist())}
    assert len(kept) > 3  # a random choice, drawn anew


@chance(1e-12)
def test_adaptive_radius_follows_the_norms_and_is_paid_for() -> None:
    found = train(
        model(), records(), **owned(epochs=15, clip=Adaptive(1e-3, count_noise=5.0))
    )
    assert found.guarantee == train(model(), records(), **owned(epochs=15)).guarantee
    made = prepared(
        model(), records(), Settings(**owned(clip=Adaptive(1e-3, count_noise=5.0)))
    )
    deviation = made.radius.deviation(1.0) / 1e-3
    assert deviation**-2 + (2 * 5.0) ** -2 == pytest.approx(1.0)
    units = units_of(*made.source.read(None), 1)
    with differentiating(made.model):
        for _ in range(60):
            Loop(made, units).step(1.0)
    assert made.radius.clipping.radius > 0.05


# An attacker plants a unit whose gradient is huge in a direction where all others have
# none, and looks at the step in that direction.

COUNT = 10


def planted(with_it: bool) -> Units:
    inputs = torch.zeros(COUNT if with_it else COUNT - 1, 1)
    if with_it:
        inputs[0] = 1e6
    rows = Tensors.of(inputs, torch.zeros(len(inputs), 1))
    return units_of(rows, None, 1)


def refuted(made: Ready, epsilon: float, delta: float, runs: int) -> bool:
    """Whether the steps with and without the unit are farther apart than (ε, δ), by
    Clopper and Pearson's bounds at 1e-7: a threshold is chosen on one half of the runs.
    """
    from scipy.stats import beta

    found = [
        np.array([float(moved(made, planted(with_it))) for _ in range(runs)])
        for with_it in (True, False)
    ]
    half = runs // 2
    (first, mine), (second, theirs) = ((one[:half], one[half:]) for one in found)
    best = _threshold(first, second, epsilon)
    hits = int((mine >= best).sum()), int((theirs >= best).sum())
    rest = runs - half
    low = beta.ppf(5e-8, hits[0], rest - hits[0] + 1) if hits[0] else 0.0
    high = beta.isf(5e-8, hits[1] + 1, rest - hits[1]) if hits[1] < rest else 1.0
    return bool(low > math.exp(epsilon) * high + delta)


def _threshold(one: Any, two: Any, epsilon: float) -> float:
    beyond = 2 * np.abs(two).max()
    places = np.append(np.quantile(one, np.linspace(0.02, 0.98, 49)), beyond)
    gains = [
        (one >= at).mean() - math.exp(epsilon) * (two >= at).mean() for at in places
    ]
    return float(places[int(np.argmax(gains))])


def unclipped(patch: pytest.MonkeyPatch) -> None:
    def ones(_: Flat, squares: dict[str, Tensor]) -> dict[str, Tensor]:
        return {name: torch.ones_like(one).float() for name, one in squares.items()}

    patch.setattr(Flat, "__call__", ones)


def quieter(patch: pytest.MonkeyPatch) -> None:
    whole = gaussian.gaussians
    patch.setattr(gaussian, "gaussians", lambda count: whole(count) / 2)


def always(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Poisson, "draw", lambda _, present: np.arange(present))


def audited(batch: int, noise: float, delta: float) -> tuple[Ready, float, float]:
    """A run, and what its first step promises."""
    made, _ = ready(1, COUNT, batch=batch, noise=noise, delta=delta)
    return made, made.plan.after(1).epsilon_at(delta), delta


@chance(1e-7)
def test_a_planted_gradient_is_hidden() -> None:
    assert not refuted(*audited(5, 2.0, 1e-3), 600)


@pytest.mark.full
@chance(1e-10)
def test_a_planted_gradient_is_found_without_clipping(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    audit = audited(5, 2.0, 1e-3)
    unclipped(monkeypatch)
    assert refuted(*audit, 600)


@pytest.mark.full
@pytest.mark.parametrize(
    ("fault", "runs"),
    [(None, 10_000), (unclipped, 2_000), (quieter, 10_000), (always, 6_000)],
)
def test_audit_of_many_runs(
    fault: Callable[[pytest.MonkeyPatch], None] | None,
    runs: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """20,000 steps in all. A trainer without clipping, with half of the noise, or that takes
    all units each time is refuted.
    """
    audit = audited(2, 0.7, 1e-2)
    if fault is not None:
        fault(monkeypatch)
    assert refuted(*audit, runs) is (fault is not None)


def test_the_number_of_units_is_private() -> None:
    """Twice as many units as declared change neither steps nor cost."""
    some = preview(model(), records(), **owned())
    more = preview(model(), records(2 * UNITS), **owned())
    assert (some.steps, some.noise, some.guarantee) == (
        more.steps,
        more.noise,
        more.guarantee,
    )
