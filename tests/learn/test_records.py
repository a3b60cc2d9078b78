"""Records of all kinds are read row by row; odd ones are data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from dither import ArgumentError, Budget, Unit
from dither.learn import (
    preview,
    train,
)
from dither.learn.preparing import prepared
from dither.learn.settings import Settings
from tests.learn.data import EXAMPLE, UNITS, Listed, Pairs, model, owned, records, run

FRAME = dict(zip("abcd", records()[0].numpy().T, strict=True))


@pytest.mark.parametrize("made", [dict, pd.DataFrame, pl.DataFrame])
def test_frames(made: Any) -> None:
    labels = np.array(["x", "y", "z"])[records()[1].numpy()]
    frame = made(FRAME | {"label": labels, "who": np.arange(UNITS) // 2})
    found = train(
        model(),
        frame,
        **run(inputs=list("abcd"), target="label", classes=["x", "y", "z"]),
        owner="who",
        units=UNITS // 2,
        rows=2,
    )
    assert found.guarantee.unit == Unit("who")


@pytest.mark.parametrize("data", [Pairs(), Pairs(odd=True), Pairs(1), Pairs(0)])
def test_datasets_of_pytorch(data: Any) -> None:
    assert len(train(model(), data, **owned(example=EXAMPLE)).history) == 2
    assert len(train(model(), TensorDataset(*records()), **owned()).history) == 2


@pytest.mark.parametrize("first", [(torch.zeros(3), 0), (torch.zeros(4), 0.5), None])
def test_an_odd_first_row_changes_no_other(first: Any) -> None:
    pairs = zip(records()[0], records()[1].tolist(), strict=True)
    data = Listed([first, *pairs])
    ready = prepared(model(), data, Settings(**owned(example=(torch.zeros(4), 0))))
    rows = ready.source.read(None)[0]
    there = rows.take(np.arange(len(data), dtype=np.intp)).there
    assert there.tolist() == [False, *[True] * UNITS]


@pytest.mark.parametrize("example", [None, 3, (torch.zeros(4),), "row"])
def test_a_dataset_needs_an_example_and_is_not_read(example: Any) -> None:
    data = Pairs()
    with pytest.raises(ArgumentError, match="example"):
        preview(model(), data, **owned(example=example))
    preview(model(), data, **owned(example=EXAMPLE))
    assert data.read == 0


def odd(kind: str) -> tuple[Tensor, Tensor]:
    inputs, targets = records()
    if kind == "labels":
        targets[:50], targets[50:60] = 7, -3
    if kind == "numbers":
        inputs[:50], inputs[50:60] = float("nan"), float("inf")
    if kind == "huge":
        inputs[:50] = 1e38
    if kind == "short":
        targets = targets[:10]
    if kind == "empty":
        inputs, targets = inputs[:0], targets[:0]
    return inputs, targets


@pytest.mark.parametrize("kind", ["labels", "numbers", "huge", "short", "empty"])
def test_odd_records_are_data(kind: str) -> None:
    budget = Budget(20.0, 1e-6)
    found = train(model(), odd(kind), **owned(budget=budget))
    assert all(bool(torch.isfinite(one).all()) for one in found.value.parameters())
    assert found.receipt is not None


class Broken(nn.Module):
    """Fails where a row has a large number: a model of somebody's own."""

    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(4, 3)
        self.lookup = nn.Parameter(torch.ones(3))

    def forward(self, inputs: Tensor) -> Tensor:
        place = (inputs[:, 0].abs() // 10).long()
        return self.line(inputs) * self.lookup[place][:, None]


def test_a_record_that_breaks_the_model_counts_for_nothing() -> None:
    inputs, targets = records()
    inputs[3] = 1000.0
    found = train(Broken(), (inputs, targets), **owned(batch=200, units=200))
    assert len(found.history) == 2


def test_words_beyond_the_vocabulary_are_data() -> None:
    words = torch.arange(UNITS * 5).view(UNITS, 5) % 40 - 5
    reader = nn.Sequential(nn.Embedding(20, 6), nn.Flatten(), nn.Linear(30, 3))
    found = train(reader, (words, records()[1]), **owned())
    assert len(found.history) == 2


@pytest.mark.parametrize(
    ("column", "target"),
    [
        (np.zeros((UNITS, 2)), np.zeros(UNITS)),
        (np.zeros(UNITS), np.zeros((UNITS, 2))),
        (torch.zeros(UNITS, 2), np.zeros(UNITS)),
    ],
    ids=["input", "target", "tensor"],
)
def test_columns_of_several_values_are_refused(column: Any, target: Any) -> None:
    """Numbers of one row would stand in rows of others."""
    frame = {"a": column, "y": target}
    with pytest.raises(ArgumentError, match="one value for each row"):
        preview(nn.Linear(1, 1), frame, **owned(inputs=["a"], target="y"))


def test_columns_that_are_there_twice_are_refused() -> None:
    frame = pd.DataFrame(np.zeros((UNITS, 3)), columns=["a", "a", "y"])
    with pytest.raises(ArgumentError, match="must occur once"):
        preview(nn.Linear(1, 1), frame, **owned(inputs=["a"], target="y"))
