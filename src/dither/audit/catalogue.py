"""Mechanisms, array functions and messages of devices, each with its claim and with
neighbours that come as close to it as possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dither.audit.case import Case
from dither.audit.clients import clients
from dither.audit.devices import oracles, sent
from dither.mechanisms import (
    AboveThreshold,
    ContinualCount,
    Cube,
    Exponential,
    Gaussian,
    Geometric,
    KeyThreshold,
    Ladder,
    Laplace,
    NoisyMax,
    PartitionSelection,
    PermuteAndFlip,
    QuantileExponential,
    RandomizedResponse,
    SmoothSensitivity,
    TopK,
    Tree,
    TreeMechanism,
)
from dither.privacy import Guarantee, PureDP
from dither.query import count, histogram, mean, quantile, sum, variance

__all__ = ["cases"]

SLOW = 10
"""Factor by which there are fewer draws of a slow release."""


def _tiled(release: Callable[[Any], Any], value: Any, size: int) -> Any:
    """Many releases of a number or an array at once."""
    return release(
        np.tile(np.asarray(value), (size, 1))
        if np.ndim(value)
        else np.full(size, value)
    )


def _many(
    name: str, made: Any, a: Any, b: Any, release: Callable[[Any], Any] | None = None
) -> Case:
    return Case(
        name,
        partial(_tiled, release or made.release),
        a,
        b,
        made.guarantee,
        covers=(_of(made),),
    )


def _each(name: str, made: Any, a: Any, b: Any) -> Case:
    return Case(
        name, made.release, a, b, made.guarantee, seldom=SLOW, covers=(_of(made),)
    )


def _of(made: Any) -> str:
    """The full name of what a value was made by."""
    kind = getattr(made, "kind", type(made))
    return f"mechanisms.{kind.__name__}"


def _additive() -> Iterator[Case]:
    yield _many("Laplace, whole numbers", Laplace(sensitivity=1, epsilon=1), 0, 1)
    yield _many(
        "Laplace, reals", Laplace(sensitivity=1, epsilon=1, changes=1), 0.0, 1.0
    )
    yield _many(
        "Laplace, two numbers", Laplace(sensitivity=2, epsilon=1), [0, 0], [1, 1]
    )
    yield _many("Geometric", Geometric(sensitivity=2, epsilon=1), 5, 7)
    yield _many("Gaussian, whole numbers", Gaussian(sensitivity=1, mu=1), 0, 1)
    yield _many("Gaussian, reals", Gaussian(sensitivity=1, mu=1, changes=1), 0.0, 1.0)
    yield _many(
        "Gaussian, ε and δ",
        _with_delta(Gaussian(sensitivity=1, epsilon=1, delta=1e-3), 1e-3),
        0,
        1,
    )
    yield _many(
        "Cube, three numbers",
        Cube(sensitivity=1, dims=3, epsilon=1),
        [0, 0, 0],
        [1, 1, 1],
    )
    two = Tree(2, 2)
    for name, tree in (
        ("Tree, Laplace noise", TreeMechanism(tree=two, radius=1, epsilon=1.0)),
        ("Tree, Gaussian noise", TreeMechanism(tree=two, radius=1, mu=1.0)),
    ):
        yield _many(name, tree, [0, 0], [1, 0], tree.noisy)
    running = ContinualCount(horizon=4, mu=1)
    yield Case(
        "ContinualCount",
        running.release,
        [0, 0, 0, 0],
        [1, 0, 0, 0],
        running.guarantee,
        seldom=SLOW,
        covers=(_of(running),),
    )


@dataclass(frozen=True)
class _Stated:
    """A mechanism beside another form of its claim."""

    release: Callable[[Any], Any]
    guarantee: Guarantee
    kind: type


def _with_delta(made: Any, delta: float) -> _Stated:
    return _Stated(made.release, made.guarantee.approx(delta), type(made))


def _choices() -> Iterator[Case]:
    for made in (Exponential, PermuteAndFlip, NoisyMax):
        yield _each(made.__name__, made(sensitivity=1, epsilon=1), [1, 0, 0], [0, 1, 1])
        yield _each(
            f"{made.__name__}, monotone",
            made(sensitivity=1, epsilon=1, monotone=True),
            [0, 0, 0],
            [1, 0, 0],
        )
    top = TopK(k=2, sensitivity=1, epsilon=1)
    yield Case(
        "TopK",
        top.release,
        [1, 0, 0],
        [0, 1, 1],
        PureDP(1.0),
        seldom=SLOW,
        covers=(_of(top),),
    )
    median = QuantileExponential(q=0.5, bounds=(0, 4), epsilon=1, points=5)
    yield _each("QuantileExponential", median, [0, 0], [0, 0, 4])
    yield _many("RandomizedResponse, 2 answers", RandomizedResponse(epsilon=1), 0, 1)
    yield _many(
        "RandomizedResponse, 5 answers",
        RandomizedResponse(epsilon=1, categories=5),
        0,
        4,
    )


def _above(made: AboveThreshold, values: list[int]) -> list[bool]:
    stream, said = made.open(), list[bool]()
    for value in values:
        said += [] if stream.halted else [stream.ask(value)]
    return said + [False] * (len(values) - len(said))


def _keys(made: Any, counts: list[int], size: int) -> Any:
    """Which keys are named; a key that nobody has is not among those found."""
    there = [place for place, units in enumerate(counts) if units]
    named = np.zeros((size, len(counts)), np.bool_)
    named[:, there] = made.release(np.tile(np.array(counts)[there], (size, 1)))
    return named


def _local(made: Any, neighbour: tuple[int, int]) -> Any:
    value, first = neighbour
    return made.release(value, first)


def _others() -> Iterator[Case]:
    above = AboveThreshold(threshold=0, sensitivity=1, epsilon=1)
    yield Case(
        "AboveThreshold",
        partial(_above, above),
        [0, 0, 1],
        [1, 1, 0],
        above.guarantee,
        seldom=SLOW,
        covers=(_of(above),),
    )
    threshold = KeyThreshold(groups=2, mu=1.0, delta=0.01)
    yield Case(
        "KeyThreshold",
        partial(_keys, threshold),
        [5, 4, 1],
        [4, 4, 0],
        threshold.guarantee,
        covers=(_of(threshold),),
    )
    for cut in (False, True):
        laplace = KeyThreshold(groups=2, epsilon=1.0, delta=0.01, truncated=cut)
        yield Case(
            f"KeyThreshold, {'truncated ' if cut else ''}Laplace noise",
            partial(_keys, laplace),
            [5, 4, 1],
            [4, 4, 0],
            laplace.guarantee,
            covers=(_of(laplace),),
        )
    selection = PartitionSelection(groups=1, epsilon=1, delta=0.01)
    yield Case(
        "PartitionSelection, a key of one",
        partial(_keys, selection),
        [1, 9],
        [0, 9],
        selection.guarantee,
        covers=(_of(selection),),
    )
    yield Case(
        "PartitionSelection, a key of six",
        partial(_keys, selection),
        [6, 9],
        [5, 9],
        selection.guarantee,
        covers=(_of(selection),),
    )
    for name, made in (
        (
            "SmoothSensitivity",
            SmoothSensitivity(epsilon=1, global_sensitivity=50, growth=1, integer=True),
        ),
        (
            "Ladder",
            Ladder(epsilon=1, bounds=(-50, 50), global_sensitivity=50, growth=1),
        ),
    ):
        yield Case(
            name,
            partial(_local, made),
            (0, 1),
            (1, 2),
            made.guarantee,
            seldom=SLOW,
            covers=(_of(made),),
        )


def _released(ask: Callable[[Any], Any], data: Any) -> Any:
    """The value and the interval beside it, which are both published."""
    release = ask(data)
    low, high = release.interval()
    return np.ravel([release.value, low, high])


def _arrays() -> Iterator[Case]:
    asks: tuple[tuple[str, Callable[[Any], Any], Any, Any], ...] = (
        ("count", partial(count, epsilon=1), np.ones(3), np.ones(4)),
        (
            "sum, whole numbers",
            partial(sum, bounds=(-1, 2), epsilon=1),
            np.array([1]),
            np.array([1, 9]),
        ),
        ("sum, reals", partial(sum, bounds=(-1, 2), epsilon=1), [1.0], [1.0, np.inf]),
        ("mean", partial(mean, bounds=(0, 1), epsilon=1), [0.0] * 3, [0.0] * 3 + [1.0]),
        (
            "mean of n",
            partial(mean, bounds=(0, 1), n=3, epsilon=1),
            [0.0] * 3,
            [0.0, 0.0, 1.0],
        ),
        (
            "variance",
            partial(variance, bounds=(0, 1), epsilon=1),
            [0.0] * 3,
            [0.0] * 3 + [1.0],
        ),
        (
            "quantile",
            partial(quantile, q=0.5, bounds=(0, 4), epsilon=1),
            np.array([0, 0]),
            np.array([0, 0, 4]),
        ),
        (
            "histogram",
            partial(histogram, keys=["a", "b"], epsilon=1),
            ["a", "b"],
            ["a", "b", "b"],
        ),
    )
    for name, ask, a, b in asks:
        yield Case(
            f"dither.{name}",
            partial(_released, ask),
            a,
            b,
            PureDP(1.0, unit=ask(a).guarantee.unit),
            seldom=SLOW,
            covers=(f"query.{name.split(',')[0].split()[0]}",),
        )


def _devices() -> Iterator[Case]:
    for name, oracle in oracles():
        claimed = PureDP(oracle.epsilon)
        covers = (f"local.oracles.{type(oracle).__name__}",)
        sending = partial(sent, oracle)
        yield Case(f"devices: {name}", sending, 0, 1, claimed, covers=covers)
    yield from clients()


def cases() -> list[Case]:
    """Every mechanism, every array function, and every message of a device."""
    return [*_additive(), *_choices(), *_others(), *_arrays(), *_devices()]
