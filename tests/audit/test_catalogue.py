"""Everything that has a guarantee is in the catalogue, and keeps it."""

import inspect

import pytest

from dither import mechanisms
from dither.audit import catalogue, everything
from dither.audit.devices import oracles
from dither.audit.finding import Finding
from dither.audit.sql_catalogue import QUESTIONS
from dither.errors import ArgumentError
from dither.local.oracles import Sampled
from dither.local.registry import ORACLES
from dither.privacy import PureDP

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


def test_names_differ():
    assert len({case.name for case in (*CASES, *QUESTIONS)}) == len(CASES) + len(
        QUESTIONS
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_keeps_its_promise(case):
    found = case.audit(10_000, 1 - 1e-9)
    assert not found.refuted, found


@pytest.mark.full
@pytest.mark.parametrize("case", [*CASES, *QUESTIONS], ids=lambda case: case.name)
def test_it_keeps_its_promise_in_many_draws(case):
    found = case.audit(15_000 if hasattr(case, "seldom") else 150_000, 1 - 1e-9)
    assert not found.refuted, found


def test_the_alarm_rate_is_shared(monkeypatch):
    told, asked = [], []

    def audit(self, draws, confidence):
        asked.append((draws, confidence))
        return Finding(
            False, PureDP(1.0), "ε", 0.0, 0.0, self.name, 0, 0, draws, 1 - confidence
        )

    monkeypatch.setattr(catalogue.Case, "audit", audit)
    monkeypatch.setattr("dither.audit.sql_catalogue.SqlCase.audit", audit)
    found = list(everything(5000, 0.99, lambda *now: told.append(now)))
    assert len(found) == len(asked) == len(CASES) + len(QUESTIONS)
    assert all(draws == 5000 for draws, _ in asked)
    assert sum(1 - confidence for _, confidence in asked) == pytest.approx(0.01)
    assert told[-1] == (len(found), len(found))


def test_bad_numbers_are_refused():
    with pytest.raises(ArgumentError, match="draws"):
        next(everything(0))
    with pytest.raises(ArgumentError, match="confidence"):
        next(everything(confidence=2))
