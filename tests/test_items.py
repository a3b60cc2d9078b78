"""Records that raise, in whatever way, are missing, and change nothing about others."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import dither
from dither.ids import codes_of
from dither.items import items_of
from dither.mechanisms.values import exact, place_of
from dither.science.census.labels import canonical
from dither.science.genomes.counts import _number
from dither.science.graphs.reading import _pair
from dither.science.maps.reading import _two
from dither.science.synth.values import day_of, label_of, number_of, text_of
from dither.science.trials.blocks import _pvalue
from dither.science.trials.columns import number

FAR = 2**31 - 1
"""Days since 1970: Arrow holds such a date, and Python does not."""


class Panic(BaseException):
    """As libraries in Rust raise it: no `Exception`."""


def panics(*_: object) -> None:
    raise Panic


class Odd(bytes):
    """A record whose class raises whenever it is asked."""

    __iter__ = __float__ = __hash__ = __eq__ = decode = strip = panics  # type: ignore[assignment]
    __str__ = __repr__ = __len__ = __contains__ = panics  # type: ignore[assignment]


def days(last: int) -> pa.Array:
    return pa.array([19_000] * 9 + [last], pa.int32()).cast(pa.date32())


def test_a_record_that_python_cannot_hold_is_missing() -> None:
    assert items_of(days(FAR))[-1] is None
    assert items_of(days(FAR))[:-1] == items_of(days(19_000))[:-1]
    assert codes_of(days(FAR)).tolist() == codes_of(days(19_000)).tolist()


@pytest.mark.parametrize("last", [19_000, FAR])
def test_arrays_answer_whatever_a_record_is(last: int) -> None:
    column = days(last)
    assert 0 <= dither.count(column, epsilon=50).value <= 20
    assert dither.histogram(column, keys=["a"], epsilon=50).value[0] >= 0


def test_text_that_is_no_text_is_missing() -> None:
    ends = pa.py_buffer(np.array([0, 1, 2], np.int32).tobytes())
    column = pa.Array.from_buffers(pa.string(), 2, [None, ends, pa.py_buffer(b"a\xff")])
    assert list(items_of(column)) == ["a", None]
    assert dither.histogram(column, keys=["a"], epsilon=50).value[0] >= 0


@pytest.mark.parametrize(
    "read",
    [
        *(exact, number, number_of, label_of, text_of, day_of),
        *(canonical, _number, _pair, _two),
        lambda item: place_of(item, {"a": 0}),
        lambda item: codes_of([item, "a"]),
        lambda item: _pvalue(panics, [np.zeros(2), np.ones(2)]),
    ],
)
def test_no_record_ends_a_question(read: object) -> None:
    assert callable(read)
    read(Odd(b"7"))
