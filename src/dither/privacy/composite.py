"""Promises built from others: a step repeated on random samples, and several promises
about the same data.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import SupportsIndex

from dither.errors import ArgumentError
from dither.privacy.concentrated import GaussianDP
from dither.privacy.guarantees import Guarantee, PureDP
from dither.privacy.losses import sampled_gaussian_loss
from dither.privacy.numbers import Number, float_up, share, up, whole, written
from dither.privacy.units import Relation, Unit, common_unit


@dataclass(frozen=True, init=False)
class PoissonSampled(Guarantee):
    """`steps` Gaussian steps, each on a fresh sample that every unit enters
    independently with probability `rate`.

    Guarantee: that of the composed sampled Gaussian with the μ of `of`.
    Why: sampling maps a dominating pair (P, Q) to (P, (1−q)P + qQ) and back (Zhu, Dong,
    Wang 2022, theorem 11).
    Assumes: add/remove neighbours. Under replacement the two samples differ in more
    than the pair bounds.
    """

    rate: float
    of: GaussianDP
    steps: int = 1

    def __init__(
        self,
        rate: Number,
        of: GaussianDP,
        steps: SupportsIndex = 1,
        *,
        unit: Unit | None = None,
    ) -> None:
        object.__setattr__(
            self,
            "rate",
            share("rate", rate, "pass batch size / population, such as 0.01"),
        )
        object.__setattr__(
            self,
            "steps",
            whole("steps", steps, "pass the number of steps, such as 1000"),
        )
        object.__setattr__(self, "of", _sampled_step(of))
        object.__setattr__(
            self,
            "unit",
            of.unit if unit is None else common_unit([of.unit, unit], "unit"),
        )
        super().__post_init__()

    def _loss(self, order: float) -> float:
        return up(self.steps * sampled_gaussian_loss(self.of.mu, self.rate, order))

    def _epsilon(self, delta: float) -> float:
        from dither.privacy.composition import epsilon_of

        return epsilon_of([self], delta) if delta > 0.0 else super()._epsilon(delta)

    def _delta(self, epsilon: float) -> float:
        from dither.privacy.composition import delta_of

        return delta_of([self], epsilon)

    def _group(self, size: int) -> Guarantee:
        raise self._refuse_group(
            f"a sample may hold any number of the {size} units of a group, which has no "
            "closed form"
        )

    @property
    def measure(self) -> str:
        times = f"{self.steps} steps" if self.steps > 1 else "one step"
        return (
            f"{times} of μ = {self.of.mu:.6g} (Gaussian) on Poisson samples "
            f"of rate {self.rate:.6g}"
        )


@dataclass(frozen=True, init=False)
class Composed(Guarantee):
    """Several promises about the same data, all fixed before the first was run."""

    parts: tuple[Guarantee, ...]

    def __init__(self, parts: Iterable[Guarantee], *, unit: Unit | None = None) -> None:
        flat = flatten(parts)
        object.__setattr__(self, "parts", flat)
        object.__setattr__(self, "unit", common_unit((p.unit for p in flat), "parts"))
        if unit is not None:
            common_unit([self.unit, unit], "unit")
        super().__post_init__()

    @property
    def delta_part(self) -> float:
        return float_up(
            sum((Fraction(part.delta_part) for part in self.parts), Fraction(0))
        )

    def _loss(self, order: float) -> float:
        return up(sum(part.renyi(order) for part in self.parts))

    def epsilon_at(self, delta: Number) -> float:
        from dither.privacy.composition import epsilon_of

        return epsilon_of(self.parts, delta)

    def _delta(self, epsilon: float) -> float:
        from dither.privacy.composition import delta_of

        return delta_of(self.parts, epsilon)

    def _group(self, size: int) -> Composed:
        return Composed([part.for_group(size) for part in self.parts])

    def for_replacement(self) -> Composed:
        return Composed([part.for_replacement() for part in self.parts])

    def _with_unit(self, unit: Unit) -> Composed:
        return Composed([part._with_unit(unit) for part in self.parts])

    @property
    def measure(self) -> str:
        if all(isinstance(part, PureDP) for part in self.parts):
            total = sum(
                (
                    written(part.epsilon)
                    for part in self.parts
                    if isinstance(part, PureDP)
                ),
                Fraction(0),
            )
            return (
                f"ε = {float(total):.6g} ({len(self.parts)} pure guarantees together)"
            )
        return f"{len(self.parts)} guarantees together"


def flatten(
    parts: Iterable[Guarantee], argument: str = "parts"
) -> tuple[Guarantee, ...]:
    """The guarantees without nesting; empty or foreign lists are refused."""
    if isinstance(parts, Guarantee):
        raise ArgumentError(argument, "must be a list of guarantees; pass [guarantee]")
    flat: list[Guarantee] = []
    for part in parts:
        if not isinstance(part, Guarantee):
            raise ArgumentError(
                argument,
                f"must hold guarantees, not {type(part).__name__}; pass guarantees such as "
                "PureDP(0.5)",
            )
        flat.extend(part.parts if isinstance(part, Composed) else (part,))
    if not flat:
        raise ArgumentError(
            argument,
            "must hold at least one guarantee; pass a list such as [PureDP(0.5)]",
        )
    return tuple(flat)


def _sampled_step(of: Guarantee) -> GaussianDP:
    if not isinstance(of, GaussianDP) or of.delta:
        raise ArgumentError(
            "of",
            "the step in of= must be a GaussianDP without a δ; for pure and (ε, δ) guarantees, call "
            "poisson(...)",
        )
    if of.unit.relation is not Relation.ADD_REMOVE:
        raise ArgumentError(
            "of",
            "Poisson sampling strengthens only guarantees under add/remove; pass a step "
            "for a unit under add/remove",
        )
    return replace(of)
