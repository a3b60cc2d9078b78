"""Everything that has a guarantee is in the catalogue, and keeps it."""

import inspect

import pytest

from dither import mechanisms
from dither.audit import catalogue
from dither.audit.devices import oracles
from dither.audit.sql_catalogue import QUESTIONS
from dither.local.oracles import Sampled
from dither.local.registry import ORACLES
from tests.chance import chance

CASES = catalogue.cases()


def test_every_mechanism_is_in_the_catalogue():
    promising = {
        name
        for name, one in inspect.getmembers(mechanisms, inspect.isclass)
        if hasattr(one, "guarantee") and not inspect.isabstract(one)
    }
    listed = " ".join(case.name for case in CASES)
    assert {
        name for name in promising if name.removesuffix("Mechanism") not in listed
    } == set()


def test_every_oracle_is_in_the_catalogue():
    kinds = {*ORACLES.values(), Sampled}
    assert {type(oracle) for _, oracle in oracles()} == kinds


@chance(1e-9)
@pytest.mark.parametrize("case", CASES[::2], ids=lambda case: case.name)
def test_it_keeps_its_promise(case):
    """Every other one, so that each kind is there; the full run takes the others."""
    found = case.audit(10_000, 1 - 1e-9)
    assert not found.refuted, found


@chance(1e-9)
@pytest.mark.full
@pytest.mark.parametrize("case", [*CASES[1::2], *QUESTIONS], ids=lambda case: case.name)
def test_it_keeps_its_promise_in_many_draws(case):
    found = case.audit(15_000 if hasattr(case, "seldom") else 150_000, 1 - 1e-9)
    assert not found.refuted, found
