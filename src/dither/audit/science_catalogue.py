"""Every scientific release, on neighbours as small as its difference shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dither.audit.case import Case
from dither.audit.criteria import criterion_of
from dither.errors import ArgumentError
from dither.privacy import Guarantee

__all__ = ["Asked", "science"]

COST: dict[str, Any] = {"epsilon": 1.0}
SELDOM = 50
DELTA = 1e-3
"""Where a guarantee is looked at that is not audited itself. Fewer draws see less of a
smaller one.
"""
MADE_UP = np.arange(40) % 7 / 7.0
"""Values of forty made-up people between 0 and 1."""
ARM = np.arange(40) % 2
OUTCOME = np.arange(40) // 2 % 2
GENOTYPES = (np.arange(60).reshape(12, 5) % 3).astype(np.int8)
PANEL = [f"rs{number}" for number in range(5)]


@dataclass(frozen=True)
class Asked:
    """A release by its full name: how it is asked, and two neighbouring inputs."""

    covers: str
    ask: Callable[[Any], Any]
    a: Any
    b: Any
    shown: Callable[[Any], Any] | None = None
    words: str = ""
    claimed: Guarantee | None = None

    @property
    def case(self) -> Case:
        """What the release shows, audited at the guarantee that it states."""
        name = f"{self.covers}{self.words}"
        draw = partial(_drawn, self.ask, self.shown)
        stated = self.claimed or partial(_stated, self.ask, self.a)
        return Case(name, draw, self.a, self.b, stated, SELDOM, (self.covers,))


def _drawn(
    ask: Callable[[Any], Any], shown: Callable[[Any], Any] | None, data: Any
) -> Any:
    found = ask(data)
    return np.ravel(found.value) if shown is None else shown(found)


def _stated(ask: Callable[[Any], Any], data: Any) -> Guarantee:
    """The guarantee of a release, as one that can be audited."""
    found = ask(data)
    promise: Guarantee = getattr(found, "release_", found).guarantee
    try:
        criterion_of(promise)
    except ArgumentError:
        return promise.approx(DELTA)
    return promise


def changed(values: Any, to: Any, place: int = 0) -> Any:
    """The input with one person's value replaced."""
    found = np.array(values)
    found[place] = to
    return found


def _graphs() -> Iterator[Asked]:
    from dither.science import graphs

    asked = {"vertices": 5, **COST}
    path = np.array([(0, 1), (1, 2), (2, 3), (3, 4), (0, 2)])
    more = np.vstack([path, [(1, 3)]])
    home = "science.graphs"
    for ask in (
        graphs.edges,
        graphs.triangles,
        graphs.stars,
        graphs.transitivity,
        graphs.degrees,
    ):
        yield Asked(f"{home}.{ask.__name__}", partial(ask, **asked), path, more)
    mixed = partial(graphs.mixing, groups=["f", "m", "f", "m", "f"], **asked)
    yield Asked(f"{home}.mixing", mixed, path, more)
    by_node = {"unit": "node", "max_degree": 2, **asked}
    alone = np.array([(0, 1), (1, 2)])
    crowd = np.array([(0, 1), (1, 2), (4, 0), (4, 1), (4, 2), (4, 3)])
    for ask in (graphs.edges, graphs.degrees):
        named = f"{home}.{ask.__name__}"
        yield Asked(named, partial(ask, **by_node), alone, crowd, words=", by node")


def _maps() -> Iterator[Asked]:
    from dither.science import maps

    square = (0.0, 0.0, 0.4, 0.4)
    points = np.array([[0.1, 0.1], [0.2, 0.1], [0.3, 0.3]])
    more = np.vstack([points, [[0.35, 0.05]]])
    for method in ("uniform", "adaptive", "privtree"):
        fine: dict[str, Any] = {} if method == "privtree" else {"expect": 3}
        heat = partial(maps.heatmap, bounds=square, method=method, **fine, **COST)
        name = "science.maps.heatmap"
        yield Asked(name, heat, points, more, _total, words=f", {method}")
    # One end of the ground to the other is the whole promised distance
    ground = (0.0, 0.0, 0.001, 0.001)
    blur = partial(maps.blur, bounds=ground, radius=160.0, diameter=160.0, epsilon=1.0)
    ends = np.array([[0.0, 0.0]]), np.array([[0.001, 0.001]])
    yield Asked("science.maps.blur", blur, *ends)


def _total(release: Any) -> Any:
    """Cells may be others in each draw: their number, their sum and the largest."""
    values = np.ravel(release.value)
    return [values.size, values.sum(), values.max()]


def _genomes() -> Iterator[Asked]:
    from dither.science import genomes

    absent = GENOTYPES.copy()
    absent[0] = -1
    other = changed(GENOTYPES, 2)
    case = np.arange(12) % 2
    asked = {"panel": PANEL, "samples": 12, **COST}
    home = "science.genomes"
    seen = partial(genomes.frequencies, coarse=True, **asked)
    yield Asked(f"{home}.frequencies", seen, GENOTYPES, absent)
    beacon = partial(genomes.beacon, questions=2, **asked)
    yield Asked(
        f"{home}.beacon",
        beacon,
        GENOTYPES,
        absent,
        lambda one: [bool(one.ask(name)) for name in PANEL[:2]],
    )
    for ask, more in ((genomes.chi2, {}), (genomes.top_snps, {"k": 2})):
        called = partial(_with_case, ask, case, more | asked)
        shown = _names if ask is genomes.top_snps else None
        yield Asked(f"{home}.{ask.__name__}", called, GENOTYPES, other, shown)


def _with_case(
    ask: Callable[..., Any], case: Any, options: dict[str, Any], genotypes: Any
) -> Any:
    return ask(genotypes, case, **options)


def _names(release: Any) -> str:
    return ",".join(map(str, release.value))


def _census() -> Iterator[Asked]:
    from dither.science import census

    levels = ["state", "block"]
    blocks = [("1", "11"), ("1", "12"), ("2", "21")]
    keys = census.geography(blocks, levels=levels)

    def counted(places: Any) -> Any:
        columns = {
            name: [blocks[place][n] for place in places]
            for n, name in enumerate(levels)
        }
        return census.release(columns, keys=keys, unit=census.unit("person"), rho=0.1)

    def noisy(release: Any) -> Any:
        return np.concatenate([one.ravel() for one in release.measurements.values])

    yield Asked("science.census.release", counted, [0, 0, 2], [0, 0], noisy)
    spread = partial(census.ranges, edges=[0, 1, 2, 3, 4], **COST)
    few = np.array([0.5, 1.5, 2.5])
    yield Asked("science.census.ranges", spread, few, np.append(few, 3.5))


def _synth() -> Iterator[Asked]:
    from dither.science import synth

    domain = {"ill": synth.booleans(), "ward": synth.categories(["A", "B"])}
    wards = ["A", "B", "A", "B", "A"]
    ills = [True, False, True, False, False]

    def made(people: int) -> Any:
        table = {"ill": ills[:people], "ward": wards[:people]}
        return synth.mst(table, domain=domain, n=20, **COST)

    def tallied(release: Any) -> Any:
        rows = release.to_pandas()
        return [
            ((rows["ill"] == ill) & (rows["ward"] == ward)).sum()
            for ill in (True, False)
            for ward in "AB"
        ]

    yield Asked("science.synth.mst", made, 4, 5, tallied)


def _trials() -> Iterator[Asked]:
    from dither.science import trials

    home, other, sizes = "science.trials", changed(MADE_UP, 1.0), (20, 20)
    whole = {"bounds": (0.0, 1.0), **COST}
    one_arm: tuple[tuple[Callable[..., Any], dict[str, Any]], ...] = (
        (trials.mean, whole | {"size": 40}),
        (trials.median, whole | {"size": 40}),
        (trials.wilcoxon, COST | {"size": 40}),
    )
    for ask, options in one_arm:
        shift = -0.4 if ask is trials.wilcoxon else 0.0
        pair = MADE_UP + shift, other + shift
        yield Asked(f"{home}.{ask.__name__}", partial(ask, **options), *pair)
    many = {"sizes": (100, 100), "epsilon": 1.0}
    two_arms: tuple[tuple[Callable[..., Any], dict[str, Any]], ...] = (
        (trials.mean_difference, whole | {"sizes": sizes}),
        (trials.median_difference, whole | {"sizes": (100, 100), "points": 9}),
        (trials.location_shift, many | {"within": (-1.0, 1.0), "points": 9}),
        (trials.mannwhitneyu, COST | {"sizes": sizes}),
        (trials.kruskal, COST | {"sizes": sizes}),
    )
    for ask, options in two_arms:
        called = partial(_halves, ask, options)
        yield Asked(f"{home}.{ask.__name__}", called, MADE_UP, other)
    told = changed(OUTCOME, 1)
    yield Asked(
        f"{home}.binomtest", partial(trials.binomtest, n=40, **COST), OUTCOME, told
    )
    for ask in (trials.odds_ratio, trials.risk_difference):
        arms = {"arm": ARM, "arms": [0, 1], "sizes": sizes, **COST}
        yield Asked(f"{home}.{ask.__name__}", partial(ask, **arms), OUTCOME, told)
    levels = {"levels": [0, 1], **COST}
    yield Asked(f"{home}.chisquare", partial(trials.chisquare, **levels), OUTCOME, told)
    table = {"columns": ARM, "levels": [[0, 1], [0, 1]], **COST}
    yield Asked(
        f"{home}.chi2_contingency",
        partial(trials.chi2_contingency, **table),
        OUTCOME,
        told,
    )
    line = {"x_bounds": (0.0, 1.0), "y_bounds": (0.0, 1.0), "n": 40, **COST}
    yield Asked(
        f"{home}.linregress",
        partial(_regressed, trials.linregress, line),
        MADE_UP,
        other,
    )
    lived = partial(trials.kaplan_meier, event=OUTCOME, edges=[0.0, 0.5, 1.0], **COST)
    yield Asked(f"{home}.kaplan_meier", lived, MADE_UP, other)
    blocks = partial(
        trials.test_of_tests,
        _on_average,
        ids=np.arange(40),
        groups=4,
        alpha0=0.2,
        epsilon=1.0,
    )
    yield Asked(f"{home}.test_of_tests", blocks, MADE_UP, other)


def _on_average(values: Any) -> float:
    """A test that one person turns."""
    return 0.01 if np.mean(values) > 0.42 else 0.9


def _halves(ask: Callable[..., Any], options: dict[str, Any], values: Any) -> Any:
    """The two arms; if more people are declared, everybody but the first counts several
    times over.
    """
    first, second = values[:20], values[20:]
    if options["sizes"][0] > len(first):
        first, second = np.append(first, np.tile(MADE_UP, 2)), np.tile(second, 5)
    return ask(first, second, **options)


def _regressed(ask: Callable[..., Any], options: dict[str, Any], values: Any) -> Any:
    return ask(values, 1 - MADE_UP, **options)


def science() -> Iterator[Asked]:
    """Every function of the science room that releases something."""
    yield from _graphs()
    yield from _maps()
    yield from _genomes()
    yield from _census()
    yield from _synth()
    yield from _trials()
