"""What all engines have in common, for those who use them."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import pytest

from dither.query.engines.choice import OWN
from dither.query.engines.protocol import Dialect, Engine, Lookup, Session
from dither.query.engines.session import EngineBase, SessionBase


def _methods(kind: type) -> list[str]:
    return [name for name in vars(kind) if not name.startswith("_")]


def _places(function: Any) -> list[Any]:
    """Which arguments there are, and what they are if they are not given."""
    found = list(inspect.signature(function).parameters.values())
    return [one.default for one in found if one.name != "self"]


@pytest.mark.parametrize("name", OWN)
def test_lookups_answer_the_same_questions(name: str) -> None:
    module = import_module(f"dither.query.engines.{name}.lookup")
    for question in _methods(Lookup):
        wanted = getattr(Lookup, question)
        assert _places(getattr(module, question)) == _places(wanted), question


@pytest.mark.parametrize("name", OWN)
def test_engines_are_built_on_one_base(name: str) -> None:
    module = import_module(f"dither.query.engines.{name}.engine")
    engine = getattr(module, OWN[name])
    assert issubclass(engine, EngineBase)
    assert callable(engine.of)
    dialects = import_module(f"dither.query.engines.{name}.dialect")
    (spoken,) = [
        kind
        for kind in vars(dialects).values()
        if inspect.isclass(kind) and issubclass(kind, Dialect) and kind is not Dialect
    ]
    assert spoken.name == name
    assert not inspect.isabstract(spoken)


def test_the_base_does_what_the_protocol_asks_for() -> None:
    assert {"create", "fetch"} == set(_methods(Session)) <= set(vars(SessionBase))
    assert {"session", "close"} == set(_methods(Engine)) - {"dialect"}
    assert {"session", "close"} <= set(vars(EngineBase))
