"""State that code can reach beside what its objects hold: closures, default arguments,
attributes of classes, and global names.

A model that sees one row at a time may write there for one row and read it for the next.
Code of installed libraries is passed over: what it keeps is not about rows.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from io import IOBase
from types import CodeType, FunctionType, ModuleType
from typing import Any

__all__ = ["is_own", "put_back", "reached", "unrestorable"]

MISSING = object()
KINDS = ("purelib", "platlib", "stdlib", "platstdlib")


@cache
def _installed() -> tuple[str, ...]:
    return tuple(sysconfig.get_path(kind) for kind in KINDS)


def is_own(one: Any) -> bool:
    """Whether a function or a class is of somebody's own, and not of a library."""
    name = getattr(one, "__module__", None) or ""
    if name == "builtins" or name.partition(".")[0] in ("dither", "torch"):
        return False
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is None or not file.startswith(_installed())


def reached(one: Any) -> Iterator[tuple[str, Any]]:
    """All that a function or a class leads to, with names."""
    if isinstance(one, FunctionType):
        yield from _names(one)
        yield from vars(one).items()
        yield from _numbered("default", one.__defaults__ or ())
        yield from (one.__kwdefaults__ or {}).items()
    elif isinstance(one, type):
        yield from _attributes(one).items()
        yield from _numbered("base", filter(is_own, one.__mro__[1:]))


def _numbered(name: str, parts: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    return ((f"{name} {place}", part) for place, part in enumerate(parts))


def put_back(one: Any) -> Callable[[], None]:
    """A function that binds all names of a function or a class as they are now."""
    if isinstance(one, type):
        return _class_put_back(one)
    return _function_put_back(one)


def _class_put_back(one: type) -> Callable[[], None]:
    before = _attributes(one)

    def again() -> None:
        now = _attributes(one)
        for name in now.keys() - before.keys():
            delattr(one, name)
        for name, value in before.items():
            if now.get(name, MISSING) is not value:
                setattr(one, name, value)

    return again


def _function_put_back(one: FunctionType) -> Callable[[], None]:
    cells = [(cell, _content(cell)) for cell in one.__closure__ or ()]
    names = {name: one.__globals__.get(name, MISSING) for name in _words(one.__code__)}
    own, defaults, named = dict(vars(one)), one.__defaults__, one.__kwdefaults__
    held = None if named is None else dict(named)

    def again() -> None:
        for cell, value in cells:
            if value is not MISSING and _content(cell) is not value:
                cell.cell_contents = value
        for name, value in names.items():
            if value is MISSING:
                one.__globals__.pop(name, None)
            elif one.__globals__.get(name, MISSING) is not value:
                one.__globals__[name] = value
        vars(one).clear()
        vars(one).update(own)
        one.__defaults__ = defaults
        one.__kwdefaults__ = held

    return again


def _attributes(one: type) -> dict[str, Any]:
    return {name: value for name, value in vars(one).items() if not _is_special(name)}


def _is_special(name: str) -> bool:
    return name.startswith("__") or name == "_abc_impl"


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is still empty
        return MISSING


def _names(one: FunctionType) -> Iterator[tuple[str, Any]]:
    """Values of closures and of global names, but no modules."""
    code = one.__code__
    for name, cell in zip(code.co_freevars, one.__closure__ or (), strict=True):
        yield name, _content(cell)
    for name in _words(code):
        value = one.__globals__.get(name)
        if value is not None and not isinstance(value, ModuleType):
            yield name, value


def _words(code: CodeType) -> set[str]:
    """Names in a function and in those that are written inside of it."""
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    return set(code.co_names).union(*map(_words, inner))


def unrestorable(one: Any) -> bool:
    """Whether this moves on when it is used, and cannot be put back."""
    if isinstance(one, IOBase):
        return False
    return hasattr(one, "__next__") or isinstance(one, memoryview)
