"""Usual losses, asked for all rows at once, give what they give for each row alone."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from dither.learn.gradients.losses import row_losses

ROWS = 6


def alone(loss: Any, outputs: Tensor, targets: Tensor) -> Tensor:
    pairs = [(outputs[i : i + 1], targets[i : i + 1]) for i in range(len(outputs))]
    return torch.stack([loss(*pair) for pair in pairs])


CLASSES = (
    functional.cross_entropy,
    nn.CrossEntropyLoss(),
    nn.CrossEntropyLoss(weight=torch.rand(4), reduction="sum"),
    partial(functional.cross_entropy, reduction="sum"),
    partial(functional.cross_entropy, label_smoothing=0.2),
    partial(functional.cross_entropy, weight=torch.rand(4)),
    lambda outputs, targets: functional.nll_loss(outputs.log_softmax(1), targets),
    nn.NLLLoss(),
    functional.nll_loss,
)
NUMBERS = (
    functional.mse_loss,
    functional.l1_loss,
    nn.MSELoss(reduction="sum"),
    partial(functional.smooth_l1_loss, beta=0.3),
    partial(functional.huber_loss, delta=0.3, reduction="sum"),
    functional.binary_cross_entropy_with_logits,
    nn.BCEWithLogitsLoss(pos_weight=torch.rand(4)),
    lambda outputs, targets: ((outputs - targets) ** 4).mean(),
)


@pytest.mark.parametrize("loss", CLASSES)
def test_classes(loss: Any) -> None:
    torch.manual_seed(0)
    outputs, targets = torch.randn(ROWS, 4), torch.randint(0, 4, (ROWS,))
    found = row_losses(loss, outputs, targets)
    torch.testing.assert_close(found, alone(loss, outputs, targets))


@pytest.mark.parametrize("loss", CLASSES[:6])
def test_classes_of_several_places(loss: Any) -> None:
    torch.manual_seed(2)
    outputs, targets = torch.randn(ROWS, 4, 3, 2), torch.randint(0, 4, (ROWS, 3, 2))
    targets[1, 0] = -100
    found = row_losses(loss, outputs, targets)
    torch.testing.assert_close(found, alone(loss, outputs, targets))


@pytest.mark.parametrize("shape", [(), (4,), (1, 4)])
@pytest.mark.parametrize("loss", NUMBERS)
def test_numbers(loss: Any, shape: tuple[int, ...]) -> None:
    torch.manual_seed(1)
    outputs, targets = torch.randn(ROWS, *shape), torch.rand(ROWS, *shape)
    if shape == () and isinstance(loss, nn.BCEWithLogitsLoss):
        return
    found = row_losses(loss, outputs, targets)
    torch.testing.assert_close(found, alone(loss, outputs, targets))


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_shapes_that_would_be_spread_over_each_other_do_not_mix_rows() -> None:
    outputs, targets = torch.randn(ROWS, 1), torch.randn(ROWS)
    found = row_losses(functional.mse_loss, outputs, targets)
    torch.testing.assert_close(found, (outputs[:, 0] - targets) ** 2)


def test_words_of_a_text_are_averaged_for_each_row() -> None:
    outputs, targets = torch.randn(ROWS, 4, 3), torch.randint(0, 4, (ROWS, 3))
    found = row_losses(functional.cross_entropy, outputs, targets)
    torch.testing.assert_close(found, alone(functional.cross_entropy, outputs, targets))


@pytest.mark.parametrize("label", [-1, -100, 4, 2**40, -(2**60)])
def test_labels_of_no_class_have_no_loss(label: int) -> None:
    outputs = torch.randn(ROWS, 4, requires_grad=True)
    targets = torch.randint(0, 4, (ROWS,))
    wanted = row_losses(functional.cross_entropy, outputs, targets)
    targets[2] = label
    found = row_losses(functional.cross_entropy, outputs, targets)
    (gradient,) = torch.autograd.grad(found.sum(), outputs)
    assert float(found[2].detach()) == 0
    assert float(gradient[2].abs().max()) == 0
    others = torch.arange(ROWS) != 2
    torch.testing.assert_close(found[others], wanted[others])
