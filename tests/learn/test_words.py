"""Texts become numbers of declared words, each text by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from torch import Tensor, nn

import dither
from dither import ArgumentError
from dither.learn import Words, preview, train
from dither.learn.columns import Columns, stated, target_of
from dither.learn.records import source_of
from tests.learn.data import owned, run

WORDS = Words(["pain", "Fever", "don't"], 4)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Pain and FEVER!", [2, 1, 3, 0]),
        ("(pain) — “don't”", [2, 4, 0, 0]),
        ("fever " * 9, [3] * 4),
        (b"pain", [2, 0, 0, 0]),
        ("", [0] * 4),
        ("...", [0] * 4),
        (None, [0] * 4),
        (float("nan"), [0] * 4),
        (7, [0] * 4),
        ("7", [0] * 4),
        (1.5, [0] * 4),
        (" 1.50 ", [0] * 4),
        (True, [0] * 4),
        (np.True_, [0] * 4),
        (" TRUE ", [0] * 4),
        (object(), [0] * 4),
        (["pain"], [0] * 4),
    ],
    ids=range(17),
)
def test_words_are_numbers(text: Any, numbers: list[int]) -> None:
    assert WORDS.read([text, "pain"]).tolist() == [numbers, [2, 0, 0, 0]]


def test_words_of_public_texts() -> None:
    assert len(WORDS) == 5
    assert torch.equal(WORDS("pain"), torch.tensor([[2, 0, 0, 0]]))
    assert WORDS(pd.Series(["pain", "fever"])).dtype == torch.int64
    assert WORDS(pl.Series(["pain", None])).shape == (2, 4)
    assert "3 words" in repr(WORDS)


@pytest.mark.parametrize(
    ("vocabulary", "length", "words"),
    [
        ("pain", 4, "must be a list of words"),
        ([], 4, "must be a list of words"),
        ([1], 4, "must be a list of words"),
        (["two words"], 4, "not a single word"),
        (["pain."], 4, "not a single word"),
        ([""], 4, "not a single word"),
        (["pain", "Pain"], 4, "once"),
        (["pain"], 0, "length"),
        (["pain"], 1 << 20, "length"),
    ],
)
def test_bad_vocabularies_are_refused(vocabulary: Any, length: int, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        Words(vocabulary, length)


FRAME = {
    "age": [0.0, 55.0, 110.0, 200.0],
    "sex": ["F", "M", "?", "F"],
    "note": ["pain", "fever", None, "no"],
    "more": ["fever", "", "", ""],
    "ward": ["a", "b", "a", "?"],
}
HOW = {"note": WORDS, "age": (0, 110), "more": Words(["fever"], 2), "sex": ["F", "M"]}


@pytest.mark.parametrize("made", [dict, pd.DataFrame, pl.DataFrame])
def test_numbers_come_first_and_each_column_of_words_after(made: Any) -> None:
    source = source_of(
        made(FRAME), inputs=HOW, target="ward", owner="row", classes=["a", "b"]
    )
    batch = source.read(None)[0].take(np.arange(4, dtype=np.intp))
    numbers, note, more = batch.inputs
    assert numbers[:3].tolist() == [[0, 1, 0], [0.5, 0, 1], [1, 0, 0]]
    assert note[:3].tolist() == [[2, 0, 0, 0], [3, 0, 0, 0], [0] * 4]
    assert more[:3].tolist() == [[2, 0], [0, 0], [0, 0]]
    assert batch.there.tolist() == [True, True, True, False]
    assert source.schema.words == "(3,) of float32 and (4,) of int64 and (2,) of int64"


def test_words_alone_are_one_tensor() -> None:
    source = source_of(FRAME, inputs={"note": WORDS}, target="age", owner="row")
    assert source.schema.inputs.shape == (4,)
    reader = nn.Sequential(nn.Embedding(len(WORDS), 2), nn.Flatten(), nn.Linear(8, 1))
    asked = owned(inputs={"note": WORDS}, target="age", loss=nn.MSELoss(), units=100)
    assert train(reader, FRAME, **asked).value is not None


@pytest.mark.parametrize(
    "how", ["F", {"F", "M"}, (0, 0), (110, 0), (0, float("inf")), 3, ["F", "F"], []]
)
def test_bad_ways_of_reading_are_refused(how: Any) -> None:
    with pytest.raises(ArgumentError, match=r"age|different labels") as caught:
        stated("age", how)
    assert caught.value.argument == "inputs"


ODD_READERS = {
    "numbers": ([1, 0, 1], ["1", "0", "?"], None),
    "booleans": ([True, False, True], ["True", "False", "?"], None),
    "bounds": ([1.5, 0.25, 1], ["1.5", "0.25", "?"], (0, 2)),
    "keys": ([1.5, 0.25, 1.5], ["1.50", "0.25", "?"], [1.5, 0.25]),
    "booleans as keys": ([True, False, True], ["True", "false", "?"], [True, False]),
    "words": ([1.5, 7, 1], ["1.5", "7", "pain"], WORDS),
    "booleans as words": ([True, False, 1], np.array([True, False, 2.0]), WORDS),
    "complex": ([1, 0.5, 1], np.array([1, 0.5, 1j]), None),
    "complex keys": ([1, 0.5, 1], np.array([1, 0.5, 1j]), [1, 0.5]),
}


@pytest.mark.parametrize("kind", ODD_READERS)
def test_a_reader_that_made_texts_of_all_changes_nothing(kind: str) -> None:
    """One odd value in a file makes a column of numbers one of texts."""
    numbers, texts, how = ODD_READERS[kind]
    columns = Columns((stated("a", how),), target_of(None))
    plain, read = (columns.rows([one, [1] * 3]) for one in (numbers, texts))
    assert plain.inputs[:2].tolist() == read.inputs[:2].tolist()
    assert plain.there[:2].all()
    assert read.there[:2].all()


def test_the_type_of_a_frames_column_decides_nothing() -> None:
    """A text among numbers is data, which may come from one odd row: the run is refused
    for neither, and costs the same.
    """
    asked = run(inputs=["a"], target="b", owner="row", units=100, loss=nn.MSELoss())
    frames = [
        {"a": column, "b": [1.0] * 3} for column in ([1.0, 2, 3], ["x", "y", "z"])
    ]
    found = [preview(nn.Linear(1, 1), pd.DataFrame(one), **asked) for one in frames]
    assert found[0] == found[1]
    assert "a as numbers" in str(found[0])
    assert train(nn.Linear(1, 1), pd.DataFrame(frames[1]), **asked).value is not None


class Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(len(WORDS), 3, padding_idx=0)
        self.line = nn.Linear(4, 2)

    def forward(self, numbers: Tensor, words: Tensor) -> Tensor:
        found = torch.cat([numbers, self.words(words).mean(1)], 1)
        return self.line(found)


def opened() -> dither.Dataset:
    count = 60
    frame = pd.DataFrame(
        {
            "id": [f"p{one}" for one in range(count)],
            "age": np.linspace(0, 100, count),
            "note": ["pain", "fever and pain"] * (count // 2),
            "ward": ["A", "B"] * (count // 2),
        }
    )
    return dither.open(
        {"visits": frame},
        unit="id",
        bounds={"visits": {"age": (0, 110)}},
        keys={"visits": {"ward": ["A", "B"]}},
        rows={"visits": 1},
        population=count,
        budget=(30.0, 1e-6),
    )


REFUSED: list[tuple[Any, str]] = [
    (["age", "note"], "note.*Words"),
    ({"age": None, "note": None}, "note.*Words"),
    ({"age": None, "note": (0, 1)}, "not numbers"),
    ({"age": WORDS, "note": WORDS}, "declared to hold reals"),
    ({"age": None, "nothing": WORDS}, "no column"),
]


def test_texts_of_an_opened_dataset() -> None:
    with opened() as visits:
        asked: dict[str, Any] = run(target="ward", batch=20)
        for inputs, words in REFUSED:
            with pytest.raises(ArgumentError, match=words):
                train(Reader(), visits, **asked | {"inputs": inputs})
        spent = dither.PureDP(29.9, unit=visits.unit)
        assert visits.account.affords(spent)  # nothing was spent
        asked["inputs"] = {"age": None, "note": WORDS}
        test = {"age": [50.0], "note": ["pain"], "ward": ["A"]}
        found = train(Reader(), visits, **asked, public=test)
        assert found.history[-1].accuracy in (0.0, 1.0)
        assert "age as numbers from 0–110 to 0–1, note as 4 words of 3" in str(found)
