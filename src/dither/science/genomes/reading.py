"""What people hold, recognised by its type or its file's name; a package is imported
only where its type was passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.question import Paid
from dither.science.genomes.clusters import Roster
from dither.science.genomes.counts import Counts
from dither.science.genomes.matrix import Calls, Frame, Matrix
from dither.science.genomes.panel import Panel
from dither.science.genomes.plink import Plink
from dither.science.genomes.stored import Stored
from dither.science.genomes.vcf import Vcf
from dither.science.genomes.zarr import VcfZarr

__all__ = ["MISSING", "Genotypes", "absent_of", "dataset_of", "genotypes", "read"]

MISSING, REFERENCE = "missing", "reference"

WAY_OUT = (
    "pass a matrix of people by variants with 0, 1 or 2 copies, a .bed, .vcf or .bcf "
    "file, or a VCF-Zarr folder"
)


class Genotypes(Protocol):
    """Data that can be counted, once that was paid for. `allele` says what a copy is
    a copy of.
    """

    allele: ClassVar[str]

    def check(self, roster: Roster) -> None:
        """Refuse what cannot be read, by what is public."""

    def count(self, panel: Panel, roster: Roster) -> Counts:
        """Counts of the panel's entries. Never fails because of the genotypes: what
        is not there, or no genotype, is a missing call.
        """


def genotypes(data: Any, panel: Panel | None = None, variants: Any = None) -> Genotypes:
    """The data behind `X`, not yet read. `variants` names the columns of a matrix."""
    if isinstance(data, str | Path):
        return _file(Path(data))
    if isinstance(data, Dataset):
        stored = Stored(data)
        if panel is not None:
            stored.check_bounds(panel)
        return stored
    home = type(data).__module__.partition(".")[0]
    if home == "zarr" and hasattr(data, "members"):
        return VcfZarr(data)
    names = _names(variants)
    if home in ("pandas", "polars") and len(getattr(data, "shape", ())) == 2:
        return Frame(data, names)
    dimensions = 2 if isinstance(data, list | tuple) else getattr(data, "ndim", 0)
    # no people at all, as numpy makes it of an empty list
    dimensions = 2 if getattr(data, "shape", None) == (0,) else dimensions
    listed = isinstance(data, list | tuple) or hasattr(data, "__array__")
    if listed and dimensions == 2:
        return Matrix(data, names)
    if listed and dimensions == 3:
        return Calls(data, names)
    kind = type(data).__name__
    raise ArgumentError("X", f"genotypes cannot be read from {kind}; {WAY_OUT}")


def dataset_of(data: Genotypes) -> Dataset | None:
    """The dataset whose account pays, if the data is in one."""
    return data.dataset if isinstance(data, Stored) else None


def absent_of(absent: Any) -> bool:
    """Whether entries that have no record mean that nobody carries the allele."""
    if absent not in (MISSING, REFERENCE):
        words = f'must be "{MISSING}" or "{REFERENCE}", not {absent!r:.40}'
        raise ArgumentError("absent", words)
    return bool(absent == REFERENCE)


def read(
    data: Genotypes, panel: Panel, roster: Roster, paid: Paid, reference: bool
) -> Counts:
    """Counts of what was paid for."""
    if isinstance(data, Stored):
        data = replace(data, receipt=paid.receipt)
    counts = data.count(panel, roster)
    return counts.with_reference() if reference else counts


def _file(path: Path) -> Genotypes:
    name = path.name.casefold()
    if name.endswith((".bed", ".bim", ".fam")):
        return Plink(path)
    if name.endswith((".vcf", ".vcf.gz", ".vcf.bgz", ".bcf")):
        return Vcf(path)
    if name.endswith((".zarr", ".vcz")) or path.is_dir():
        return VcfZarr(path)
    raise ArgumentError("X", f"{path.name!r} is not a file of genotypes; {WAY_OUT}")


def _names(variants: Any) -> list[str] | None:
    if variants is None:
        return None
    wrong = isinstance(variants, str | bytes | Mapping | Set)
    if wrong or not hasattr(variants, "__len__"):
        raise ArgumentError(
            "variants",
            "must be a list of the columns' ids, in the order of the columns",
        )
    return [str(one) for one in variants]
