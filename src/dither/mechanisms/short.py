"""One line each: noise on a value, or a private choice."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, TypeVar, cast

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.mechanisms.additive import Gaussian, Geometric, Laplace
from dither.mechanisms.response import RandomizedResponse
from dither.mechanisms.selection import Exponential

__all__ = ["exponential", "gaussian", "geometric", "laplace", "randomized_response"]

Candidate = TypeVar("Candidate")
Made = TypeVar("Made")


def _once(make: Callable[..., Made], **promise: Any) -> Made:
    """The mechanism for a promise, kept for the next call with the same one; it holds
    no randomness.
    """
    try:
        return cast("Made", _kept(make, tuple(promise.items())))
    except TypeError:
        # a promise that cannot be remembered, such as a list: let the mechanism say
        # what is wrong
        return make(**promise)


@lru_cache(maxsize=256)
def _kept(make: Callable[..., Any], promise: tuple[tuple[str, Any], ...]) -> Any:
    return make(**dict(promise))


@by_name("laplace(value, sensitivity=1, epsilon=0.5)")
def laplace(value: Any, *, sensitivity: float, epsilon: float) -> Any:
    """A number or an array with Laplace noise; see `Laplace`."""
    return _once(Laplace, sensitivity=sensitivity, epsilon=epsilon).release(value)


@by_name("geometric(value, sensitivity=1, epsilon=0.5)")
def geometric(value: Any, *, sensitivity: float = 1, epsilon: float) -> Any:
    """An integer, or an array of them, with two-sided geometric noise; see `Geometric`."""
    return _once(Geometric, sensitivity=sensitivity, epsilon=epsilon).release(value)


@by_name("gaussian(value, sensitivity=1, epsilon=0.5, delta=1e-6)")
def gaussian(
    value: Any,
    *,
    sensitivity: float,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    mu: float | None = None,
) -> Any:
    """A number or an array with Gaussian noise; see `Gaussian`."""
    return _once(
        Gaussian, sensitivity=sensitivity, epsilon=epsilon, delta=delta, rho=rho, mu=mu
    ).release(value)


def exponential(
    candidates: Sequence[Candidate],
    scores: Sequence[float] | Callable[[Candidate], float],
    *,
    sensitivity: float,
    epsilon: float,
    monotone: bool = False,
) -> Candidate:
    """One of the candidates, chosen privately by its score; see `Exponential`."""
    mechanism = Exponential(sensitivity=sensitivity, epsilon=epsilon, monotone=monotone)
    listed = (
        [scores(candidate) for candidate in candidates] if callable(scores) else scores
    )
    if len(candidates) == 0:
        raise ArgumentError(
            "candidates",
            "must hold at least one candidate; pass the items to choose from",
        )
    if len(listed) != len(candidates):
        raise ArgumentError(
            "scores",
            f"must hold one score for each of the {len(candidates)} candidates, not "
            f"{len(listed)}; pass as many scores as candidates",
        )
    return candidates[mechanism.release(listed)]


@by_name("randomized_response(answers, epsilon=1.0)")
def randomized_response(
    answers: Any, *, epsilon: float, categories: int | Sequence[Hashable] = 2
) -> Any:
    """The report for an answer, or for an array of answers; see `RandomizedResponse`."""
    return RandomizedResponse(epsilon=epsilon, categories=categories).release(answers)
