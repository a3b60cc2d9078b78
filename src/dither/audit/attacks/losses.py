"""Membership in the data of a model: people whom it was trained on have smaller losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.roc import Roc
from dither.errors import ArgumentError
from dither.picture import Picture
from dither.privacy import Guarantee

__all__ = ["Losses", "losses"]


@dataclass(frozen=True)
class Losses:
    """How well the loss of a model on a person tells whether they were in its data."""

    roc: Roc

    @property
    def area(self) -> float:
        return self.roc.area

    @property
    def bound(self) -> float | None:
        return self.roc.bound

    def plot(self) -> Picture:
        return self.roc.plot("Membership by the losses of a model")

    def __str__(self) -> str:
        sizes = f"{self.roc.members.size:,} members and {self.roc.outsiders.size:,}"
        lines = [
            f"Membership attack on the losses of {sizes} outsiders: area under the curve "
            f"{self.area:.3f} ± {1.96 * self.roc.standard_error:.3f} (a coin has 0.5).",
        ]
        if self.bound is not None:
            lines.append(f"The guarantee allows an area of {self.bound:.3f} at most.")
        lines.append(
            "Not stopped by differential privacy: what a model learns about people in "
            "general is used on everybody, whether they were in its data or not."
        )
        return "\n".join(lines)


def losses(
    members: Any, outsiders: Any, *, guarantee: Guarantee | None = None
) -> Losses:
    """The membership attack on a trained model (Yeom et al. 2018), by its loss on each
    person: a smaller one speaks for membership.

    `members` are the losses on people it was trained on, `outsiders` those on others of
    the same population; a coin should have decided who is who. `guarantee` is that of
    the released model, such as `model.release_.guarantee`.
    """
    if guarantee is not None and not isinstance(guarantee, Guarantee):
        raise ArgumentError("guarantee", "must be a guarantee, such as PureDP(1.0)")
    inside, outside = _checked(members, "members"), _checked(outsiders, "outsiders")
    return Losses(Roc(-inside, -outside, guarantee))


def _checked(values: Any, name: str) -> NDArray[np.float64]:
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.zeros(0)
    # A loss may be infinite, and then it speaks against membership; NaN says nothing.
    if found.ndim != 1 or not found.size or np.isnan(found).any():
        raise ArgumentError(
            name, "must be a list of losses without NaN, one for each person"
        )
    return found
