"""Single places, blurred where they are: planar Laplace noise, metric privacy.

What is hidden is where within a neighbourhood a place lies, not in which part of the
world. So it is a guarantee of its own kind, and no account takes it unless the places
cannot lie farther apart than a public diameter.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dither.by_name import by_name
from dither.cost import Cost
from dither.dataset import Account, Dataset
from dither.errors import ArgumentError
from dither.noise import planar_laplace
from dither.privacy import MetricDP, PureDP, Relation, Unit
from dither.privacy.numbers import (
    at_most,
    confidence_level,
    float_down,
    float_up,
    positive,
)
from dither.question import Question, check_budget
from dither.release import Release
from dither.science.declared import note
from dither.science.maps.ground import Ground, ground_of
from dither.science.maps.places import Place, place_of
from dither.science.maps.reading import source_of

__all__ = ["Blurred", "blur"]

Reals = NDArray[np.float64]

FINER = 1024
"""The lattice is at least so much finer than the noise, and than the radius."""
DIAGONAL = Fraction(14143, 10000)
"""A little above √2: what rounding coordinates in floats could add is far less."""
NEAREST = 1.0
WIDEST = 2.0**36
"""Steps across the box: coordinates are then right to 1e-5 of a step."""
EXAMPLE = "blur(places, bounds=(west, south, east, north), epsilon=1, radius=200)"
LOCATION = Unit("location", Relation.REPLACE)
PLACES = ("location", "place", "row", "site")


@by_name(EXAMPLE)
def blur(
    points: Any,
    *,
    bounds: Any = None,
    epsilon: float,
    radius: float,
    crs: Any = 4326,
    x: str | None = None,
    y: str | None = None,
    diameter: float | None = None,
    budget: Account | None = None,
    by: str | None = None,
    provenance: str | None = None,
) -> Blurred:
    """Each place moved by random noise, so that places within `radius` metres of it are
    about as likely: their probabilities differ by a factor of e^epsilon at most.

    As many places come back as were given, in their order. One outside of `bounds` is
    first moved to the nearest border, one that is no place to the middle: the promise is
    about the place where it is then. Metres are
    metres on the ground for longitude and latitude (the noise is a little more than
    needed for that), else those of the coordinate system. `diameter` declares how far
    apart places within `bounds` can be: then `budget` can be charged.

    Guarantee: (epsilon / radius)-metric privacy for each metre, of one place within
    `bounds`, for distances of `radius` and more; epsilon for places that are nearer.
    Within a diameter D that is ε-differential privacy of epsilon · D / radius.
    Why: the noise has P(z) ∝ e^(−ε′|z|) on a lattice, exactly, and moving the centre by
    d changes |z| by at most d; ε′ is smaller than epsilon / radius by what rounding to
    the lattice can add, one diagonal (docs/proofs/science.md).
    Assumes: each person has one place; several add up. How many places there are is not
    hidden.
    """
    if isinstance(points, Dataset):
        raise ArgumentError(
            "points",
            "cannot be a dataset, because blur is for owners who blur their own places; "
            "use heatmap",
        )
    place = place_of(bounds, crs)
    ground = ground_of(place)
    lattice = Lattice.of(ground, epsilon, radius)
    read = source_of(points, place.system, x=x, y=y).read
    promised = _promised(lattice, ground, diameter, budget)
    question = Question("blurred places", Cost(epsilon=1.0), LOCATION, budget, by)
    notes = (note(f"bounds in {place.system}", provenance), lattice.words())
    with question.paying(promised) as paid, np.errstate(all="ignore"):
        found = read(None)
        value = lattice.blurred(found.x, found.y, place)
    return Blurred(
        "place",
        value,
        (paid.source,),
        lattice.around(value),
        notes=notes,
        lattice=lattice,
    )


def _promised(
    lattice: Lattice, ground: Ground, diameter: float | None, budget: Account | None
) -> MetricDP | PureDP:
    """Metric privacy, or what an account can be charged."""
    check_budget(budget)
    unit = _unit(budget)
    if diameter is None:
        if budget is not None:
            raise ArgumentError(
                "budget",
                "cannot be charged for metric privacy without a diameter; pass the largest "
                "distance between two places as diameter=, or leave budget out",
            )
        return MetricDP(
            lattice.epsilon, per=ground.name, beyond=lattice.radius, unit=unit
        )
    wide = positive("diameter", diameter, f"pass a distance in {ground.name}s")
    if wide < ground.diagonal:
        raise ArgumentError(
            "diameter",
            f"must be at least the diagonal of bounds, {ground.diagonal:,.0f} "
            f"{ground.name}s; pass that, or smaller bounds",
        )
    return PureDP(lattice.within(wide), unit=unit)


def _unit(budget: Account | None) -> Unit:
    """An account must be about places: a person may have several, and nothing here
    counts them.
    """
    terms = getattr(budget, "terms", None)
    if terms is None:
        return LOCATION
    unit = terms.total.unit
    if unit.name not in PLACES or unit.relation is not LOCATION.relation:
        raise ArgumentError(
            "budget",
            f"is an account for {unit}, but blur protects against replacing a place; pass "
            'Budget(…, unit=Unit("location", "replace"))',
        )
    found: Unit = unit
    return found


@dataclass(frozen=True)
class Lattice:
    """Where noise is drawn: a public lattice of `step` metres. `total` is promised for
    all places within `radius`; `rate` is the noise's, for a step.
    """

    ground: Ground
    total: float
    radius: float
    step: float
    rate: float

    @classmethod
    def of(cls, ground: Ground, epsilon: float, radius: float) -> Lattice:
        total = positive("epsilon", epsilon, "pass an ε such as 1", float_down)
        wide = positive("radius", radius, "pass a distance such as 200", float_up)
        if not 2.0**-30 <= total <= 2.0**30 or not 2.0**-30 <= wide <= 2.0**40:
            raise ArgumentError(
                "radius",
                "radius must be between 2^-30 and 2^40, and epsilon between 2^-30 and 2^30; "
                "pass values such as radius=200, epsilon=1",
            )
        if not ground.system.plane and wide < NEAREST:
            words = f"must be at least {NEAREST:g} metre, not {wide:g}"
            raise ArgumentError("radius", f"{words}; pass a distance such as 200")
        finest = wide / (max(total, 1.0) * FINER)
        step = Fraction(2) ** math.floor(math.log2(finest))
        if ground.diagonal / float(step) > WIDEST:
            words = (
                "is too small for these bounds, because floats cannot represent such small "
                "steps; pass a larger radius, or smaller bounds"
            )
            raise ArgumentError("radius", words)
        exact, reach = at_most(total), Fraction(wide)
        rate = float_down(exact * step / (reach + DIAGONAL * step))
        return cls(ground, total, wide, float(step), rate)

    @property
    def epsilon(self) -> float:
        """What is promised for a metre."""
        return float_up(at_most(self.total) / Fraction(self.radius))

    def within(self, diameter: float) -> float:
        """What is promised for all places of a diameter."""
        times = max(Fraction(diameter) / Fraction(self.radius), Fraction(1))
        return float_up(at_most(self.total) * times)

    def blurred(self, x: Reals, y: Reals, place: Place) -> Reals:
        """Each place on the lattice, with noise, and back in its own coordinates."""
        steps = np.floor(self.ground.flat(x, y, place) / self.step + 0.5)
        noise = planar_laplace(self.rate, len(steps))
        moved = (steps + noise) * self.step
        return self.ground.back(np.asarray(moved, np.float64))

    def reach(self, confidence: float) -> float:
        """How far from its blurred place a place lies, in metres on the ground, with at
        least this probability.
        """
        flat = self.flat_reach(confidence)
        return flat * self.ground.stretch(flat)

    def flat_reach(self, confidence: float) -> float:
        """The same on the plane."""
        # P(|Z| > r) ≤ e^(2εd)·(1 + ε(r − d))·e^(−ε(r − d)) with d = √½, half a diagonal
        level = float(confidence_level("confidence", confidence))
        missed, half = 1 - level, math.sqrt(0.5)
        low, high = 0.0, 800.0
        while high - low > 1e-6:
            middle = (low + high) / 2
            tail = math.exp(2 * self.rate * half - middle) * (1 + middle)
            low, high = (middle, high) if tail > missed else (low, middle)
        return (high / self.rate + 2 * half) * self.step + self.step

    def around(self, value: Reals) -> PlaceSpread:
        return PlaceSpread(value, self)

    def words(self) -> str:
        name = self.ground.name
        return (
            f"95 % of places are within {self.reach(0.95):,.0f} {name}s of their blurred "
            f"places; distances are {self.ground.metric}, between places within the bounds"
        )


@dataclass(frozen=True, eq=False)
class PlaceSpread:
    """A box around each blurred place that holds the place itself."""

    value: Reals
    lattice: Lattice

    def ends(self, confidence: float) -> tuple[Reals, Reals]:
        width = self.lattice.flat_reach(confidence) / np.array(
            self.lattice.ground.scales
        )
        return self.value - width, self.value + width


@dataclass(frozen=True, eq=False, repr=False)
class Blurred(Release):
    """Blurred places, one row of two coordinates each, in `value`."""

    lattice: Lattice = None  # type: ignore[assignment]

    def reach(self, confidence: float = 0.95) -> float:
        """How many metres from its blurred place a place lies, with this probability."""
        return self.lattice.reach(confidence)

    def _derived(self, **changes: Any) -> Release:
        kept = ("what", "value", "sources", "spread", "keys", "notes", "noise")
        return Release(**{name: getattr(self, name) for name in kept} | changes)

    def to_pandas(self) -> Any:
        """A pandas frame of both coordinates."""
        from dither.frames import package

        return package("pandas").DataFrame(
            {"x": self.value[:, 0], "y": self.value[:, 1]}
        )

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """CSV text of both coordinates, or a file of it."""
        lines = ["x,y", *(f"{x},{y}" for x, y in np.round(self.value, 7).tolist())]
        text = "".join(f"{line}\n" for line in lines)
        if path is None:
            return text
        Path(path).write_text(text, encoding="utf-8", newline="")
        return None

    def to_geojson(self, path: str | Path | None = None) -> dict[str, Any] | None:
        """A GeoJSON collection of points in longitude and latitude, or a file of it."""
        from dither.science.maps.export import points_json, written

        system = self.lattice.ground.system
        return written(points_json(self.value, system, self), path)

    def plot(self, confidence: float = 0.95) -> NoReturn:  # noqa: ARG002
        """Blurred places are not bars."""
        raise ArgumentError(
            "plot",
            "single places cannot be plotted; call .to_geopandas(), or release a heatmap",
        )

    def to_geopandas(self) -> Any:
        """A GeoDataFrame of points, in their coordinate system."""
        from dither.science.maps.export import points_frame

        return points_frame(self.value, self.lattice.ground.system)

    def __getitem__(self, key: Any) -> Blurred:
        """One place, by its number."""
        place = self.value[[operator.index(key)]]
        return replace(self, value=place, spread=self.lattice.around(place))

    def rows(self, confidence: float = 0.95) -> list[tuple[Any, Any, Any, Any]]:
        """Both coordinates of each place, with the ends of their intervals."""
        low, high = self.interval(confidence)
        return [
            (f"{i} {name}", self.value[i, j], low[i, j], high[i, j])
            for i in range(len(self))
            for j, name in enumerate("xy")
        ]

    def _lines(self) -> list[str]:
        return [f"{len(self):,} blurred places"]

    def __repr__(self) -> str:
        return f"<Blurred: {len(self):,} places>"
