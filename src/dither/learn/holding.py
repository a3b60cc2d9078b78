"""Which units are held out of training: those of other records, or a part of its own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.ids import hashed
from dither.learn.preparing import Ready
from dither.learn.rows import Units, units_of
from dither.learn.validation import HeldOut
from dither.ledger import Receipt
from dither.noise import random_words, secret_bytes

__all__ = ["held_out"]

RANGE = 1 << 64


def held_out(
    ready: Ready, units: Units, owners: Any, receipt: Receipt | None
) -> tuple[Units, HeldOut | None]:
    """The units to train on, and those that measure, if the plan pays for that."""
    plan = ready.plan
    if plan.validation is None:
        return units, None
    part = plan.validation.part
    if part is not None:
        units, others = split(units, owners, part)
    else:
        assert ready.held is not None
        others = units_of(*ready.held.read(receipt), plan.rows)
    held = HeldOut(
        plan.validation,
        others,
        ready.model,
        ready.settings.loss,
        ready.probed,
        plan.run.unit,
        ready.micro,
        ready.device,
        ready.process,
    )
    return units, held


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
