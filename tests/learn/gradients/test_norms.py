"""Norms are never below the true ones, whatever cancels, and however small or large the
numbers are (rule R25). Truth is computed in double precision.
"""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from dither.learn.gradients import norms
from dither.learn.gradients.norms import measured
from dither.learn.gradients.uses import Factored, Lookup, Outer, Use, Whole

UNITS = 4


def truth(uses: list[Use]) -> Tensor:
    """Norms of summed gradients, from the same numbers in double precision."""
    total: Tensor | float = 0.0
    for use in uses:
        if isinstance(use, Outer):
            total = total + use.left.double().transpose(1, 2) @ use.right.double()
        elif isinstance(use, Lookup):
            once = torch.nn.functional.one_hot(use.lines, use.size).double()
            total = total + once.transpose(1, 2) @ use.right.double()
        elif isinstance(use, Whole):
            total = total + use.gradients.double()[:, None]
    assert isinstance(total, Tensor)
    return total.flatten(1).norm(dim=1)


def cancelling(places: int, high: int, wide: int, left_over: float) -> Outer:
    """Pairs of places that take each other away but for a small part."""
    left, right = torch.randn(UNITS, places, high), torch.randn(UNITS, places, wide)
    half = places // 2
    right[:, half : 2 * half] = right[:, :half]
    noise = left_over * torch.randn(UNITS, half, high)
    left[:, half : 2 * half] = -left[:, :half] + noise
    return Outer(left, right)


@pytest.fixture(autouse=True)
def _seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    monkeypatch.setattr(norms, "SMALL", 0)


def ghosts(uses: list[Use]) -> Tensor:
    """Norms by products of places, whatever they cost."""
    assert all(isinstance(use, Factored) for use in uses)
    return norms._ghost([use for use in uses if isinstance(use, Factored)]).sqrt()


@pytest.mark.parametrize("left_over", [0.0, 1e-7, 1e-5, 1e-3, 1.0])
@pytest.mark.parametrize("places", [2, 16, 300])
@pytest.mark.parametrize("sizes", [(3, 5), (64, 200), (7, 3000)])
def test_norms_hold_under_cancellation(
    places: int, sizes: tuple[int, int], left_over: float
) -> None:
    for _ in range(3):
        use = cancelling(places, *sizes, left_over)
        assert bool((ghosts([use]) >= truth([use])).all())


def test_a_norm_without_its_margin_would_be_too_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(norms, "_margin", lambda _: 0.0)
    monkeypatch.setattr(norms, "LOST", 0.0)
    below = 0
    for _ in range(20):
        use = cancelling(64, 64, 200, 1e-5)
        below += int((ghosts([use]) < truth([use])).sum())
    assert below > 0


def test_products_agree_where_nothing_cancels() -> None:
    use = Outer(torch.rand(UNITS, 30, 40), torch.rand(UNITS, 30, 20))
    assert ghosts([use]) == pytest.approx(truth([use]), rel=1e-5)


@pytest.mark.parametrize("places", [1, 5, 200])
def test_tied_weights_have_cross_terms(places: int) -> None:
    for sign in (1.0, -1.0):
        lines = torch.randint(0, 9, (UNITS, places))
        right = torch.randn(UNITS, places, 6)
        left = sign * torch.nn.functional.one_hot(lines, 9).float()
        uses: list[Use] = [Lookup(lines, right, 9), Outer(left, right)]
        found, wanted = ghosts(uses), truth(uses)
        assert bool((found >= wanted).all())
        if sign > 0:
            assert found == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("places", [1, 3])
@pytest.mark.parametrize("power", [-126, -90, -75, -70, -63, -50, 40])
def test_sizes_that_floats_cannot_square(places: int, power: int) -> None:
    for turn in (1, -1):
        left = torch.randn(UNITS, places, 500) * 2.0**power
        right = torch.randn(UNITS, places, 400) * 2.0 ** min(-power, 60)
        use = Outer(left, right) if turn == 1 else Outer(right, left)
        found = ghosts([use])
        assert bool((~(found < truth([use]))).all())
        held = measured([Whole(use.whole())]).squares.sqrt()
        assert bool((held >= truth([Whole(use.whole())])).all())


@pytest.mark.parametrize("kind", ["outer", "lookup"])
def test_bfloat16_norms_are_those_of_its_numbers(kind: str) -> None:
    right = torch.randn(UNITS, 40, 30).bfloat16()
    left = torch.randn(UNITS, 40, 20).bfloat16()
    left[:, 20:], right[:, 20:] = -left[:, :20], right[:, :20]
    left[:, 3] *= 1.01
    lines = torch.randint(0, 9, (UNITS, 40))
    use: Use = Outer(left, right) if kind == "outer" else Lookup(lines, right, 9)
    found, wanted = ghosts([use]), truth([use])
    assert bool((found >= wanted).all())
    assert bool((found <= wanted * 1.01 + 2.5).all())
    weights = torch.rand(UNITS)
    assert use.total(weights).dtype == torch.float32
    assert use.whole().dtype == torch.float32


@pytest.mark.parametrize("entries", [1, 127, 128, 129, 784, 5000, 8191])
def test_held_gradients_have_their_norm(entries: int) -> None:
    use = Whole(torch.randn(UNITS, entries) * torch.logspace(-8, 8, UNITS)[:, None])
    found, wanted = measured([use]).squares.sqrt(), truth([use])
    assert bool((found >= wanted).all())
    assert found == pytest.approx(wanted, rel=1e-5)


def test_cost_decides() -> None:
    long = [Outer(torch.randn(1, 50, 8), torch.randn(1, 50, 8))]
    short = [Outer(torch.randn(1, 2, 80), torch.randn(1, 2, 80))]
    book = [Lookup(torch.zeros(1, 300, dtype=torch.int64), torch.randn(1, 300, 8), 999)]
    assert not norms.ghost_is_cheaper(long)
    assert norms.ghost_is_cheaper(short)
    assert norms.ghost_is_cheaper(book)
    for uses in (long, short, book):
        found = measured(uses).squares.sqrt()
        assert found == pytest.approx(truth(list(uses)), rel=1e-3)


def test_weights_times_norms_stay_within_the_radius() -> None:
    """A sum of one unit is never longer than the radius, to the last bit but few."""
    from dither.learn.gradients.clipping import Automatic, Flat, PerLayer

    for radius in (1e-3, 1.0, 77.7):
        for clipping in (Flat(radius), Automatic(radius), PerLayer({"a": radius})):
            use = Whole(
                torch.randn(UNITS, 3000) * torch.logspace(-3, 9, UNITS)[:, None]
            )
            found = measured([use])
            weights = clipping({"a": found.squares})["a"]
            for unit in range(UNITS):
                alone = torch.zeros(UNITS)
                alone[unit] = weights[unit]
                length = float(found.total(alone).double().norm())
                assert length <= radius
    assert math.isclose(PerLayer({"a": 3.0, "b": 4.0}).radius, 5.0)
