"""Parts that other packages add, found by their entry points: `dither.engines` and
`dither.mechanisms`.

An engine is a function of a catalogue and its sources that returns an
`engines.protocol.Engine`. A mechanism is a class of `mechanisms.Additive` with pure ε,
made from `sensitivity`, `epsilon` and `unit`; its author answers for its promise.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

from dither.errors import ArgumentError
from dither.mechanisms import Additive, Geometric, Laplace

__all__ = ["engine_named", "mechanism_named"]

MECHANISMS: dict[str, Callable[..., Additive]] = {
    "laplace": Laplace,
    "geometric": Geometric,
}


def engine_named(name: str, own: list[str]) -> Callable[..., Any]:
    """The maker of an engine that a package brings; `own` are the names of those that
    need none.
    """
    maker: Callable[..., Any] = _named("engines", "engine", name, own)
    return maker


def mechanism_named(name: str) -> Callable[..., Additive]:
    """The mechanism of that name: our own, or one that a package brings."""
    if name in MECHANISMS:
        return MECHANISMS[name]
    made = _named("mechanisms", "mechanism", name, list(MECHANISMS))
    if not (isinstance(made, type) and issubclass(made, Additive)):
        raise ArgumentError(
            "mechanism",
            f"{name!r} is not a subclass of dither.mechanisms.Additive; report this to "
            "its author",
        )
    return made


def _named(group: str, argument: str, name: str, own: list[str]) -> Any:
    found = {point.name: point for point in entry_points(group=f"dither.{group}")}
    if name not in found:
        known = ", ".join(map(repr, sorted({*own, *found})))
        raise ArgumentError(
            argument, f"there is no {argument} {name!r}; use one of {known}"
        )
    return found[name].load()
