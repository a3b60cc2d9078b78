"""Kernels for norms and sums, beside the same in double precision."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.learn.kernels.where import DEVICE, ON_GPU

pytest.importorskip("triton", reason="needs a GPU: Triton comes with PyTorch for GPUs")
from dither.learn.kernels import ghost, sums

# The interpreter has no products of bfloat16; those of float16 are exact too.
SHORT = torch.bfloat16 if ON_GPU else torch.float16
LOST = 2.0**-62


def made(*shape: int) -> Tensor:
    return torch.randn(*shape, device=DEVICE)


def whole(left: Tensor, right: Tensor) -> Tensor:
    found = left.double().transpose(1, 2) @ right.double()
    return found.flatten(1).square().sum(1)


@pytest.mark.parametrize("places", [2, 40, 150])
def test_norms_are_just_above_the_true_ones(places: int) -> None:
    torch.manual_seed(places)
    pairs = [
        (made(2, places, height).to(SHORT), made(2, places, width).to(SHORT))
        for height, width in ((70, 33), (16, 100))
    ]
    for (left, right), found in zip(pairs, ghost.squares(pairs, LOST), strict=True):
        above = found / whole(left, right) - 1
        margin = ghost.margin(left.shape[2], right.shape[2])
        assert bool((above > 0).all())
        assert bool((above < 3 * margin * places).all())


def test_norms_hold_under_cancellation() -> None:
    torch.manual_seed(0)
    left, right = made(2, 8, 30).to(SHORT), made(2, 8, 20).to(SHORT)
    left = torch.cat([left, -left], 1)
    right = torch.cat([right, right], 1)
    found = ghost.squares([(left, right)], LOST)[0]
    assert bool((whole(left, right) == 0).all())
    assert bool((found > 0).all())


def test_what_is_no_number_stays_none() -> None:
    left, right = made(3, 20, 8).to(SHORT), made(3, 20, 8).to(SHORT)
    left[1, 3, 2] = float("nan")
    right[2, 0, 0] = float("inf")
    with np.errstate(all="ignore"):
        found = ghost.squares([(left, right)], LOST)[0]
    assert torch.isfinite(found).tolist() == [True, False, False]


def test_squares_and_weighted_sums_of_parts() -> None:
    torch.manual_seed(1)
    values, begins = made(3, 2500), (0, 10, 1700, 2500)
    weights = torch.rand(3, 3, device=DEVICE)
    parts = [values[:, i:j].double() for i, j in pairwise(begins)]
    found = sums.squares(values, begins)
    for one, part in zip(found, parts, strict=True):
        above = one / part.square().sum(1) - 1
        assert bool((above > 0).all())
        assert bool((above < 1e-8).all())
    wanted = torch.cat(
        [w.double() @ part for w, part in zip(weights, parts, strict=True)]
    )
    total = sums.weighted(values, begins, weights)
    torch.testing.assert_close(total.double(), wanted, rtol=1e-5, atol=1e-6)


def test_both_parts_of_a_scaled_side() -> None:
    values = made(3, 7, 400).bfloat16()
    weights = torch.rand(3, device=DEVICE)
    high, low = sums.split(values, weights)
    assert high.dtype == low.dtype == torch.bfloat16
    wanted = values.double() * weights.double()[:, None, None]
    apart = (high.double() + low.double() - wanted).abs()
    # The interpreter cuts bits off where a GPU rounds.
    assert float((apart / wanted.abs()).max()) <= (2.0**-17 if ON_GPU else 2.0**-14)


def test_gradients_of_a_layer_norm() -> None:
    torch.manual_seed(2)
    inputs, gradients = made(18, 70), made(18, 70)
    means = inputs.mean(1)
    spreads = (inputs.var(1, unbiased=False) + 1e-5).rsqrt()
    scale, shift = sums.normalized(inputs, gradients, means, spreads, 2)
    plain = (inputs - means[:, None]) * spreads[:, None]
    wanted = (plain * gradients).view(2, 9, 70).sum(1)
    torch.testing.assert_close(scale, wanted, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(shift, gradients.view(2, 9, 70).sum(1))
