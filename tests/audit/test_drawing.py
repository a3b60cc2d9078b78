"""Calls for many draws and for one, and what they raise."""

import pytest

from dither.audit.drawing import Caller, Side, takes_size
from dither.audit.outcomes import Encoder
from dither.errors import ArgumentError


@pytest.mark.parametrize(
    ("f", "many"),
    [
        (lambda x: x, False),
        (lambda x, size: x, True),  # noqa: ARG005
        (lambda x, count: x, True),  # noqa: ARG005
        (lambda x, scale=1.0: x, False),  # noqa: ARG005
        (lambda x, *, size=1: x, True),  # noqa: ARG005
        (dict.fromkeys, False),
    ],
)
def test_arguments_say_whether_many_are_drawn_at_once(f, many):
    assert takes_size(f) is many


def caller(f, vectorized=True, progress=None):
    return Caller(f, vectorized, Encoder(), 100, progress)


def test_a_call_that_raises_is_repeated_draw_by_draw():
    calls = []

    def f(x, size):
        calls.append(size)
        if size > 1 or len(calls) % 2:
            raise KeyError(x)
        return [x]

    (found,) = caller(f).draws(3, 4)
    assert calls == [4, 1, 1, 1, 1]
    assert sorted(found.numbers.tolist()) == [False, False, True, True]


@pytest.mark.parametrize("wrong", [[1, 2, 3], 7, [[1]] * 5])
def test_other_shapes_are_refused(wrong):
    with pytest.raises(ArgumentError, match="vectorized=False"):
        list(caller(lambda x, size: wrong).draws(0, 4))  # noqa: ARG005


def test_progress_and_steps(monkeypatch):
    monkeypatch.setattr("dither.audit.drawing.AT_ONCE", 30)
    told = []
    side = Side(caller(lambda x, size: [x] * size, progress=lambda *now: told.append(now)), 1, 100)
    assert len(side.take(40)) == 40
    assert sum(map(len, side.rest())) == 60
    assert told == [(30, 100), (60, 100), (90, 100), (100, 100)]


def test_a_single_output_of_a_call_for_one():
    found = caller(lambda x, size: x if size == 1 else [x] * size).alone(5, 3)
    assert found.values[:, 0].tolist() == [5, 5, 5]
    assert found.alone.all()
