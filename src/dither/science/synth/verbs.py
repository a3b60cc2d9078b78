"""`Dataset.synth`: a synthetic table of a private one, over what is declared of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dither.errors import ArgumentError
from dither.science.synth.catalogue import BINS
from dither.science.synth.domain import Domain

if TYPE_CHECKING:
    from dither.dataset import Dataset

__all__ = ["ask", "domain_of"]

ROOM = "dither.science.synth"


def ask(
    dataset: Dataset,
    domain: Any,
    columns: Sequence[str] | None,
    table: str | None,
    bins: Any,
    words: Mapping[str, Any],
) -> Any:
    """Make the table, which the dataset's account pays for."""
    found = domain_of(dataset, domain, columns, table, bins)
    stated = {name: value for name, value in words.items() if value is not None}
    return import_module(ROOM).mst(dataset, domain=found, name=table, **stated)


def domain_of(
    dataset: Dataset,
    domain: Any = None,
    columns: Sequence[str] | None = None,
    table: str | None = None,
    bins: Any = None,
) -> Domain:
    """The domain that was passed, or what the dataset's catalogue declares; of these,
    the named columns.
    """
    if domain is None:
        stated = BINS if bins is None else bins
        return Domain.of(dataset, table=table, columns=columns, bins=stated)
    if bins is not None:
        raise ArgumentError("bins", "cannot be combined with domain=; leave bins out")
    found = domain if isinstance(domain, Domain) else Domain(domain)
    return found if columns is None else found.only(columns)
