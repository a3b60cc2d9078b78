"""A run whose steps were all declared before the first: what an account is charged for
it (rule R17).
"""

from __future__ import annotations

from dataclasses import dataclass

from dither.errors import ArgumentError
from dither.privacy.composite import Composed, PoissonSampled
from dither.privacy.concentrated import GaussianDP
from dither.privacy.guarantees import Guarantee
from dither.privacy.numbers import (
    Number,
    not_negative,
    positive,
    small_probability,
    whole,
)
from dither.privacy.units import Unit, common_unit

__all__ = ["Declared", "parts_of"]

STEPS = (PoissonSampled, GaussianDP)
"""Guarantees of single steps that another accountant can compose again."""


@dataclass(frozen=True, init=False)
class Declared(Guarantee):
    """A run, and a Rényi loss at one order that holds beside a δ of its own.

    Guarantee: that of the run. An account of that order may be charged (`loss`,
    `delta`), which is less than the run's own loss at the order.
    Why: losses above `epsilon` are cut off, which happens with probability `delta` at
    most (docs/proofs/training.md).
    Assumes: all steps and their noise were fixed before the first one ran. `truncated`
    computes the figures; whoever states others promises them.
    """

    of: Guarantee
    order: int
    loss: float
    delta: float
    epsilon: float

    def __init__(
        self,
        of: Guarantee,
        order: int,
        loss: Number,
        delta: Number,
        epsilon: Number,
        *,
        unit: Unit | None = None,
    ) -> None:
        if not all(isinstance(part, STEPS) for part in parts_of(of)) or of.delta_part:
            raise ArgumentError(
                "of",
                "the run in of= must consist of Gaussian steps, on Poisson samples or on "
                "all units; "
                "charge other guarantees without declaring them",
            )
        object.__setattr__(self, "of", of)
        object.__setattr__(
            self, "order", whole("order", order, "pass the account's order")
        )
        if self.order < 2:
            raise ArgumentError(
                "order", "must be at least 2; pass the order of the account"
            )
        way_out = "use the figures that `truncated` computes"
        object.__setattr__(self, "loss", positive("loss", loss, way_out))
        object.__setattr__(self, "delta", small_probability("delta", delta, zero=True))
        object.__setattr__(self, "epsilon", not_negative("epsilon", epsilon, way_out))
        unit = of.unit if unit is None else common_unit([of.unit, unit], "unit")
        object.__setattr__(self, "unit", unit)
        super().__post_init__()

    @property
    def delta_part(self) -> float:
        return self.delta

    def epsilon_at(self, delta: Number) -> float:
        """The run's own ε at a δ: how it is charged does not change what it reveals."""
        return self.of.epsilon_at(delta)

    def delta_at(self, epsilon: Number) -> float:
        return self.of.delta_at(epsilon)

    def _loss(self, order: float) -> float:
        return self.loss if order == self.order else self.of.renyi(order)

    def _group(self, size: int) -> Guarantee:
        return self.of.for_group(size)

    def for_replacement(self) -> Guarantee:
        return self.of.for_replacement()

    @property
    def measure(self) -> str:
        return self.of.measure


def parts_of(run: Guarantee) -> tuple[Guarantee, ...]:
    """The steps of a run, by their noise."""
    return run.parts if isinstance(run, Composed) else (run,)
