"""Models of several arguments: tuples of tensors, and dicts by the model's names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from dither import ArgumentError, Budget, PureDP
from dither.learn import preview, train
from dither.learn.loop import Loop
from dither.learn.made_up import made_up
from dither.learn.preparing import differentiating, prepared
from dither.learn.rows import units_of
from dither.learn.settings import Settings
from tests.chance import chance
from tests.learn.data import UNITS, Listed, owned, records, run

WORDS = torch.arange(UNITS * 5).view(UNITS, 5) % 7


class Reader(nn.Module):
    """Reads numbers and words."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(7, 3)
        self.line = nn.Linear(7, 3)

    def forward(self, numbers: Tensor, words: Tensor) -> Tensor:
        found = torch.cat([numbers, self.words(words).mean(1)], 1)
        return self.line(found)


NUMBERS, LABELS = records()
PAIRS = list(zip(NUMBERS, WORDS, strict=True))
NAMED = [{"words": two, "numbers": one} for one, two in PAIRS]
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "a tuple": (((NUMBERS, WORDS), LABELS), {}),
    "arrays": (([NUMBERS.numpy(), WORDS.numpy()], LABELS.numpy()), {}),
    "names": (({"words": WORDS, "numbers": NUMBERS}, LABELS), {}),
    "a TensorDataset": (TensorDataset(NUMBERS, WORDS, LABELS), {}),
    "rows of pairs": (
        Listed(list(zip(PAIRS, LABELS.tolist(), strict=True))),
        {"example": ((torch.zeros(4), torch.zeros(5, dtype=torch.int64)), 0)},
    ),
    "rows of names": (
        Listed(list(zip(NAMED, LABELS.tolist(), strict=True))),
        {
            "example": (
                {"numbers": torch.zeros(4), "words": torch.zeros(5, dtype=torch.int64)},
                0,
            )
        },
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_is_that_of_one_row_at_a_time(kind: str) -> None:
    data, more = KINDS[kind]
    torch.manual_seed(5)  # allowed: starting weights are public
    mine = Reader()
    asked = owned(noise=1e-9, batch=UNITS, epochs=1, lr=1.0, clip=0.1, **more)
    made = prepared(mine, data, Settings(**asked))
    assert made.probed.route == "one backward pass"
    units = units_of(*made.source.read(None), 1)
    with differentiating(made.model):
        Loop(made, units).step(1e-9)
    total = torch.zeros(sum(one.numel() for one in mine.parameters()))
    for row in range(UNITS):
        loss = asked["loss"](mine(NUMBERS[row][None], WORDS[row][None]), LABELS[[row]])
        each = torch.autograd.grad(loss, list(mine.parameters()))
        gradient = torch.cat([one.flatten() for one in each])
        total += gradient * min(1.0, 0.1 / float(gradient.norm())) / UNITS
    before, after = (
        torch.cat([one.detach().flatten() for one in model.parameters()])
        for model in (mine, made.model)
    )
    assert torch.allclose(before - after, total, atol=1e-6)


def test_public_data_has_the_same_inputs() -> None:
    data = ((NUMBERS, WORDS), LABELS)
    found = train(Reader(), data, **owned(public=data))
    assert found.history[-1].accuracy is not None
    with pytest.raises(ArgumentError, match="public"):
        preview(Reader(), data, **owned(public=(NUMBERS, LABELS)))


def test_made_up_inputs_are_not_alike() -> None:
    data = ((NUMBERS, NUMBERS), LABELS)
    schema = prepared(Differing(), data, Settings(**owned())).source.schema
    one, two = made_up(schema, 3, Differing())
    assert not torch.equal(one, two)


class Differing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(4, 3)

    def forward(self, one: Tensor, two: Tensor) -> Tensor:
        return self.line(one - two)


class Mixing(Reader):
    """Mixes one of its inputs only."""

    def __init__(self, second: bool) -> None:
        super().__init__()
        self.second = second

    def forward(self, numbers: Tensor, words: Tensor) -> Tensor:
        if self.second:
            return super().forward(numbers, words.roll(1, 0))
        return super().forward(numbers + 1e-4 * numbers.mean(0), words)


@pytest.mark.parametrize("second", [False, True])
def test_a_model_that_mixes_one_of_its_inputs_is_refused(second: bool) -> None:
    with pytest.raises(ArgumentError, match="mixes the rows"):
        preview(Mixing(second), ((NUMBERS, WORDS), LABELS), **owned())


def test_odd_rows_do_not_count() -> None:
    example = KINDS["rows of names"][1]["example"]
    odd: list[Any] = [
        ({"numbers": torch.zeros(4)}, 0),
        ({**NAMED[0], "more": torch.zeros(1)}, 0),
        (NAMED[0]["numbers"], 0),
        ({**NAMED[0], "numbers": torch.full((4,), float("nan"))}, 0),
        ({**NAMED[0], "words": torch.zeros(5)}, 0),
        ({1: torch.zeros(4), "words": WORDS[0]}, 0),
        None,
    ]
    data = Listed([*odd, (NAMED[0], 1)])
    made = prepared(Reader(), data, Settings(**owned(example=example)))
    batch = made.source.read(None)[0].take(np.arange(len(data), dtype=np.intp))
    assert batch.there.tolist() == [*[False] * len(odd), True]
    # Whatever the order of its names is.
    assert list(NAMED[0]) != list(example[0])
    assert torch.equal(batch.inputs["numbers"][-1], NAMED[0]["numbers"])


def test_a_row_is_as_long_as_its_shortest_part() -> None:
    inputs = NUMBERS.clone()
    inputs[3, 2] = float("nan")
    made = prepared(Reader(), ((inputs, WORDS[:50]), LABELS), Settings(**owned()))
    rows = made.source.read(None)[0]
    assert len(rows) == 50
    there = rows.take(np.arange(50, dtype=np.intp)).there
    assert there.sum() == 49
    assert not there[3]


NO_NUMBERS: list[Any] = [
    np.array([[1, None]] * UNITS, dtype=object),
    np.array([["a", "b"]] * UNITS),
    np.ma.MaskedArray(NUMBERS.numpy()),
    [[1.0, 2.0]] * UNITS,
    {"numbers": np.array([[None]] * UNITS)},
    {1: NUMBERS},
    {},
    (),
    torch.zeros(UNITS, 4, dtype=torch.complex64),
]


@pytest.mark.parametrize("inputs", NO_NUMBERS, ids=range(len(NO_NUMBERS)))
def test_what_is_no_tensor_by_its_type_is_refused(inputs: Any) -> None:
    """Whatever its values are: nothing is charged."""
    budget = Budget(20.0, 1e-6)
    for asked in (train, preview):
        with pytest.raises(ArgumentError, match="inputs") as caught:
            asked(nn.Linear(4, 3), (inputs, LABELS), **owned(budget=budget))
        assert caught.value.argument == "data"
    assert budget.affords(PureDP(19.9))


def test_targets_of_objects_are_refused() -> None:
    for value in (0, None, "a"):
        targets = np.array([value] * UNITS, dtype=object)
        with pytest.raises(
            ArgumentError, match=r"targets must have a numeric type.*object array"
        ):
            preview(nn.Linear(4, 3), (NUMBERS, targets), **owned())


def fixed(patch: pytest.MonkeyPatch) -> None:
    """One key for all choices: for tests alone."""
    patch.setattr("dither.learn.rows.secret_bytes", bytes)


def kept(owners: list[Any], mine: Any) -> list[int]:
    """Which of its own rows a unit keeps."""
    inputs = torch.arange(len(owners), dtype=torch.float32)[:, None]
    asked = run(owner=owners, units=2, rows=3, batch=1, loss=nn.MSELoss())
    made = prepared(nn.Linear(1, 1), (inputs, inputs), Settings(**asked))
    units = units_of(*made.source.read(None), 3)
    own = [row for row, one in enumerate(owners) if one == mine]
    for number in range(len(units)):
        batch = units.take(np.array([number]), 1)
        rows = batch.inputs[batch.there, 0].long().tolist()
        if set(rows) <= set(own):
            assert len(rows) == min(len(own), 3)
            return sorted(own.index(row) for row in rows)
    raise AssertionError("the unit is not there")


def test_which_rows_count_depends_on_the_unit_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fixed(monkeypatch)
    alone = kept(["me"] * 9, "me")
    assert kept([*["other"] * 40, *["me"] * 9], "me") == alone
    assert kept(["a", "me", "b"] * 9, "me") == alone
    assert kept([7, *["me"] * 9, None, *["zz"] * 20], "me") == alone


def test_units_choose_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    fixed(monkeypatch)
    assert len({tuple(kept([name] * 9, name)) for name in "abcdefgh"}) > 4


@chance(1e-9)
def test_keys_are_fresh() -> None:
    assert len({tuple(kept(["me"] * 9, "me")) for _ in range(12)}) > 4


@chance(1e-9)
def test_each_row_is_as_likely_to_count() -> None:
    owners = [one for one in range(2000) for _ in range(4)]
    inputs = torch.zeros(8000, 1)
    asked = run(owner=owners, units=2000, rows=1, batch=1, loss=nn.MSELoss())
    made = prepared(nn.Linear(1, 1), (inputs, inputs), Settings(**asked))
    units = units_of(*made.source.read(None), 1)
    places = units.order[units.begin[:-1]] % 4
    counts = np.bincount(places, minlength=4)
    assert abs(counts - 500).max() < 6.5 * np.sqrt(2000 * 0.25 * 0.75)
