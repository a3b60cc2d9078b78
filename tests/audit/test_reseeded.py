"""Generators that a callable holds do not repeat themselves in several processes."""

import functools
import random

import numpy as np
import pytest

from dither.audit.workers import Crew
from tests.chance import chance

GENERATOR = np.random.default_rng(1)  # allowed: what is audited


class Holder:
    def __init__(self):
        self.inside = {"one": [np.random.RandomState(1)]}  # allowed: likewise

    def draw(self, _x):
        return float(self.inside["one"][0].rand())


def by_global(_x):
    return float(GENERATOR.random())


def by_closure():
    held = random.Random(1)  # allowed: likewise
    return lambda _x: held.random()


def by_default(_x, *, held=np.random.default_rng(2)):  # noqa: B008  # allowed: likewise
    return float(held.random())


def by_partial():
    held = np.random.Generator(np.random.Philox(3))  # allowed: likewise
    return functools.partial(lambda one, _x: float(one.random()), held)


@chance(1e-11)
@pytest.mark.parametrize(
    "f", [by_global, by_closure(), by_default, by_partial(), Holder().draw]
)
def test_no_draw_comes_twice(f):
    with Crew(f, False, [0], 2) as crew:
        found = crew.alone(0, 200)
    assert len(set(found)) == 200


class Refusing:
    @property
    def __dict__(self):
        raise RuntimeError("not to be looked at")

    def draw(self, _x):
        return by_global(_x)


def empty_cell():
    def f(_x):
        return float(GENERATOR.random()) if _x == 0 else later

    if False:
        later = 1
    return f


@pytest.mark.parametrize("f", [Refusing().draw, empty_cell()])
def test_what_cannot_be_looked_at_is_called_all_the_same(f):
    with Crew(f, False, [0], 1) as crew:
        assert all(isinstance(one, float) for one in crew.alone(0, 3))
