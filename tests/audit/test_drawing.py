"""Calls for many draws and for one, and what they raise."""

import pytest

from dither.audit.drawing import Caller, CallRaised, Side, takes_size
from dither.audit.outcomes import Encoder, Raised
from dither.errors import ArgumentError


@pytest.mark.parametrize(
    ("f", "many"),
    [
        (lambda x: x, False),
        (lambda x, size: x, True),
        (lambda x, count: x, True),
        (lambda x, scale=1.0: x, False),
        (lambda x, *, size=1: x, True),
        (dict.fromkeys, False),
    ],
)
def test_arguments_say_whether_many_are_drawn_at_once(f, many):
    assert takes_size(f) is many


def caller(f, together=True, progress=None):
    return Caller(f, True, together, 100, progress)


def test_a_call_for_many_that_raises_says_so():
    def f(x, size):
        if size > 1:
            raise KeyError(x)
        return [x]

    with pytest.raises(CallRaised):
        next(caller(f).draws(3, 4))
    assert list(caller(f, together=False).draws(3, 4)) == [[3, 3, 3, 3]]
    assert not caller(f).raises(3, 4)


def test_what_a_call_for_one_raises_is_an_output():
    def f(x, size):  # noqa: ARG001
        raise KeyError(x)

    assert caller(f).alone("here", 2) == [Raised("KeyError", "'here'")] * 2
    assert caller(f).raises(3, 1)


@pytest.mark.parametrize("wrong", [[1, 2, 3], 7, [[1]] * 5])
def test_other_shapes_are_refused(wrong):
    with pytest.raises(ArgumentError, match="vectorized=False"):
        list(caller(lambda x, size: wrong).draws(0, 4))


def test_progress_and_steps(monkeypatch):
    monkeypatch.setattr("dither.audit.drawing.AT_ONCE", 30)
    told = []
    side = Side(
        caller(lambda x, size: [x] * size, progress=lambda *now: told.append(now)),
        Encoder(),
        1,
        100,
    )
    assert len(side.take(40)) == 40
    assert sum(map(len, side.rest())) == 60
    assert told == [(30, 100), (60, 100), (90, 100), (100, 100)]


def test_a_single_output_of_a_call_for_one():
    found = caller(lambda x, size: x if size == 1 else [x] * size).alone(5, 3)
    assert found == [5, 5, 5]


def test_draws_are_not_looked_at_before_it_is_settled():
    encoder = Encoder()
    side = Side(caller(lambda x, size: [0] * 40 + [0.5] * (size - 40)), encoder, 1, 100)
    assert side.take(40).numbers.all()
    encoder.settled = True
    (rest,) = side.rest()
    assert not rest.numbers.any()
    assert not encoder.real


def test_wide_outputs_are_drawn_in_smaller_steps(monkeypatch):
    monkeypatch.setattr("dither.audit.drawing.NUMBERS", 100)
    sizes = []
    list(
        caller(lambda x, size: sizes.append(size) or [x] * size).draws(0, 25, width=10)
    )
    assert sizes == [10, 10, 5]
