"""Everything that releases something is audited, or is listed with a reason."""

import pytest

from dither.audit import catalogue, covered
from dither.audit.covered import NOT_AUDITED, missing, public, stale
from dither.audit.sql_catalogue import ONE, OTHERS, QUESTIONS, _opened
from dither.query.plan.vectors import Kind


def test_everything_public_is_audited_or_listed_with_a_reason():
    """If this fails, it names what to add: a case with `covers`, or a line in
    `NOT_AUDITED`.
    """
    assert missing() == []
    assert stale() == []


def test_a_name_that_is_not_audited_is_told(monkeypatch):
    fewer = {
        reason: tuple(name for name in names if name != "mechanisms.Tree")
        for reason, names in NOT_AUDITED.items()
    }
    monkeypatch.setattr(covered, "NOT_AUDITED", fewer)
    monkeypatch.setattr(covered, "listed", catalogue.cases)
    told = missing()
    assert "mechanisms.Tree" in told
    assert "science.trials.mean" in told
    assert "mechanisms.Laplace" not in told


def test_a_reason_for_what_is_audited_or_gone_is_told(monkeypatch):
    more = NOT_AUDITED | {"no reason": ("query.mean", "query.no_such_name")}
    monkeypatch.setattr(covered, "NOT_AUDITED", more)
    assert stale() == ["query.mean", "query.no_such_name"]


def test_nothing_is_listed_twice():
    names = [name for listed in NOT_AUDITED.values() for name in listed]
    assert len(names) == len(set(names))
    assert len(list(public())) > 120


def test_questions_of_every_kind_are_asked():
    """Every kind of vector, private keys, and a radius that is chosen."""
    kinds, keys, chosen = set(), False, False
    with _opened([*OTHERS, *ONE], None) as visits:
        for case in QUESTIONS:
            cost = case.cost if "rho" in case.cost else {"epsilon": 1.0, **case.cost}
            if case.rows is not None:
                continue
            plan = visits.plan(case.sql, **cost)
            kinds |= {one.vector.kind for one in plan.measurements}
            keys |= plan.keys is not None
            chosen |= any(one.radius is None for one in plan.measurements)
    assert kinds == set(Kind)
    assert keys
    assert chosen


@pytest.mark.parametrize("room", ["learn.pate", "science.no_such_room"])
def test_a_room_that_is_not_there_is_passed_over(room, monkeypatch):
    monkeypatch.setattr(covered, "ROOMS", (room, "query"))
    assert "query.mean" in set(public())
