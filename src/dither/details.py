"""The steps that led to a release, in words, for a report. Each line is public or was
charged (rule R2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

__all__ = ["Details", "mechanism_in_words", "together"]

Making = Callable[[], "Details"]


@dataclass(frozen=True)
class Details:
    """Lines about a release: the mechanism, what was declared and by whom (rule R6),
    and what was done to the noisy numbers afterwards.
    """

    mechanism: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    afterwards: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The lines as plain data."""
        return {name: list(lines) for name, lines in asdict(self).items()}

    @classmethod
    def of(cls, data: Any) -> Self:
        """The lines of plain data that may come from anywhere; what is not a line is
        left out.
        """
        found = data if isinstance(data, Mapping) else {}
        return cls(**{name: _lines(found.get(name)) for name in cls.__annotations__})


def together(first: Making | None, second: Making | None) -> Details:
    """The steps of two releases that are combined into one; each line once."""
    found = [one() for one in (first, second) if one is not None]
    return Details(
        **{
            name: tuple(
                dict.fromkeys(line for one in found for line in getattr(one, name))
            )
            for name in Details.__annotations__
        }
    )


def mechanism_in_words(mechanism: Any) -> str:
    """The kind of noise, how large it is beside what one unit moves, and its promise."""
    scale, moved = (getattr(mechanism, name, None) for name in ("scale", "sensitivity"))
    size = f", {scale / moved:.4g} times what one unit moves" if scale and moved else ""
    return f"{type(mechanism).__name__}{size}; {mechanism.guarantee}"


def _lines(found: Any) -> tuple[str, ...]:
    listed = found if isinstance(found, list | tuple) else ()
    return tuple(one for one in listed if isinstance(one, str))
