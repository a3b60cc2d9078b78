"""Functions that take numbers by name explain a call that passes them otherwise.

Functions that share keywords declare them once, as a TypedDict, and take them as
`**cost: Unpack[…]`: type checkers read that, and `help` shows each keyword by itself.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar

from dither.errors import ArgumentError

__all__ = ["by_name", "constructed", "keywords"]

Given = ParamSpec("Given")
Found = TypeVar("Found")
Class = TypeVar("Class", bound=type)


def keywords(
    shared: type[Mapping[str, object]],
) -> Callable[[Callable[Given, Found]], Callable[Given, Found]]:
    """Show the keywords of a TypedDict where the function takes `**cost`."""

    def decorate(function: Callable[Given, Found]) -> Callable[Given, Found]:
        _show(function, function, shared)
        return function

    return decorate


def by_name(
    example: str, shared: type[Mapping[str, object]] | None = None
) -> Callable[[Callable[Given, Found]], Callable[Given, Found]]:
    """Replace Python's count of arguments by an example. What was passed is not shown:
    it may be private (rule R1).

    `shared` is the TypedDict of the keywords that the function takes as `**cost`.
    """

    def decorate(function: Callable[Given, Found]) -> Callable[Given, Found]:
        @functools.wraps(function)
        def called(*args: Given.args, **named: Given.kwargs) -> Found:
            try:
                return function(*args, **named)
            except TypeError:
                if _fits(called, args, named):
                    raise
            words = f"{_problem(called, args, named)}; write {example}"
            raise ArgumentError(function.__name__, words)

        _show(called, function, shared)
        return called

    return decorate


def constructed(example: str) -> Callable[[Class], Class]:
    """Replace Python's count of arguments by an example for the constructor of a class,
    which is named as the caller wrote it.
    """

    def decorate(made: Class) -> Class:
        first: Callable[..., None] = made.__init__  # type: ignore[misc]

        @functools.wraps(first)
        def called(self: Any, /, *args: Any, **named: Any) -> None:
            try:
                first(self, *args, **named)
            except TypeError:
                if _fits(first, (self, *args), named):
                    raise
            else:
                return
            words = f"{_problem(first, (self, *args), named)}; write {example}"
            raise ArgumentError(type(self).__name__, words)

        made.__init__ = called  # type: ignore[misc]
        return made

    return decorate


def _show(
    function: Callable[..., Any],
    written: Callable[..., Any],
    shared: type[Mapping[str, object]] | None,
) -> None:
    """Give a function the signature that it has with its shared keywords spelled out.

    It is computed once: looking at a signature takes longer than many a call.
    """
    plain = inspect.signature(written)
    listed = [
        one
        for one in plain.parameters.values()
        if one.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    for name, kind in (shared.__annotations__ if shared else {}).items():
        text = getattr(kind, "__forward_arg__", kind)
        listed.append(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=text
            )
        )
    function.__signature__ = plain.replace(parameters=listed)  # type: ignore[attr-defined]


def _problem(
    function: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]
) -> str:
    known = [one for one in inspect.signature(function).parameters if one != "self"]
    for name in named:
        if name not in known:
            near = get_close_matches(name, known, 1)
            listed = f"it takes {', '.join(known[1:])}"
            hint = f"did you mean {near[0]!r}?" if near else listed
            return f"has no argument {name[:40]!r} ({hint})"
    missing = _missing(function, args, named)
    if missing:
        return f"was called without {' and '.join(missing)}"
    shown = [inspect.signature(function).parameters[name] for name in known]
    places = [one.name for one in shown if one.kind is one.POSITIONAL_OR_KEYWORD]
    if not places:
        return "takes its arguments by name"
    if len(places) > 1:
        return f"takes {' and '.join(places)} by position and the others by name"
    return "takes one argument by position and the others by name"


def _missing(
    function: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]
) -> list[str]:
    """Parameters without a default that were not passed; nothing if too many arguments
    were passed.
    """
    signature = inspect.signature(function)
    try:
        given = signature.bind_partial(*args, **named).arguments
    except TypeError:
        return []
    return [
        name
        for name, one in signature.parameters.items()
        if one.default is one.empty and name not in given
    ]


def _fits(
    function: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]
) -> bool:
    try:
        inspect.signature(function).bind(*args, **named)
    except TypeError:
        return False
    return True
