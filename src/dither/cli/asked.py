"""Options for the question of a task: a list of values, numbers, several attributes, or
words.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dither.errors import ArgumentError

if TYPE_CHECKING:
    from dither.local import Task

__all__ = ["asked", "asked_options", "domain_of", "domain_option", "lines", "values_of"]

Command = TypeVar("Command", bound=Callable[..., Any])

domain_option = click.option(
    "--domain",
    metavar="FILE|N",
    help="File with one value per line, or the number of values (default: any string "
    "is counted).",
)
OPTIONS = (
    click.option(
        "--numbers",
        metavar="LOW:HIGH[:STEP]",
        help="Bounds of numbers that devices hold, and the step that they are rounded to.",
    ),
    click.option(
        "--ask",
        type=click.Choice(["mean", "variance", "distribution"]),
        default="mean",
        help="Statistic of the numbers.",
    ),
    click.option(
        "--attribute",
        "attributes",
        multiple=True,
        metavar="NAME=FILE|N|LOW:HIGH[:STEP]",
        help="Attribute with its values or bounds; a device answers one attribute.",
    ),
    click.option(
        "--pairs", is_flag=True, help="Let a device answer a pair of attributes."
    ),
    click.option(
        "--alphabet",
        metavar="LETTERS",
        help="Letters of words that are not on a list, and that the task discovers.",
    ),
    click.option(
        "--longest",
        type=int,
        default=12,
        metavar="N",
        help="Largest number of letters of such a word.",
    ),
)


def asked_options(command: Command) -> Command:
    """The options that say what is asked."""
    for option in (domain_option, *OPTIONS)[::-1]:
        command = option(command)
    return command


def asked(
    domain: str | None,
    numbers: str | None,
    ask: str,
    attributes: tuple[str, ...],
    alphabet: str | None,
    longest: int,
) -> Any:
    """The domain that the options describe."""
    from dither.local import Vocabulary

    given = [one for one in (domain, numbers, attributes, alphabet) if one]
    if len(given) > 1:
        raise ArgumentError(
            "domain",
            "pass only one of --domain, --numbers, --attribute and --alphabet",
        )
    if ask != "mean" and not numbers:
        raise ArgumentError(
            "ask", "needs --numbers; pass --numbers, or leave --ask out"
        )
    if alphabet:
        return Vocabulary(alphabet, longest)
    if numbers:
        return _numbers("numbers", numbers, ask)
    if attributes:
        fields = [_attribute(one) for one in attributes]
        if len(dict(fields)) < len(fields):
            raise ArgumentError(
                "attribute", "must have a new name each time; choose different names"
            )
        return dict(fields)
    return domain_of(domain)


def _attribute(text: str) -> tuple[str, Any]:
    name, found, rest = text.partition("=")
    if not found or not name or not rest:
        raise ArgumentError(
            "attribute",
            f"{text!r} is not an attribute; write it like age=0:110, vote=votes.txt or "
            "region=12",
        )
    bounds = ":" in rest and not Path(rest).exists()
    return name, _numbers("attribute", rest, "mean") if bounds else domain_of(rest)


def _numbers(option: str, text: str, ask: str) -> Any:
    from dither.local import Numbers

    try:
        bounds = [float(part) for part in text.split(":")]
    except ValueError:
        bounds = []
    if len(bounds) not in (2, 3):
        raise ArgumentError(
            option, f"{text!r} does not have bounds; write it like 0:120 or 0:120:5"
        )
    step = bounds[2] if len(bounds) == 3 else None
    return Numbers(bounds[0], bounds[1], step, ask=ask)


def domain_of(text: str | None) -> Any:
    """Number of values, or the lines of a file; None for an open vocabulary."""
    if text is None:
        return None
    return int(text) if text.isdecimal() else lines(text)


def lines(text: str) -> list[str]:
    """Lines of a file that are not empty."""
    return [line.strip() for line in _read(text).splitlines() if line.strip()]


def _read(text: str) -> str:
    try:
        return Path(text).read_text(encoding="utf-8-sig")
    except OSError:
        raise ArgumentError(
            "domain",
            f"{text} is not a file; pass a file with one value per line, or the number "
            "of values",
        ) from None
    except UnicodeDecodeError:
        raise ArgumentError(
            "domain", f"{text} is not UTF-8 text; save it as UTF-8"
        ) from None


def values_of(task: Task, path: Path) -> list[Any]:
    """One value per line and device; for several attributes, the rows of a CSV file."""
    from dither.local import Attributes

    domain = task.domain
    if not isinstance(domain, Attributes):
        return [_value(domain, line) for line in lines(str(path))]
    rows = list(csv.DictReader(_read(str(path)).splitlines()))
    names = domain.domains
    if not rows or not set(names) <= set(rows[0]):
        raise ArgumentError(
            "values", f"must be a CSV file with the columns {', '.join(names)}"
        )
    return [
        {name: _value(one, row[name] or "") for name, one in names.items()}
        for row in rows
    ]


def _value(domain: Any, line: str) -> Any:
    """A line as the domain knows it: numbers are written as text, too."""
    from dither.local import Numbers

    if isinstance(domain, Numbers):
        return _float(line)
    whole = isinstance(getattr(domain, "values", None), range)
    return int(line) if whole and line.lstrip("-").isdecimal() else line


def _float(line: str) -> float:
    try:
        return float(line)
    except ValueError:
        return math.nan
