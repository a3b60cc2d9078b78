"""How many values lie between any two ends: a tree of noisy counts over public bins."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.ledger import Account
from dither.mechanisms import Additive
from dither.mechanisms.sums import noise_variance, root_up
from dither.mechanisms.tree import Tree
from dither.privacy import ROW, Unit
from dither.privacy.numbers import float_up
from dither.question import Asking, Question
from dither.release import Release
from dither.science.census.asking import check_counted
from dither.science.census.bins import Bins, bins_of
from dither.science.census.fitting import spreads_of
from dither.science.census.margins import CountSpread
from dither.science.census.shape import Tree as Shape
from dither.science.census.values import Values
from dither.science.declared import note

__all__ = ["Ranges", "ranges"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

EXAMPLE = "ranges(ages, domain=range(0, 120), epsilon=0.5)"


@dataclass(frozen=True, eq=False, repr=False)
class Ranges(Release):
    """Fitted counts of bins; `range` adds up those between two ends.

    `measurements` are the noisy counts of the tree's nodes, level by level, which all
    else was computed from.
    """

    tree: Tree = Tree(1)  # noqa: RUF009
    bins: Bins | None = None
    noise_of: Additive | None = None
    measurements: tuple[Integers, ...] = ()

    def range(self, low: Any, high: Any) -> Release:
        """How many values lie from `low` up to, and not with, `high`. Both are edges, or
        whole numbers of the domain; the last edge counts with the last bin.
        """
        assert self.bins is not None
        assert self.noise_of is not None
        first, last = self.bins.place("low", low), self.bins.place("high", high)
        if first >= last:
            raise ArgumentError("high", "must be above low; pass a larger edge")
        weights = np.zeros(self.tree.leaves)
        weights[first:last] = 1.0
        variance = self.tree.variance(weights) * noise_variance(self.noise_of)
        value = float(self.value[first:last].sum())
        return Release(
            what=f"{self.what} from {low} to {high}",
            value=value,
            sources=self.sources,
            spread=CountSpread(value, variance, (self.noise_of,), nested=True),
            notes=self.notes,
        )

    def _derived(self, **changes: Any) -> Release:
        kept = {name: getattr(self, name) for name in Release.__dataclass_fields__}
        return Release(**(kept | {"limits": None} | changes))


@by_name(EXAMPLE, Asking)
def ranges(
    values: Any,
    *,
    edges: Any = None,
    domain: Any = None,
    column: str | None = None,
    rows: int | None = None,
    branching: int = 16,
    table: str | None = None,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> Ranges:
    """How many values lie between any two ends, with intervals; many ranges for one cost.

    `values` are a column in memory, each a unit of its own, or a dataset whose `column`
    is named; then at most `rows` values of each unit count. `edges` or `domain` say
    which bins there are. A value that is in none of them, or is no number, is not
    counted.

    Each level of a tree over the bins is counted with noise, and least squares makes the
    levels agree. A long range is then a sum of few noisy counts instead of many.

    Guarantee: ε-differential privacy (Laplace noise) or ρ-zero-concentrated (Gaussian)
    for one unit.
    Why: a value is in one node of each level, so a unit of k values moves each level by
    k in L1 and in L2, and one that is replaced by 2k and √2·k; all levels together by
    levels times the first and √levels times the second (docs/proofs/census.md).
    Assumes: edges and domain are public, not read off the data.
    """
    bins = bins_of(edges, domain)
    tree = Tree(bins.number, branching, root=False)
    source = Values.of(values, column, table)
    most = source.most(rows)
    question = Question.of(
        "ranges", cost, unit=_unit(cost.get("budget")), dataset=source.dataset
    )
    notes = (
        note(f"{bins.number:,} bins", provenance),
        *source.notes(most, question.unit.name),
    )
    noise = _noise(question, tree, most)
    with question.paying() as paid, np.errstate(all="ignore"):
        counts = source.counts(bins, most, paid.receipt)
        noisy = noise.release(tree.sums(counts))
    return _release(paid.source, tree, bins, noise, noisy, notes)


def _unit(budget: Any) -> Unit:
    found: Unit = budget.terms.unit if isinstance(budget, Account) else ROW
    check_counted(found)
    return found


def _noise(question: Question, tree: Tree, most: int) -> Additive:
    """The noise of each node."""
    square = 2 * most * most if question.replacing else most * most
    l1 = tree.levels * (2 * most if question.replacing else most)
    return question.additive(
        float_up(Fraction(l1)), float_up(root_up(tree.levels * square))
    )


def _release(
    source: Any,
    tree: Tree,
    bins: Bins,
    noise: Additive,
    noisy: Integers,
    notes: tuple[str, ...],
) -> Ranges:
    value = tree.fit(noisy)
    levels = np.split(noisy, np.cumsum(tree.sizes)[:-1])
    return Ranges(
        what="count",
        value=value,
        sources=(source,),
        spread=CountSpread(value, _variances(tree, noise), (noise,), nested=True),
        keys=bins.keys,
        notes=notes,
        tree=tree,
        bins=bins,
        noise_of=noise,
        measurements=tuple(levels),
    )


def _variances(tree: Tree, noise: Additive) -> Reals:
    """The variance of each bin's fitted count."""
    above = [np.zeros(tree.sizes[0], np.intp)]
    above += [np.arange(size) // tree.branching for size in tree.sizes[1:]]
    shape, each = Shape(tuple(above)), noise_variance(noise)
    spreads = spreads_of(
        shape, (), ((),), [(each,)] * tree.levels, [False] * tree.levels
    )
    return spreads.variance(tree.levels - 1)
