"""A k-anonymizer: Mondrian (LeFevre, DeWitt & Ramakrishnan 2006) with ranges of numbers
and declared hierarchies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.anonymized import Anonymized
from dither.audit.attacks.columns import coded, columns_of, names_of
from dither.audit.attacks.generalized import Quasi, quasi_identifier
from dither.errors import ArgumentError
from dither.privacy.numbers import whole

__all__ = ["anonymize"]

Rows = NDArray[np.intp]


def anonymize(
    table: Any,
    columns: Sequence[str],
    *,
    secret: str,
    k: int = 5,
    diversity: int = 1,
    hierarchies: Mapping[str, Any] | None = None,
) -> Anonymized:
    """A k-anonymous copy of a table: each person shares the published values of the
    quasi-identifiers (`columns`) with at least k - 1 others. The `secret` column stays
    as it is.

    People are parted again and again, along the column in which they differ most,
    while every part keeps k of them, and at least `diversity` different secrets
    (distinct l-diversity; 1 asks for nothing). Numbers become ranges. Other columns go up
    `hierarchies`, which maps a column to the coarser categories of each value, the
    finest first: {"region": {"Fennick": ("Estmark",), …}}; without one a category is
    published as it is or not at all (*).

    This is no release: k-anonymity has no guarantee, as `homogeneity` and
    `background` show.
    """
    names = names_of(columns, "columns")
    if not isinstance(secret, str) or secret in names:
        raise ArgumentError(
            "secret",
            "must be a column that is not in columns=; pass one such as 'ward'",
        )
    found = columns_of(table, names, "columns") | columns_of(table, [secret], "secret")
    size = len(found[secret])
    least = whole("k", k, "pass the smallest size of a class, such as 5")
    _check(least, size)
    kept = _Kept(least, _diversity(diversity, found[secret]), coded(found[secret])[0])
    above = _hierarchies(hierarchies, names)
    quasi = [quasi_identifier(one, found[one], above.get(one)) for one in names]
    parts = _parted(quasi, np.arange(size), kept)
    return Anonymized.of(least, quasi, parts, secret, found[secret])


@dataclass(frozen=True)
class _Kept:
    """The conditions on every class: a minimum number of people, and of different
    secrets.
    """

    k: int
    diversity: int
    codes: Rows

    def by(self, rows: Rows) -> bool:
        if rows.size < self.k:
            return False
        return self.diversity == 1 or np.unique(self.codes[rows]).size >= self.diversity


def _diversity(given: int, secrets: Sequence[Any]) -> int:
    wanted = whole("diversity", given, "pass how many secrets a class must have")
    most = len(coded(secrets)[1])
    if wanted > most:
        raise ArgumentError(
            "diversity",
            f"must be at most {most:,}, the number of different secrets; pass a smaller "
            "number",
        )
    return wanted


def _check(k: int, size: int) -> None:
    if k < 2:
        raise ArgumentError(
            "k", "must be 2 or more, because a class of one person does not hide anyone"
        )
    if k > size:
        raise ArgumentError(
            "k",
            f"must be at most {size:,}, the number of people; pass a smaller k or a "
            "longer table",
        )


def _hierarchies(given: Any, names: Sequence[str]) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or any(one not in names for one in given):
        raise ArgumentError(
            "hierarchies",
            f"must map columns from {', '.join(names)} to the coarser categories of each "
            "value; pass one such as {'region': {'Fennick': ('Estmark',)}}",
        )
    return given


def _parted(quasi: Sequence[Quasi], everyone: Rows, kept: _Kept) -> list[Rows]:
    """The classes: parts that cannot be parted again."""
    waiting, done = [everyone], []
    while waiting:
        rows = waiting.pop()
        parts = _cut(quasi, rows, kept) if rows.size >= 2 * kept.k else None
        if parts is None:
            done.append(rows)
        else:
            waiting += parts
    return done


def _cut(quasi: Sequence[Quasi], rows: Rows, kept: _Kept) -> list[Rows] | None:
    """The first allowed split along the widest column."""
    widths = [one.width(rows) for one in quasi]
    order = [int(one) for one in np.argsort(widths, kind="stable")[::-1]]
    for place in order:
        if not widths[place]:
            return None
        for parts in quasi[place].splits(rows):
            if all(kept.by(part) for part in parts):
                return parts
    return None
