"""Requirements of a task: every line of its document, and its promise against the
oracle's integers.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from dither.errors import ArgumentError
from dither.local.attributes import Attributes
from dither.local.domain import canonical
from dither.local.numbers import DISTRIBUTION, Numbers
from dither.local.oracles import Mean, OneBitMean, Randomizer, Sampled
from dither.local.vocabulary import Vocabulary
from dither.privacy.numbers import positive

if TYPE_CHECKING:
    from dither.local.task import Task

__all__ = ["check"]

TRACKING = 256  # kept messages of more kinds would tell devices apart (rule R28)
FRESH_AT = 0.01  # less noise in a message than this leaves what is kept to be seen
EXAMPLES = {"name": '"emoji"', "attribute": '"favourite"'}
FAMILIES = ("murmur32", "identity")  # hash functions that every device has


def check(task: Task) -> None:
    """Refuse a task that is not one."""
    _check_words(task)
    _check_numbers(task)
    _check_dates(task)
    _check_promise(task)
    _check_oracle(task)


def _check_words(task: Task) -> None:
    for name in ("name", "attribute"):
        text, example = getattr(task, name), EXAMPLES[name]
        if not isinstance(text, str) or canonical(text) != b"s:" + text.encode(
            errors="replace"
        ):
            raise ArgumentError(
                name, f"{_wrong_word(text)}; pass a short one such as {example}"
            )
        if len(text) > 100:
            raise ArgumentError(
                name, f"must have at most 100 characters; pass one such as {example}"
            )
    if not all(isinstance(one, str) for one in task.strata):
        raise ArgumentError("strata", "must be strings")
    known = {canonical(one) for one in task.strata}
    if None in known or len(known) != len(task.strata) or len(known) > 256:
        raise ArgumentError(
            "strata", "must be at most 256 different strings, none of them empty"
        )


def _wrong_word(text: object) -> str:
    if not isinstance(text, str):
        return f"must be a string, not {type(text).__name__}"
    return "must be a string in Unicode form NFC" if text else "is empty"


def _check_numbers(task: Task) -> None:
    limits = {
        "distinct": (1, 1 << 20),
        "every": (0, 366),
        "messages": (1, 255),
        "minimum": (2, 1 << 40),
        "version": (1, (1 << 16) - 1),
    }
    for name, (low, high) in limits.items():
        value = getattr(task, name)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not low <= value <= high:
            raise ArgumentError(name, f"must be a whole number from {low} to {high}")
    if not task.every and (task.distinct, task.messages) != (1, 1):
        raise ArgumentError(
            "every",
            "is required if distinct or messages is above 1; pass the days of a "
            "period, such as every=1",
        )
    if not isinstance(task.stopped, bool):
        raise ArgumentError("stopped", "must be True or False")


def _check_dates(task: Task) -> None:
    for name in ("starts", "expires"):
        if type(getattr(task, name)) is not date:
            raise ArgumentError(name, "must be a date, such as date(2027, 1, 31)")
    if task.expires <= task.starts:
        raise ArgumentError("expires", "must be a later day than starts")
    if task.periods > 1 << 16:
        raise ArgumentError(
            "expires", "must leave at most 65,536 periods; pass an earlier day"
        )


def _check_promise(task: Task) -> None:
    for name in ("epsilon", "for_ever"):
        promised = getattr(task, name)
        positive(name, promised, "pass the ε that is promised, such as 1.0")
        # one number is written in one way
        object.__setattr__(task, name, float(promised))
    lost = {"epsilon": task.oracle.epsilon, "for_ever": task.oracle.epsilon_for_ever}
    for name, really in lost.items():
        if not really <= getattr(task, name):
            raise ArgumentError(
                name,
                f"is {getattr(task, name)}, but the oracle has a privacy loss of "
                f"{really:.6g}; raise {name}, or use an oracle with more noise",
            )


def _check_oracle(task: Task) -> None:
    sizes = (0,) if task.domain is None else task.domain.sizes
    if task.oracle.sizes != sizes:
        raise ArgumentError(
            "oracle",
            f"has {_listed(task.oracle.sizes)} items, but the domain has "
            f"{_listed(sizes)}; make an oracle for the items of the domain",
        )
    _check_parts(task)
    fresh = task.oracle.freshness >= FRESH_AT
    kinds = task.oracle.tracking if fresh else task.oracle.outcomes
    if task.every and kinds > TRACKING:
        raise ArgumentError(
            "oracle",
            "cannot be used for repeated answers: its kept message would identify the "
            'device; use oracle="loloha" or "rappor", or leave out every',
        )


def _listed(sizes: tuple[int, ...]) -> str:
    return ", ".join(map(str, sizes[:8])) + (", …" if len(sizes) > 8 else "")


def parts_of(oracle: Randomizer) -> tuple[Randomizer, ...]:
    return oracle.parts if isinstance(oracle, Sampled) else (oracle,)


def _check_parts(task: Task) -> None:
    """Each part must be of a kind that answers what is asked."""
    for number, part in enumerate(parts_of(task.oracle)):
        family = part.parameters.get("family", FAMILIES[0])
        if family not in FAMILIES:
            raise ArgumentError(
                "oracle",
                f"cannot have the hash family {family!r}, which only Google's clients "
                f"use; use {FAMILIES[0]!r}",
            )
        if isinstance(part, Mean) != _asks_mean(task, number):
            raise ArgumentError(
                "oracle",
                f"the oracle {part.kind!r} does not fit the domain: use an oracle for "
                "means if numbers are asked, and one that counts values otherwise",
            )
        if isinstance(part, OneBitMean) and task.every and task.distinct < 2:
            raise ArgumentError(
                "distinct",
                "must be at least 2 for a mean: a number has two answers; pass "
                "distinct=2",
            )
    if isinstance(task.domain, Vocabulary) and task.every:
        raise ArgumentError(
            "every",
            "cannot be used with a Vocabulary, whose words are asked for once; leave "
            "it out",
        )


def _asks_mean(task: Task, part: int) -> bool:
    domain = task.domain
    if isinstance(domain, Attributes):
        domain = domain.fields[part][1] if not domain.pairs else None
    return isinstance(domain, Numbers) and domain.ask != DISTRIBUTION
