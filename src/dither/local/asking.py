"""Which randomizer asks what: for one list of values, for numbers, for several attributes,
and for words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.local.attributes import Attributes
from dither.local.choose import FOCUS, choose, domain_of
from dither.local.domain import Counted, Domain
from dither.local.numbers import AUTOMATIC, DISTRIBUTION, LARGEST, Numbers
from dither.local.oracles import (
    BinaryMean,
    CountMeanSketch,
    HadamardSketch,
    HybridMean,
    Loloha,
    LongitudinalUnary,
    OneBitMean,
    Oracle,
    Randomizer,
    Sampled,
)
from dither.local.oracles.loloha import POOL
from dither.local.tree import Tree
from dither.local.vocabulary import Vocabulary

__all__ = ["Asked", "counted", "fitting"]

BRANCHINGS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32)
TRIED = 1 << 12  # leaves that are enough to compare trees
COLUMNS, ROWS = 1024, (256, 1024)
SKETCHES = (CountMeanSketch, HadamardSketch)
QUIET = 0.1  # of the noise's variance, what collisions may add


@dataclass(frozen=True)
class Asked:
    """The privacy loss of one message and of all messages together (None if a device
    answers once), the expected number of messages, and their largest size.
    """

    once: float
    ever: float | None
    n: int
    payload: int | None

    def split(self, parts: int) -> Asked:
        """The same for one of several questions."""
        return replace(self, n=max(self.n // parts, 1))


def counted(domain: Any, asked: Asked, *, none: bool, pairs: bool) -> Counted | None:
    """The domain that a developer means."""
    if pairs and not isinstance(domain, Mapping | Attributes):
        raise ArgumentError(
            "pairs", "requires several attributes; pass domain={name: domain, …}"
        )
    if isinstance(domain, Numbers):
        return _branched(domain, asked)
    if domain is None or isinstance(domain, Attributes | Vocabulary):
        return domain
    if isinstance(domain, Mapping):
        fields = ((name, _field(one, none)) for name, one in domain.items())
        return Attributes(tuple(fields), pairs)
    return domain_of(domain, none)


def _field(domain: Any, none: bool) -> Domain | Numbers:
    if isinstance(domain, Vocabulary):
        raise ArgumentError(
            "domain",
            "cannot mix a Vocabulary with other attributes; make two tasks, one of "
            "them for the words",
        )
    return domain if isinstance(domain, Numbers) else domain_of(domain, none)


def fitting(domain: Counted | None, asked: Asked) -> Randomizer:
    """The randomizer with the smallest variance."""
    if isinstance(domain, Vocabulary):
        each = asked.split(len(domain.lengths))
        return Sampled.of(tuple(_sketch(each) for _ in domain.lengths))
    if isinstance(domain, Numbers) and domain.ask != DISTRIBUTION:
        return Sampled.of(tuple(_mean(items, asked) for items in domain.sizes))
    if isinstance(domain, Numbers):
        return Sampled.of(_counting(domain.sizes, asked))
    if isinstance(domain, Attributes):
        return Sampled.of(_attributes(domain, asked))
    items = None if domain is None else Domain(range(domain.sizes[0]), none=False)
    return choose(
        items, epsilon=asked.once, n=asked.n, for_ever=asked.ever, payload=asked.payload
    ).oracle


def _attributes(domain: Attributes, asked: Asked) -> tuple[Randomizer, ...]:
    if domain.pairs:
        return _counting(domain.sizes, asked)
    each = asked.split(len(domain.fields))
    pool = POOL // len(domain.fields)
    return tuple(
        _mean(one.sizes[0], each)
        if isinstance(one, Numbers)
        else _one(one.sizes[0], each, pool)
        for _, one in domain.fields
    )


def _counting(sizes: Sequence[int], asked: Asked) -> tuple[Oracle, ...]:
    each, pool = asked.split(len(sizes)), POOL // len(sizes)
    return tuple(_one(items, each, pool) for items in sizes)


def _one(items: int, asked: Asked, pool: int) -> Oracle:
    """One of several questions. If answers are kept, the hash functions of all of them
    together are as few as those of one (rule R28).
    """
    if asked.ever is None:
        domain = Domain(range(items), none=False)
        limit = asked.payload
        return choose(domain, epsilon=asked.once, n=asked.n, payload=limit).oracle
    kept = (asked.once, asked.ever)
    _check_kept(*kept)
    made: list[Oracle] = [LongitudinalUnary.at(items, *kept)]
    if pool > 1:
        made.insert(0, Loloha.at(items, *kept, pool))
    return min(made, key=lambda one: one.spread / asked.n + FOCUS * one.collisions)


def _check_kept(once: float, ever: float) -> None:
    if ever <= once:
        raise ArgumentError(
            "for_ever",
            "must be above epsilon: a kept answer without fresh noise would identify "
            f"its device; pass for_ever={2 * once:g}",
        )


def _mean(items: int, asked: Asked) -> Randomizer:
    if asked.ever is not None:
        _check_kept(asked.once, asked.ever)
        return OneBitMean.at(items, asked.once, asked.ever)
    made = (BinaryMean.at(items, asked.once), HybridMean.at(items, asked.once))
    return min(made, key=lambda one: one.worst)


def _sketch(asked: Asked) -> Oracle:
    """With as many rows as keep collisions below the noise, and no more: all prefix
    lengths have a sketch each.
    """
    if asked.ever is not None:
        raise ArgumentError(
            "every",
            "cannot be used with a Vocabulary, whose words are asked for once; leave "
            "it out, and make another task that lists the words that were found",
        )
    noise = CountMeanSketch.at(asked.once).spread / asked.n
    wanted = FOCUS / COLUMNS / (QUIET * noise)
    rows = 1 << math.ceil(math.log2(max(wanted, 1)))
    rows = min(max(rows, ROWS[0]), ROWS[1])
    made = (sketch.at(asked.once, rows, COLUMNS) for sketch in SKETCHES)
    return min(made, key=lambda sketch: sketch.spread)


def _branched(numbers: Numbers, asked: Asked) -> Numbers:
    """A distribution's tree with the branching that makes sums from the left most
    exact, on average.
    """
    if numbers.ask != DISTRIBUTION or numbers.branching != AUTOMATIC:
        return numbers
    few = min(numbers.top + 1, LARGEST[DISTRIBUTION])
    tries = [one for one in (*BRANCHINGS, few) if one <= few]
    made = [replace(numbers, branching=one) for one in tries]
    return min(made, key=lambda one: _doubt(one, asked))


def _doubt(numbers: Numbers, asked: Asked) -> float:
    """The mean variance of the share up to a number, for a tree of nothing."""
    small = replace(numbers, high=numbers.number(min(numbers.top, TRIED - 1)))
    chosen = _counting(small.sizes, asked)
    levels = [
        np.full(
            len_of - small.none, oracle.spread + FOCUS * oracle.collisions * asked.n
        )
        for len_of, oracle in zip(small.sizes, chosen, strict=True)
    ]
    nothing = [np.zeros(len(level)) for level in levels]
    tree = Tree(nothing, levels, small.branching)
    return float(len(levels) * tree.sums().variance.mean())
