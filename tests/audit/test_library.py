"""The whole catalogue: who shares the alarm rate, in which order, and what is left out."""

import os
import sys

import pytest

from dither.audit import everything, library
from dither.audit.case import Case
from dither.audit.finding import Finding
from dither.audit.learn_catalogue import FAR, PEOPLE
from dither.audit.science_catalogue import Asked, science
from dither.errors import ArgumentError, MissingExtra
from dither.privacy import PureDP
from tests.chance import chance

ALL = library.listed()
FEW = ("science.graphs.edges", "science.census.ranges", "learn.GaussianNB")
SLOW = ("learn.hospitals", "learn.federated")
"""What takes ten milliseconds or more for a draw."""


def test_names_differ():
    assert len({case.name for case in ALL}) == len(ALL) > 100


@pytest.fixture
def asked(monkeypatch):
    """What every case is asked, instead of an audit."""
    found = []

    def audit(self, draws, confidence):
        found.append((draws, confidence))
        return Finding(
            *(False, PureDP(1.0), "ε", 0.0, 0.0, self.name, os.getpid(), 0, draws),
            1 - confidence,
        )

    monkeypatch.setattr(Case, "audit", audit)
    monkeypatch.setattr("dither.audit.sql_catalogue.SqlCase.audit", audit)
    return found


def test_the_alarm_rate_is_shared(asked):
    told = []
    found = list(everything(5000, 0.99, lambda *now: told.append(now)))
    assert len(found) == len(asked) == len(ALL)
    assert all(draws == 5000 for draws, _ in asked)
    assert sum(1 - confidence for _, confidence in asked) == pytest.approx(0.01)
    assert told == [(n + 1, len(found)) for n in range(len(found))]


def test_those_that_are_picked_share_it_alone(asked):
    found = list(everything(5000, 0.99, only="Science.Trials"))
    assert 15 < len(found) < 30
    assert all(name.startswith("science.trials.") for name, _ in found)
    assert sum(1 - confidence for _, confidence in asked) == pytest.approx(0.01)


@pytest.mark.usefixtures("asked")
def test_workers_audit_at_once_and_answer_in_order():
    found = list(everything(5000, 0.99, only="science", workers=2))
    assert [name for name, _ in found] == [
        case.name for case in ALL if "science" in case.name
    ]
    assert all(one.event == name for name, one in found)
    assert os.getpid() not in {one.right for _, one in found}


def test_a_room_that_is_not_installed_is_left_out_and_told(monkeypatch):
    def absent():
        raise MissingExtra("torch", "learn")

    monkeypatch.setitem(library.ROOMS, "learn", absent)
    assert library.left_out() == ["learn"]
    assert not any(case.name.startswith("learn.") for case in library.listed())


def test_science_is_left_out_where_scipy_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert "science" in library.left_out()


def test_bad_questions_are_refused():
    with pytest.raises(ArgumentError, match="draws"):
        next(everything(0))
    with pytest.raises(ArgumentError, match="confidence"):
        next(everything(confidence=2))
    with pytest.raises(ArgumentError, match="no name contains 'nobody'"):
        next(everything(only="nobody"))


@chance(1e-9)
@pytest.mark.parametrize("name", FEW)
def test_releases_keep_their_promise(name):
    (case,) = [case for case in ALL if case.name == name]
    found = case.audit(50_000, 1 - 1e-9)
    assert not found.refuted, found


@chance(1e-9)
@pytest.mark.full
@pytest.mark.parametrize(
    "case",
    [case for case in ALL if case.name.startswith(("science", "learn"))],
    ids=lambda case: case.name,
)
def test_every_release_keeps_its_promise(case):
    draws = 2500 if case.name.startswith(SLOW) else 7500
    found = case.audit(draws, 1 - 1e-9)
    assert not found.refuted, found


def broken(covers):
    """A release at four times the cost that it states."""
    (one,) = [one for one in science() if one.covers == covers and not one.words]

    def ask(data):
        return one.ask.func(data, **one.ask.keywords | {"epsilon": 4.0})

    return Asked(covers, ask, one.a, one.b, one.shown, claimed=PureDP(1.0)).case


@chance(1e-9)
@pytest.mark.parametrize("name", ["science.graphs.edges", "science.graphs.mixing"])
def test_a_release_with_too_little_noise_is_found(name):
    found = broken(name).audit(50_000, 1 - 1e-9)
    assert found.refuted, found


def test_neighbours_of_training_differ_in_one_row():
    assert [len(one) + 1 for one in PEOPLE] == [len(one) for one in FAR]
    assert all((far[:-1] == few).all() for few, far in zip(PEOPLE, FAR, strict=True))
