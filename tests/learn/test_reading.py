"""A released model reads new rows as its run read them."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import dither
from dither.errors import ArgumentError
from dither.learn import ModelRelease, Words, train
from dither.learn.columns import Columns, Keyed, Numeric, saved_key
from dither.learn.reading import Reading

from .data import model, owned, records, run

WORDS = Words(["pain", "fever"], 3)
COLUMNS: dict[str, Any] = {
    "age": [20, 110, 65, 300],
    "sex": ["F", "M", "x", None],
    "note": ["Pain, no fever", "", "rain", "fever"],
    "ward": ["A", "B", "A", "B"],
}
READ = [[0.0, 1, 0], [1.0, 0, 1], [0.5, 0, 0], [1.0, 0, 0]]
HOW: dict[str, Any] = {"age": (20, 110), "sex": ["F", "M"]}


def linear(width: int = 3, outputs: int = 2) -> nn.Linear:
    return nn.Linear(width, outputs)


def trained(inputs: Any = HOW, network: nn.Module | None = None) -> ModelRelease:
    frame = pd.DataFrame(COLUMNS)
    loss = functional.cross_entropy
    stated = run(
        inputs=inputs, target="ward", classes=["A", "B"], owner="row", units=4, batch=2
    )
    return train(network or linear(), frame, **(stated | {"loss": loss}))


class Notes(nn.Module):
    """A model of two arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(len(WORDS), 2)
        self.last = nn.Linear(5, 2)

    def forward(self, numbers: Tensor, words: Tensor) -> Tensor:
        return self.last(torch.cat([numbers, self.words(words).mean(1)], 1))


def by_row() -> list[dict[str, Any]]:
    return pd.DataFrame(COLUMNS).drop(columns="ward").to_dict("records")


@pytest.mark.parametrize(
    "rows",
    [pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), COLUMNS, by_row()],
    ids=["pandas", "polars", "columns", "dicts"],
)
def test_new_rows_are_read_as_those_of_the_run(rows: Any) -> None:
    release = trained()
    assert release.read(rows).tolist() == READ
    assert release.read(rows).dtype == torch.float32
    numbers = release.value(release.read(rows)).argmax(1).tolist()
    assert release.predict(rows) == ["AB"[place] for place in numbers]


def test_words_are_an_argument_of_their_own(tmp_path: Path) -> None:
    release = trained(HOW | {"note": WORDS}, Notes())
    numbers, words = release.read(by_row())
    assert numbers.tolist() == READ
    assert torch.equal(words, WORDS(COLUMNS["note"]))
    release.save(tmp_path / "model.pt")
    loaded = ModelRelease.load(tmp_path / "model.pt", Notes())
    assert loaded.reading == release.reading
    assert all(
        torch.equal(one, two)
        for one, two in zip(loaded.read(by_row()), release.read(by_row()), strict=True)
    )
    assert loaded.predict(by_row()) == release.predict(by_row())


def test_a_missing_number_is_nan_and_has_no_answer() -> None:
    release = trained({"age": None, "sex": ["F", "M"]})
    rows = [{"age": value, "sex": "F"} for value in (1, None, math.inf, "1e99", "no")]
    found = release.read(rows)[:, 0]
    assert found.isnan().tolist() == [False, True, True, True, True]
    assert [one is None for one in release.predict(rows)] == found.isnan().tolist()
    assert release.predict([]) == release.predict({"age": [], "sex": []}) == []


def test_the_whole_run_reads_alike(tmp_path: Path) -> None:
    """What `read` gives is what the rows of the run were, declared in the catalogue."""
    frame = pd.DataFrame(
        {"who": range(40), "x": np.arange(40.0), "y": [True, False] * 20}
    )
    people = dither.open(
        frame,
        name="t",
        unit="who",
        bounds={"x": (10, 20)},
        population=40,
        budget=(5, 1e-5),
        ledger=tmp_path / "book",
        rows=1,
    )
    before = people.account.remaining
    release = train(
        linear(1), people, inputs=["x"], target="y", **run(batch=20, noise=5.0)
    )
    spent = people.account.remaining
    wanted = [min(max((x - 10) / 10, 0), 1) for x in range(40)]
    assert release.read(frame)[:, 0].tolist() == pytest.approx(wanted)
    assert set(release.predict(frame)) <= {False, True}
    assert people.account.remaining == spent != before


def test_numbers_come_back_on_their_scale() -> None:
    reading = Reading(("x",), "y", Columns((Numeric((0, 4)),), Numeric((100, 300))))
    model = linear(1, 1)
    with torch.no_grad():
        model.weight.fill_(1.0)
        model.bias.fill_(0.0)
    assert reading.answers(model, {"x": [0, 1, 4, None]}) == [100, 150, 300, None]


def test_outputs_that_are_no_classes_are_not_guessed_at() -> None:
    reading = Reading(("x",), "y", Columns((Numeric(),), Keyed(("no", "yes"))))
    with pytest.raises(ArgumentError, match="interpret the outputs yourself"):
        reading.answers(linear(1, 1), {"x": [1.0]})


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"age": [1]}, "there is no column 'sex'"),
        ({"age": [1, 2], "sex": ["F"]}, "of equal length"),
        ({"age": 1, "sex": "F"}, "is a single value"),
        ([1, 2], "must be dicts"),
        (records()[0], "cannot be of type Tensor"),
        ("age", "cannot be of type str"),
    ],
)
def test_what_is_no_row_is_refused(rows: Any, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        trained().read(rows)


def test_models_of_tensors_know_no_columns(tmp_path: Path) -> None:
    release = train(model(), records(), **owned())
    for asked in (release.read, release.predict):
        with pytest.raises(ArgumentError, match="trained on tensors"):
            asked({"x": [1]})
    release.save(tmp_path / "model.pt")
    assert ModelRelease.load(tmp_path / "model.pt", model()).reading is None


def test_every_key_is_compared_as_before_when_it_was_saved(tmp_path: Path) -> None:
    keys = ("a", 3, 2.5, True, None, date(2024, 5, 1), np.int64(7), b"raw")
    first = Reading(("x",), "y", Columns((Keyed(keys),), Keyed(("no", "yes"))))
    torch.save(first.saved(), tmp_path / "held")
    second = Reading.loaded(torch.load(tmp_path / "held", weights_only=True))
    assert torch.equal(first.tensors({"x": list(keys)}), torch.eye(len(keys)))
    assert torch.equal(second.tensors({"x": list(keys)}), torch.eye(len(keys)))
    assert saved_key(date(2024, 5, 1)) == "2024-05-01"


def test_one_key_is_one_key() -> None:
    assert str(Keyed(("a",))) == "1 key"
    assert str(Keyed(("a", "b"))) == "2 keys"
