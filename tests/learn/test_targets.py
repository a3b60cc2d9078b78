"""That scores fit the classes, and that the loss on public data is that of a row."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import dither
from dither import ArgumentError, Budget
from dither.learn import preview, train
from tests.chance import chance
from tests.learn.data import UNITS, model, owned, records


def one_score(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(
        outputs.squeeze(-1), targets.float()
    )


def squeezed(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.mse_loss(outputs.squeeze(-1), targets)


def test_one_score_for_whole_numbers_is_refused() -> None:
    inputs, targets = records()
    budget = Budget(20.0, 1e-6)
    data = inputs, targets % 2
    with pytest.raises(ArgumentError, match="give two scores"):
        train(nn.Linear(4, 1), data, **owned(loss=one_score, budget=budget))
    assert budget.affords(dither.PureDP(19.9))


@chance(1e-9)
def test_one_score_for_reals_counts_every_row() -> None:
    inputs = records()[0]
    data = inputs, (inputs[:, :1] > 0).float()
    loss = functional.binary_cross_entropy_with_logits
    asked = owned(loss=loss, epochs=8, lr=2.0, noise=0.1, public=data)
    epochs = train(nn.Linear(4, 1), data, **asked).history
    assert (epochs[-1].loss or 9.0) < 0.4


@pytest.mark.parametrize("scores", [1, 3])
@pytest.mark.parametrize("opened", [False, True])
def test_scores_must_be_as_many_as_declared_classes(scores: int, opened: bool) -> None:
    frame = pd.DataFrame({"a": [0.5] * UNITS, "y": ["no", "yes"] * (UNITS // 2)})
    asked: dict[str, Any] = {"inputs": ["a"], "target": "y"}
    data: Any = frame
    if opened:
        data = dither.open(
            {"t": frame},
            unit="row",
            bounds={"t": {"a": (0, 1)}},
            keys={"t": {"y": ["no", "yes"]}},
            population=UNITS,
            budget=(20.0, 1e-6),
        )
        asked |= {"owner": None, "units": None}
    else:
        asked |= {"classes": ["no", "yes"]}
    with pytest.raises(ArgumentError, match="2 declared classes"):
        preview(nn.Linear(1, scores), data, **owned(**asked))
    preview(nn.Linear(1, 2), data, **owned(**asked))


def test_a_loss_that_spreads_rows_is_refused() -> None:
    inputs = records()[0]
    with pytest.raises(ArgumentError, match="squeeze neither"):
        preview(nn.Linear(4, 1), (inputs, inputs[:, :1]), **owned(loss=squeezed))


def test_public_loss_is_the_mean_of_rows_of_a_sum_too() -> None:
    data = records()
    loss = partial(functional.cross_entropy, reduction="sum")
    found = train(model(), data, **owned(loss=loss, public=data))
    with torch.no_grad():
        right = functional.cross_entropy(found.value(data[0]), data[1])
    assert found.history[-1].loss == pytest.approx(float(right), rel=1e-4)


def test_public_targets_of_another_shape_are_refused() -> None:
    inputs = records()[0]
    asked = owned(loss=functional.mse_loss, public=(inputs, inputs[:, 0]))
    with pytest.raises(ArgumentError, match="rows of shape"):
        preview(nn.Linear(4, 1), (inputs, inputs[:, :1]), **asked)


def test_public_labels_without_a_class_are_refused() -> None:
    inputs, targets = records()
    with pytest.raises(ArgumentError, match="label 3 is not one of 3"):
        preview(model(), (inputs, targets), **owned(public=(inputs, targets + 1)))


def test_public_rows_without_a_label_have_no_loss() -> None:
    inputs, targets = records()
    some = torch.where(torch.arange(UNITS) % 2 == 0, targets, -100)
    found = train(model(), (inputs, targets), **owned(public=(inputs, some)))
    with torch.no_grad():
        right = functional.cross_entropy(found.value(inputs), some)
    assert found.history[-1].loss == pytest.approx(float(right), rel=1e-4)
