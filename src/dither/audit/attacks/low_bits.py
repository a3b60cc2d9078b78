"""The low bits of floating-point noise (Mironov 2012): they reveal which number the
noise was added to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.attack import Attack
from dither.audit.attacks.rates import Rate, coin, rate, with_or_without
from dither.audit.attacks.rebuilt import percent
from dither.mechanisms import Laplace
from dither.noise import uniform_integers
from dither.privacy.numbers import whole

__all__ = ["LowBits", "low_bits", "off_grid"]

Reals = NDArray[np.float64]
BITS = 53


@dataclass(frozen=True)
class LowBits(Attack):
    """How often the low bits of an answer prove that the true number was not 1."""

    _name: ClassVar[str] = "low-bits"
    _not_stopped: ClassVar[str] = (
        "what lies outside of the noise: a true number that is printed beside the noisy "
        "one, or a generator whose seed is known, is not made safe by good low bits."
    )
    epsilon: float
    found: tuple[Rate, ...]

    @property
    def rates(self) -> tuple[Rate, ...]:
        return self.found

    @property
    def title(self) -> str:
        return "The low bits of floating-point noise"

    @property
    def sentences(self) -> tuple[str, str]:
        floats, _, ours = self.found[0], self.found[1], self.found[2]
        return (
            "The true number is 0 or 1. Noise of a float generator added to 1 gives "
            "only multiples of 2^-53, so any other number proves that it was 0.",
            f"That happens in {percent(floats.share, 1)} of {floats.tries:,} answers with "
            f"float noise that claims ε = {self.epsilon:g}, and never for 1: no ε allows "
            f"it; it happens in {percent(ours.share, 1)} of answers on a public grid.",
        )

    def _more(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon}


def low_bits(*, epsilon: float = 1.0, tries: int = 100_000) -> LowBits:
    """The low-bits attack on Laplace noise made of floats, as the textbook writes it,
    and on `dither.laplace`.
    """
    many = whole("tries", tries, "pass how often to try, such as 100_000")
    mechanism = Laplace(sensitivity=1, epsilon=epsilon)
    promise = mechanism.guarantee
    never = float(off_grid(1.0 + float_laplace(many, 1 / promise.epsilon)).mean())
    floats = off_grid(0.0 + float_laplace(many, 1 / promise.epsilon))
    ones, zeros = (
        off_grid(mechanism.release(np.full(many, value))) for value in (1.0, 0.0)
    )
    hidden = float(ones.mean())
    secret = uniform_integers(2, (many,))
    told = (mechanism.release(secret.astype(np.float64)) > 0.5) == secret
    return LowBits(
        promise.epsilon,
        (
            rate("float noise: not a multiple", floats, never),
            rate("float noise: 0 or 1", _told(secret, 1 / promise.epsilon), 0.5),
            rate(
                "our noise: not a multiple",
                zeros,
                hidden,
                with_or_without(promise, hidden),
            ),
            rate("our noise: 0 or 1", told, 0.5, coin(promise)),
        ),
    )


def off_grid(answers: Any) -> NDArray[np.bool_]:
    """Which answers are not a multiple of 2^-53."""
    scaled = np.ldexp(np.asarray(answers, np.float64), BITS)
    return np.asarray(scaled != np.rint(scaled))


def float_laplace(count: int, scale: float) -> Reals:
    """Laplace noise by the textbook's formula. It is attacked here and protects
    nothing.
    """
    uniform = (uniform_integers(1 << BITS, (count,)) + 0.5) / (1 << BITS) - 0.5
    return np.asarray(-scale * np.sign(uniform) * np.log1p(-2 * np.abs(uniform)))


def _told(secret: NDArray[np.int64], scale: float) -> NDArray[np.bool_]:
    """Whether an attacker who looks at low bits first, and then at the size, is right."""
    answers = secret + float_laplace(secret.size, scale)
    says = (answers > 0.5) & ~off_grid(answers)
    return np.asarray(says == secret)
