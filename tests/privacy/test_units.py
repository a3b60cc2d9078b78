from __future__ import annotations

import pickle
from typing import Any

import pytest

from dither.errors import ArgumentError, UnitMismatch
from dither.privacy.units import ROW, Relation, Unit, common_unit


def test_a_unit_is_a_name_and_a_relation() -> None:
    assert Unit() == ROW == Unit("row", Relation.ADD_REMOVE)
    assert Unit("patient_id", "replace").relation is Relation.REPLACE  # type: ignore[arg-type]
    assert str(Unit("patient_id")) == "one patient_id, add/remove"
    assert pickle.loads(pickle.dumps(ROW)) == ROW


def test_replacing_keeps_the_name() -> None:
    assert Unit("edge").replacing() == Unit("edge", Relation.REPLACE)


@pytest.mark.parametrize(
    ("argument", "arguments"),
    [("name", ("",)), ("name", (3,)), ("relation", ("row", "swap"))],
)
def test_bad_units_are_refused(argument: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ArgumentError, match=r"pass") as caught:
        Unit(*arguments)
    assert caught.value.argument == argument


def test_different_units_and_relations_do_not_mix() -> None:
    assert common_unit([ROW, Unit()], "parts") == ROW
    with pytest.raises(UnitMismatch, match=r"^parts: .*\.for_replacement\(\)"):
        common_unit([ROW, ROW.replacing()], "parts")
    with pytest.raises(UnitMismatch, match=r"each unit on its own account"):
        common_unit([ROW, Unit("patient_id")], "parts")
