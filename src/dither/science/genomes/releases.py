"""Frequencies with their intervals, as a table of clusters and variants."""

from __future__ import annotations

import csv
import html
import io
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither import frames
from dither.errors import ArgumentError
from dither.picture import Picture
from dither.release import Release
from dither.science.genomes import pictures
from dither.text import clean
from dither.wording import entitled

__all__ = ["Frequencies", "Table", "plainly"]

Reals = NDArray[np.float64]
SHOWN = 20


class Table(Release, ABC):
    """A release of many numbers that is written down in columns of its own."""

    @abstractmethod
    def _columns(self, confidence: float = 0.95) -> dict[str, Any]:
        """The columns, by their names."""

    def to_pandas(self) -> Any:
        """A pandas frame, with the ends of the intervals."""
        return frames.package("pandas").DataFrame(self._columns())

    def to_polars(self) -> Any:
        """A Polars frame, with the ends of the intervals."""
        return frames.package("polars").DataFrame(self._columns())

    def _number(self, value: float) -> str:
        return f"{value:.4g}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.what}: {len(self):,} entries>"

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """CSV text, or a file of it, with the ends of the intervals."""
        columns = self._columns()
        held = io.StringIO(newline="")
        writer = csv.writer(held, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        if path is None:
            return held.getvalue()
        Path(path).write_text(held.getvalue(), encoding="utf-8")
        return None

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def _derived(self, **changes: Any) -> Release:
        return plainly(self, **changes)

    def _lines(self) -> list[str]:
        """The first entries; a panel may be long."""
        lines = [entitled(self.what)]
        columns = (self.keys or (), self.value, *self.interval())
        for key, value, low, high in islice(zip(*columns, strict=True), SHOWN):
            name = clean(" ".join(key) if isinstance(key, tuple) else str(key))
            shown = (self._number(one) for one in (value, low, high))
            lines.append("  {}: {} ({} to {})".format(name, *shown))
        if len(self) > SHOWN:
            lines.append(f"  … and {len(self) - SHOWN:,} more")
        return lines


def plainly(release: Release, **changes: Any) -> Release:
    """A release without what its field added: after arithmetic it no longer fits."""
    plain = Release(
        release.what,
        release.value,
        release.sources,
        release.spread,
        release.keys,
        release.notes,
        release.noise,
    )
    return replace(plain, **changes)


@dataclass(frozen=True, eq=False, repr=False)
class Frequencies(Table):
    """Allele frequencies: an entry for each cluster and variant, cluster by cluster.

    `f["rs1"]`, or `f["north", "rs1"]` where there are clusters, is one of them;
    `f.cluster("north")` are those of one cluster, and `f.matrix` has a row for each.
    `called` is the noisy number of people called at each variant, where that was
    charged; `people` what it says about them all, which the frequencies come from.
    """

    panel: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    people: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros((0, 0), np.int64)
    )
    called: NDArray[np.int64] | None = None

    @property
    def matrix(self) -> Reals:
        """Clusters by variants."""
        return np.reshape(self.value, (len(self.clusters), len(self.panel)))

    def cluster(self, name: str) -> Frequencies:
        """The frequencies of one cluster."""
        if name not in self.clusters:
            known = clean(", ".join(self.clusters[:8]))
            words = f"{name!r:.40} is not a cluster; pass one of {known}"
            raise ArgumentError("name", words)
        at = self.clusters.index(name)
        part = slice(at * len(self.panel), (at + 1) * len(self.panel))
        return replace(
            self,
            what=f"{self.what} {clean(name)}",
            value=self.value[part],
            spread=_Part(self, part),
            keys=self.panel,
            clusters=(name,),
            people=self.people[at : at + 1],
            called=None if self.called is None else self.called[at : at + 1],
        )

    def __getitem__(self, key: Any) -> Release:
        """One frequency, or those of one cluster."""
        if isinstance(key, str) and key in self.clusters and key not in self.panel:
            return self.cluster(key)
        found = super().__getitem__(key)
        if isinstance(key, tuple):
            found = replace(found, what=clean(f"{self.what} {' '.join(map(str, key))}"))
        return found

    def _columns(self, confidence: float = 0.95) -> dict[str, Any]:
        low, high = self.interval(confidence)
        return {
            "cluster": np.repeat(self.clusters, len(self.panel)),
            "variant": np.tile(self.panel, len(self.clusters)),
            "frequency": self.value,
            "low": low,
            "high": high,
            **({} if self.called is None else {"called": self.called.ravel()}),
        }

    def _number(self, value: float) -> str:
        return f"{value:.3f}"

    def plot(self, confidence: float = 0.95) -> Picture:  # type: ignore[override]
        """Each frequency with its interval, by variant; of large panels, frequencies
        in their order with the band of their intervals.
        """
        low, high = self.interval(confidence)
        shape = self.matrix.shape
        ends = np.reshape(low, shape), np.reshape(high, shape)
        return pictures.frequencies(self.panel, self.clusters, self.matrix, *ends)

    def to_frq(self, path: str | Path | None = None) -> str | None:
        """The table that `plink --freq` writes (.frq, and .frq.strat with clusters),
        with the ends of the intervals in two more columns: its text, or a file of it.

        `MAF` is the frequency of the counted allele, so it may be above 1/2. `NCHROBS`
        is about right: it comes from noisy or declared calls.
        """
        text = "\n".join("\t".join(row) for row in self._frq()) + "\n"
        if path is None:
            return text
        Path(path).write_text(text, encoding="utf-8")
        return None

    def _frq(self) -> Iterator[tuple[str, ...]]:
        stratified = len(self.clusters) > 1
        yield (
            *("CHR", "SNP", *(["CLST"] if stratified else [])),
            *("A1", "A2", "MAF", "NCHROBS", "LOW", "HIGH"),
        )
        columns = self._columns()
        called = self.people.ravel()
        for at, name in enumerate(columns["variant"]):
            parts = str(name).split(":")
            placed = len(parts) == 4
            chromosome = parts[0] if placed else "0"
            alleles = (parts[3], parts[2]) if placed else ("0", "0")
            cluster = [str(columns["cluster"][at])] if stratified else []
            numbers = (columns[one][at] for one in ("frequency", "low", "high"))
            value, low, high = (f"{number:.6g}" for number in numbers)
            yield (
                *(chromosome, str(name), *cluster, *alleles),
                *(value, str(2 * called[at]), low, high),
            )


@dataclass(frozen=True)
class _Part:
    """The intervals of one cluster."""

    whole: Release
    part: slice

    def ends(self, confidence: float) -> tuple[Any, Any]:
        low, high = self.whole.interval(confidence)
        return low[self.part], high[self.part]
