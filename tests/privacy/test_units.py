from __future__ import annotations

import pickle
from typing import Any

import pytest

from dither.errors import ArgumentError, UnitMismatch
from dither.privacy.units import ROW, Relation, Unit, common_unit


def test_a_unit_is_a_name_and_a_relation() -> None:
    assert Unit() == ROW == Unit("row", Relation.ADD_REMOVE)
    assert Unit("patient_id", "replace").relation is Relation.REPLACE  # type: ignore[arg-type]
    assert str(Unit("patient_id")) == "one patient_id (add/remove)"
    assert pickle.loads(pickle.dumps(ROW)) == ROW


def test_replacing_keeps_the_name() -> None:
    assert Unit("edge").replacing() == Unit("edge", Relation.REPLACE)


@pytest.mark.parametrize(
    ("argument", "arguments"),
    [("name", ("",)), ("name", (3,)), ("relation", ("row", "swap"))],
)
def test_bad_units_are_refused(argument: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ArgumentError, match=r"pass|must be") as caught:
        Unit(*arguments)
    assert caught.value.argument == argument


def test_different_units_and_relations_do_not_mix() -> None:
    assert common_unit([ROW, Unit()], "parts") == ROW
    with pytest.raises(UnitMismatch, match=r"\.for_replacement\(\)") as caught:
        common_unit([ROW, ROW.replacing()], "parts")
    assert caught.value.argument == "parts"
    with pytest.raises(UnitMismatch, match=r"each unit separately"):
        common_unit([ROW, Unit("patient_id")], "parts")


FACTS = ("total of each state",)
PEOPLE = Unit("person", Relation.REPLACE, FACTS)


def test_facts_have_one_form() -> None:
    listed = Unit("person", Relation.REPLACE, ["b", "a", "b"])  # type: ignore[arg-type]
    assert listed.given == ("a", "b")
    assert listed == Unit("person", Relation.REPLACE, {"b", "a"})  # type: ignore[arg-type]
    assert str(PEOPLE) == "one person (replace), given the exact total of each state"
    assert pickle.loads(pickle.dumps(PEOPLE)) == PEOPLE
    assert PEOPLE.replacing() == PEOPLE
    assert PEOPLE.with_facts(["all"]).given == ("all", *FACTS)


@pytest.mark.parametrize(
    "given",
    [
        *("one text", None, 3, [3], [""], [" a"], ["a\nb"], ["a" * 101], [b"a"]),
        *(["\ud800"], ["a\u202eb"], ["\0"], [f"{i}" for i in range(21)]),
        (str(i) for i in iter(int, 1)),  # without an end
    ],
    ids=lambda one: repr(one)[:20],
)
def test_odd_facts_are_refused(given: Any) -> None:
    with pytest.raises(ArgumentError, match=r"at most 20 strings") as caught:
        Unit("person", Relation.REPLACE, given)
    assert caught.value.argument == "given"


def test_facts_need_neighbours_that_replace() -> None:
    with pytest.raises(ArgumentError, match=r'pass Unit\("person", "replace", given'):
        Unit("person", Relation.ADD_REMOVE, FACTS)
    with pytest.raises(ArgumentError, match=r"one unit more or less"):
        Unit("person").with_facts(FACTS)


def test_a_promise_holds_given_more_facts_and_never_fewer() -> None:
    bare, more = Unit("person", Relation.REPLACE), PEOPLE.with_facts(["all"])
    ordered = [Unit("person"), bare, PEOPLE, more]
    for i, unit in enumerate(ordered):
        for j, other in enumerate(ordered):
            assert unit.follows_from(other) == (i >= j)
    assert not Unit("patient", Relation.REPLACE).follows_from(bare)
    assert not more.follows_from(bare.with_facts(["another"]))


def test_different_facts_do_not_mix() -> None:
    with pytest.raises(UnitMismatch, match=r"given the exact .*\.for_facts\("):
        common_unit([PEOPLE, Unit("person", Relation.REPLACE)], "parts")
    with pytest.raises(UnitMismatch, match=r"\(add/remove\) .*for_replacement"):
        common_unit([PEOPLE, Unit("person")], "parts")
