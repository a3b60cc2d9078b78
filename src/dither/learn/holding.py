"""Which units are held out of training: those of other records, or a part of its own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.ids import hashed
from dither.learn.ready import Ready
from dither.learn.rows import Rows, Units, units_of
from dither.learn.source import Read
from dither.learn.validation import HeldOut, Validation
from dither.ledger import Receipt
from dither.noise import random_words, secret_bytes

__all__ = ["Records", "held_of", "split"]

RANGE = 1 << 64


@dataclass(frozen=True)
class Records:
    """Records that were read: those of a run, and others that measure it, if there are
    any. The runs of a search share them.
    """

    rows: Rows
    owners: Any
    others: Read | None = None

    @classmethod
    def read(cls, ready: Ready, receipt: Receipt | None) -> Records:
        rows, owners = ready.source.read(receipt)
        others = None if ready.held is None else ready.held.read(receipt)
        return cls(rows, owners, others)

    def units(self, ready: Ready) -> tuple[Units, HeldOut | None]:
        """The units to train on, and those that measure, if the plan pays for that."""
        plan = ready.plan
        units = units_of(self.rows, self.owners, plan.rows)
        if plan.validation is None:
            return units, None
        if plan.validation.part is not None:
            units, others = split(units, self.owners, plan.validation.part)
        else:
            assert self.others is not None
            others = units_of(*self.others, plan.rows)
        return units, held_of(ready, plan.validation, others)


def held_of(ready: Ready, validation: Validation, others: Units) -> HeldOut:
    """The measurement of a run on these units."""
    return HeldOut(
        validation,
        others,
        ready.model,
        ready.fresh,
        ready.settings.loss,
        ready.probed,
        ready.source.schema,
        ready.plan.run.unit,
        ready.micro,
        ready.device,
        ready.process,
    )


def split(units: Units, owners: Any, part: Fraction) -> tuple[Units, Units]:
    """The units without a part of them, and that part. Whether a unit is in it depends
    on a fresh key and on its id alone (rule R8); of rows that are units, on a coin.
    """
    if owners is None:
        words = random_words(2 * len(units)).view(np.uint64)
    else:
        words = hashed(owners, units.order[units.begin[:-1]], secret_bytes(32))
    out = words < np.uint64(int(part * RANGE))
    return _those(units, ~out), _those(units, out)


def _those(units: Units, chosen: NDArray[np.bool_]) -> Units:
    sizes = np.diff(units.begin)
    order = units.order[np.repeat(chosen, sizes)]
    begin = np.concatenate([[0], np.cumsum(sizes[chosen])]).astype(np.intp)
    return Units(units.rows, begin, order, units.most)
