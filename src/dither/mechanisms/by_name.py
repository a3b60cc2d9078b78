"""Functions whose numbers are passed by name say so when they are called otherwise."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar

from dither.errors import ArgumentError

__all__ = ["by_name"]

Given = ParamSpec("Given")
Found = TypeVar("Found")


def by_name(example: str) -> Callable[[Callable[Given, Found]], Callable[Given, Found]]:
    """Replace Python's count of arguments by an example. What was passed is not shown:
    it may be private (rule R1).
    """

    def decorate(function: Callable[Given, Found]) -> Callable[Given, Found]:
        @functools.wraps(function)
        def called(*args: Given.args, **named: Given.kwargs) -> Found:
            try:
                return function(*args, **named)
            except TypeError:
                if _fits(function, args, named):
                    raise
            raise ArgumentError(
                function.__name__, f"{_problem(function, named)}; write {example}"
            )

        return called

    return decorate


def _problem(function: Callable[..., Any], named: dict[str, Any]) -> str:
    known = list(inspect.signature(function).parameters)
    for name in named:
        if name not in known:
            near = get_close_matches(name, known, 1)
            way = (
                f"did you mean {near[0]}"
                if near
                else f"there are {', '.join(known[1:])}"
            )
            return f"has no argument {name:.40}; {way}"
    return "takes one argument by its place and the others by their names"


def _fits(
    function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]
) -> bool:
    try:
        inspect.signature(function).bind(*args, **named)
    except TypeError:
        return False
    return True
