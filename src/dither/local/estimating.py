"""From a tally to the release that its task asks for."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.errors import ArgumentError
from dither.local.attributes import Attributes
from dither.local.averages import average, mean, variance
from dither.local.discovery import discover
from dither.local.distribution import distribution
from dither.local.frequencies import Frequencies, frequencies, shares
from dither.local.numbers import DISTRIBUTION, MEAN, VARIANCE, Numbers
from dither.local.parts import parts
from dither.local.vocabulary import Vocabulary
from dither.privacy.numbers import share
from dither.release import Release

if TYPE_CHECKING:
    from dither.local.tally import Tally

__all__ = ["estimate"]

ASKED = {MEAN: mean, VARIANCE: variance, DISTRIBUTION: distribution}


def estimate(tally: Tally, candidates: Any, false_discoveries: float) -> Release:
    """The release of a tally; see `Tally.estimate` for its content."""
    rate = share("false_discoveries", false_discoveries, "pass a share such as 0.05")
    _check_minimum(tally)
    domain = tally.task.domain
    if isinstance(domain, Attributes):
        return _attribute(tally, domain, candidates, rate)
    if not isinstance(domain, Numbers | Vocabulary):
        return frequencies(tally, candidates, rate)
    if candidates is not None:
        raise ArgumentError(
            "candidates",
            "cannot be used with Numbers or a Vocabulary; leave them out",
        )
    if isinstance(domain, Vocabulary):
        return discover(tally, domain, rate)
    return ASKED[domain.ask](tally, domain)


def _check_minimum(tally: Tally) -> None:
    if tally.messages < tally.task.minimum:
        raise ArgumentError(
            "tally",
            f"has {tally.messages:,} messages"
            + (f" ({tally.left_out})" if tally.rejected else "")
            + f", but the task needs at least {tally.task.minimum:,} (its minimum); "
            "collect more messages first",
        )


def _attribute(tally: Tally, domain: Attributes, wanted: Any, rate: float) -> Release:
    """One attribute, or a table of two."""
    number, turned = domain.part(wanted)
    part, names = parts(tally)[number], domain.parts[number]
    what = f"{tally.task.name}, {' and '.join(names[::-1] if turned else names)}"
    first = domain.domains[names[0]]
    if isinstance(first, Numbers):
        return average(tally, part, first, what)
    if len(names) == 1:
        keys, items = first.keys, np.arange(first.items)
        return shares(tally, part, keys, items, rate, whole=True, what=what)
    return _table(tally, domain, number, turned, rate, what)


def _table(
    tally: Tally, domain: Attributes, number: int, turned: bool, rate: float, what: str
) -> Frequencies:
    one, other = (domain.domains[name] for name in domain.parts[number])
    assert not isinstance(one, Numbers)
    assert not isinstance(other, Numbers)
    items = np.arange(one.items * other.items).reshape(one.items, other.items)
    keys = product(one.keys, other.keys)
    if turned:
        items, keys = items.T, product(other.keys, one.keys)
    part = parts(tally)[number]
    asked = (tuple(keys), items.reshape(-1), rate)
    return shares(tally, part, *asked, whole=True, what=what)
