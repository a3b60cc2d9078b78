"""Differencing: two counts whose difference is one person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.attack import Attack
from dither.audit.attacks.rates import Rate, coin, rate
from dither.audit.attacks.rebuilt import percent
from dither.errors import ArgumentError
from dither.mechanisms import Geometric
from dither.noise import uniform_integers
from dither.privacy import PureDP
from dither.privacy.numbers import whole

__all__ = ["Differencing", "differencing"]

Counts = NDArray[np.int64]
BASE = 5
LARGEST = 10**9


@dataclass(frozen=True)
class Differencing(Attack):
    """How often the difference of two counts tells the secret of one person."""

    _name: ClassVar[str] = "differencing"
    _not_stopped: ClassVar[str] = (
        "what a large difference shows. If one group is ill and all others are not, two "
        "noisy counts show this, because it does not depend on a single person."
    )
    count: int
    epsilon: float
    found: tuple[Rate, ...]

    @property
    def rates(self) -> tuple[Rate, ...]:
        return self.found

    @property
    def title(self) -> str:
        return "Differencing of two counts"

    @property
    def sentences(self) -> tuple[str, str]:
        exact, ours = self.found[0], self.found[-1]
        return (
            "The attacker asks how many people have the secret, and how many of all but "
            "one have it, and subtracts; a coin decided whether that one has it.",
            f"With exact counts the attacker is right in {percent(exact.share)} of "
            f"{exact.tries:,} cases, and rounding hides the secret only until the question "
            f"is shifted; with two counts of ε = {self.epsilon:g} each, in "
            f"{percent(ours.share, 1)}. The guarantee of both together allows "
            f"{percent(ours.bound or 0, 1)}.",
        )

    def _more(self) -> dict[str, Any]:
        return {"count": self.count, "epsilon": self.epsilon}


def differencing(
    count: int = 2526, *, epsilon: float = 0.5, tries: int = 20_000
) -> Differencing:
    """The differencing attack on pairs of counts: exact, with small ones suppressed,
    rounded to multiples of 5, and with noise.

    `count` is how many other people have the secret: by default the patients of the
    bundled clinic whose last stay was in oncology. Each try is another person, whose
    secret a coin decides.
    """
    others = whole("count", count, "pass how many others have the secret")
    if others > LARGEST:
        raise ArgumentError(
            "count", f"must be at most {LARGEST:,}; pass a smaller number"
        )
    many = whole("tries", tries, "pass how often to try, such as 20_000")
    mechanism = Geometric(sensitivity=1, epsilon=epsilon)
    secret = uniform_integers(2, (many,))
    # The rest of the count differs from try to try, as other people are left out.
    rest = others + uniform_integers(BASE, (many,))
    noisy = mechanism.release(rest + secret) - mechanism.release(rest)
    both = PureDP(2 * mechanism.epsilon)
    label = f"rounded to {BASE}"
    return Differencing(
        others,
        mechanism.epsilon,
        (
            rate("exact counts", (rest + secret - rest >= 1) == secret, 0.5),
            rate(f"exact, below {BASE} suppressed", _suppressed(rest), 0.5),
            rate(label, _rounded(rest, secret, 1), 0.5),
            rate(f"{label}, {BASE} shifted pairs", _rounded(rest, secret, BASE), 0.5),
            rate(
                f"two counts with ε = {mechanism.epsilon:g}",
                (noisy >= 1) == secret,
                0.5,
                coin(both),
            ),
        ),
    )


def _suppressed(rest: Counts) -> Any:
    """Right if neither count is hidden, and by a coin elsewhere."""
    shown = rest >= BASE
    return np.where(shown, 1.0, 0.5)


def _rounded(rest: Counts, secret: Counts, pairs: int) -> Any:
    """Whether the secret is told by any of some pairs, each with one more person whom
    the attacker knows to have it: one of five crosses a multiple.
    """
    moved = np.zeros(rest.size, np.bool_)
    for shift in range(pairs):
        with_one, without = (_to_base(rest + shift + one) for one in (secret, 0))
        moved |= with_one != without
    return moved == secret


def _to_base(counts: Counts) -> Counts:
    return (counts + BASE // 2) // BASE * BASE
