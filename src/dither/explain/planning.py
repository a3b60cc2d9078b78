"""The solution for a number of questions: ε, people, questions or error, whichever is
left open.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

from dither.errors import ArgumentError
from dither.explain import check, words
from dither.explain.explanation import Explanation, Rows
from dither.explain.local_laws import LEVELS
from dither.explain.plan_picture import draw
from dither.explain.price import POINTS
from dither.explain.ways import CENTRAL, LOCAL, QUERIES, Asked, Way, digits, least
from dither.privacy.numbers import Number
from dither.text import width_in_words

__all__ = ["EPSILONS", "Plan", "plan"]

EPSILONS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
LARGEST_EPSILON = 1e4
LARGEST_N = 10**12
SMALLEST_ERROR = 1e-12
MOST_QUESTIONS = 10**6
"""An account grants no more: a question costs at least a millionth of it (rule R31)."""
NEAR = 1 - 1e-9
"""A search ends a little above what it looks for; four digits are tried from below."""
OPEN = ("epsilon", "n", "questions", "error")
NOTES = (
    "The ± holds for each answer by itself; all answers are within it at once less often.",
    "This is the noise alone. Clipping to the bounds, units with several rows, and "
    "asking a sample of people come on top; `preview` includes them for a question.",
)


@dataclass(frozen=True)
class Plan(Explanation):
    """So many questions about n people each, within an error that is a part of the
    whole: what was left open is solved for.

    `way` says how to ask each of them: Laplace or Gaussian noise, whichever the account
    grants more of. An account of (`epsilon`, `delta`) grants all of them.
    """

    asked: Asked
    epsilon: float
    delta: float
    n: int
    questions: int
    error: float
    solved: str
    way: Way

    @property
    def width(self) -> float:
        """The ± of one answer, in its own units; for a quantile, in ranks (people)."""
        return self.error * self.asked.whole(self.n)

    @property
    def each(self) -> dict[str, float]:
        """What to ask each question with: {"epsilon": …} or {"rho": …}."""
        return {self.way.keyword: self.way.value}

    def error_at(self, epsilon: Number) -> float:
        """The smallest error at another ε, as a part of the whole; infinite where even
        an error as large as the whole is too small.
        """
        return _error(
            self.asked, check.loss(epsilon), self.delta, self.n, self.questions
        )

    @cached_property
    def curve(self) -> tuple[tuple[float, float], ...]:
        """ε and the error there, as far as one is below the whole."""
        others = [(one, self.error_at(one)) for one in EPSILONS if one != self.epsilon]
        found = sorted([*others, (self.epsilon, self.error)])
        return tuple((epsilon, error) for epsilon, error in found if error < math.inf)

    @property
    def title(self) -> str:
        many = f"{self.questions:,} {_many(self.asked.query, self.questions)}"
        about = f"about {self.n:,} people" + (" each" if self.questions > 1 else "")
        where = ", randomized on devices" if self.asked.model == LOCAL else ""
        return f"A plan for {many} {about}{where}"

    @property
    def sentences(self) -> tuple[str, str]:
        asked = self.asked
        part = f"{words.at_most(self.error)} {asked.of}"
        level = words.share(asked.confidence)
        holder = "for each device," if asked.model == LOCAL else "an account grants"
        missed = f" and δ = {words.tiny(self.delta)}" if self.delta else ""
        how = f"{self.way.keyword} = {words.plain(self.way.value)}"
        return (
            f"With ε = {words.plain(self.epsilon)}{missed} {holder} "
            f"{self.questions:,} {_many(asked.query, self.questions)} about "
            f"{self.n:,} people {_stay(asked, self.questions)} within "
            f"{width_in_words(self.width)} ({part}), {level} of the time.",
            f"Ask each with {how} ({self.way.noise}); {self._solved}.",
        )

    @property
    def _solved(self) -> str:
        return {
            "epsilon": "a smaller ε of four digits is not enough",
            "n": "fewer people are not enough",
            "questions": "one more question does not fit",
            "error": "a smaller error of four digits cannot be reached",
        }[self.solved]

    @property
    def heading(self) -> tuple[str, ...]:
        level = words.share(self.asked.confidence)
        return "ε", f"± at {level}", self.asked.of

    @property
    def rows(self) -> Rows:
        whole = self.asked.whole(self.n)
        return tuple(
            (
                words.plain(epsilon)
                + (" (the plan)" if epsilon == self.epsilon else ""),
                width_in_words(error * whole),
                words.at_most(error),
            )
            for epsilon, error in self.curve
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return (f"One unit is {self.asked.unit}.", *NOTES, *self._bins)

    @property
    def _bins(self) -> tuple[str, ...]:
        """An answer within its ± of ranks is no finer than the places it may have."""
        if self.asked.query != "quantile":
            return ()
        local = self.asked.model == LOCAL
        steps = f"{2**LEVELS:,} equal" if local else f"at most {POINTS:,}"
        return (
            f"A quantile is one of {steps} steps between the bounds; the ranks of all "
            "people within one step come on top.",
        )

    def to_dict(self) -> dict[str, Any]:
        stated = ("query", "bounds", "bins", "q", "confidence", "model")
        return {
            **{name: getattr(self.asked, name) for name in stated},
            "epsilon": self.epsilon,
            "delta": self.delta,
            "n": self.n,
            "questions": self.questions,
            "error": self.error,
            "width": self.width,
            "solved": self.solved,
            "noise": self.way.noise,
            "each": self.each,
            "curve": [{"epsilon": one, "error": error} for one, error in self.curve],
            "sentences": self.sentences,
            "notes": self.notes,
        }

    def svg(self) -> str:
        return draw(self)


def _many(query: str, count: int) -> str:
    return query if count == 1 else f"{query}s"


def _stay(asked: Asked, count: int) -> str:
    link = "" if asked.model == LOCAL else "that "
    return f"{link}stays" if count == 1 else f"{link}each stay"


def plan(
    query: str,
    *,
    error: Number | None = None,
    n: SupportsIndex | None = None,
    questions: SupportsIndex | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    bounds: tuple[float, float] = (0.0, 1.0),
    bins: SupportsIndex = 10,
    q: Number = 0.5,
    confidence: Number = 0.95,
    model: str = CENTRAL,
) -> Plan:
    """What so many `questions` about `n` people each take, to be within an `error` (a
    part of the whole, such as 0.03): leave one of error, n, questions and epsilon out,
    and it is solved for.

    `query` is "count", "sum", "mean", "histogram" or "quantile"; `bounds`, `bins` and
    `q` are theirs. With a `delta` the account may take Gaussian noise, which is cheaper
    for many questions. `model` is "central", or "local" where devices add the noise.
    """
    asked = _asked(query, bounds, bins, q, confidence, model)
    missed = check.delta(delta)
    if missed and asked.model == LOCAL:
        raise ArgumentError(
            "delta",
            'cannot be used with model="local", because devices add up ε only; leave it out',
        )
    known = _known(error, n, questions, epsilon)
    solved = next(name for name in OPEN if known[name] is None)
    return SOLVERS[solved](asked, missed, known)


def _asked(
    query: str, bounds: Any, bins: Any, q: Any, confidence: Any, model: str
) -> Asked:
    if query not in QUERIES:
        listed = ", ".join(QUERIES)
        raise ArgumentError("query", f"cannot be {query!r:.40}; pass one of {listed}")
    if model not in (CENTRAL, LOCAL):
        raise ArgumentError("model", f'must be "central" or "local", not {model!r:.40}')
    level = "pass the level of the quantile, such as 0.5 for the median"
    return Asked(
        query,
        check.bounds(bounds),
        check.count("bins", bins, "pass how many bins there are, such as 10"),
        check.between("q", q, level),
        check.confidence(confidence),
        model,
    )


def _known(error: Any, n: Any, questions: Any, epsilon: Any) -> dict[str, Any]:
    """The stated quantities, checked; exactly one of them is left open."""
    stated = {"epsilon": epsilon, "n": n, "questions": questions, "error": error}
    left = [name for name, value in stated.items() if value is None]
    if len(left) != 1:
        *most, last = left or ["all four"]
        found = "are missing" if most else "is missing" if left else "are passed"
        found = f"{', '.join(most)}{' and ' * bool(most)}{last} {found}"
        raise ArgumentError(
            left[0] if left else "epsilon",
            "pass exactly three of epsilon, n, questions and error, and the plan computes "
            f"the fourth; {found}",
        )
    people = "pass a public number of people, such as 200"
    checks: dict[str, Callable[[Any], Any]] = {
        "epsilon": check.loss,
        "n": lambda value: check.count("n", value, people),
        "questions": _questions,
        "error": _part,
    }
    return {
        name: None if value is None else checks[name](value)
        for name, value in stated.items()
    }


def _part(value: Any) -> float:
    found = check.between("error", value, "pass a relative error, such as 0.03 for 3 %")
    if found < SMALLEST_ERROR:
        raise ArgumentError(
            "error", f"must be at least {SMALLEST_ERROR:g}; pass a larger error"
        )
    return found


def _questions(value: Any) -> int:
    found = check.count("questions", value, "pass the number of questions, such as 50")
    if found > MOST_QUESTIONS:
        raise ArgumentError(
            "questions",
            f"must be at most {MOST_QUESTIONS:,}, the limit of an account; ask fewer",
        )
    return found


def _made(asked: Asked, delta: float, known: dict[str, Any], solved: str) -> Plan:
    granted, way = asked.best(known["epsilon"], delta, known["n"], known["error"])
    if way is None or granted < known["questions"]:
        raise ArgumentError(solved, IMPOSSIBLE)
    return Plan(asked, delta=delta, solved=solved, way=way, **known)


IMPOSSIBLE = (
    "cannot be computed, because no value makes the error small enough; allow a larger "
    "error, or ask fewer questions"
)


def _epsilon(asked: Asked, delta: float, known: dict[str, Any]) -> Plan:
    def enough(epsilon: float) -> bool:
        found = asked.best(epsilon, delta, known["n"], known["error"])[0]
        return bool(found >= known["questions"])

    if not enough(LARGEST_EPSILON):
        raise ArgumentError("epsilon", IMPOSSIBLE)
    found = digits(least(enough, 1e-6, LARGEST_EPSILON) * NEAR)
    while not enough(found):
        found = digits(found * 1.0001)
    return _made(asked, delta, known | {"epsilon": found}, "epsilon")


def _n(asked: Asked, delta: float, known: dict[str, Any]) -> Plan:
    def enough(n: int) -> bool:
        found = asked.best(known["epsilon"], delta, n, known["error"])[0]
        return bool(found >= known["questions"])

    high = 1
    while not enough(high):
        high *= 2
        if high > LARGEST_N:
            raise ArgumentError("n", IMPOSSIBLE)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return _made(asked, delta, known | {"n": high}, "n")


def _count(asked: Asked, delta: float, known: dict[str, Any]) -> Plan:
    found = asked.best(known["epsilon"], delta, known["n"], known["error"])[0]
    if not found:
        raise ArgumentError(
            "questions",
            "not a single question fits; allow a larger error, or pass a larger epsilon",
        )
    most = min(found, MOST_QUESTIONS)
    return _made(asked, delta, known | {"questions": most}, "questions")


def _share(asked: Asked, delta: float, known: dict[str, Any]) -> Plan:
    found = _error(asked, known["epsilon"], delta, known["n"], known["questions"])
    if found == math.inf:
        raise ArgumentError(
            "error", "no relative error below 1 can be reached; " + MORE
        )
    return _made(asked, delta, known | {"error": found}, "error")


MORE = "allow a larger ε, or ask more people or fewer questions"


def _error(asked: Asked, epsilon: float, delta: float, n: int, questions: int) -> float:
    """The smallest relative error that all these answers stay within, rounded up."""

    def enough(share: float) -> bool:
        return asked.best(epsilon, delta, n, share)[0] >= questions

    high = 1 - 1e-9
    if not enough(high):
        return math.inf
    found = min(digits(least(enough, SMALLEST_ERROR, high) * NEAR), high)
    while found < high and not enough(found):
        found = min(digits(found * 1.0001), high)
    return found


SOLVERS: dict[str, Callable[[Asked, float, dict[str, Any]], Plan]] = {
    "epsilon": _epsilon,
    "n": _n,
    "questions": _count,
    "error": _share,
}
