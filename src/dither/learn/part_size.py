"""The number of units that are differentiated together: it must fit in memory, and few
places of a part may be empty.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import partial

import numpy as np
import torch

from dither.learn.draws import Draws
from dither.learn.gradients.oracle import Traced
from dither.learn.made_up import made_up_part
from dither.learn.mixing import check_batch_apart
from dither.learn.parts import cleared, failed_too, half, tried
from dither.learn.planning import Plan
from dither.learn.probe import check_unchanged, probe_final
from dither.learn.ready import Ready
from dither.learn.replay import Replayed
from dither.learn.rows import Batch
from dither.learn.silence import silently
from dither.learn.state import Held
from dither.privacy.numbers import whole

__all__ = ["computed", "fitted", "micro_of", "part_of", "quickest", "smaller"]

ROWS_AT_ONCE = 512
"""Rows that are differentiated together at most, unless `micro` says otherwise."""
EMPTY = {32: 1.25, 128: 1.12}
"""Rows computed over rows drawn, at most, for these batches and larger ones."""
TRIES = 3


def micro_of(micro: int | None, plan: Plan) -> int:
    """Units that are differentiated together: as many as said, else the largest number
    that leaves few places empty. About one batch in twenty is larger than its mean by
    two standard deviations; the others would fit into one part, if there is memory.
    """
    if micro is not None:
        return whole(
            "micro", micro, "pass the number of units that fit in memory, such as 64"
        )
    span = math.ceil(plan.batch + 2 * math.sqrt(plan.batch))
    parts = math.ceil(span * plan.rows / ROWS_AT_ONCE)
    return _dense(math.ceil(span / parts), plan.batch)


def part_of(ready: Ready) -> Batch:
    """A full part of made-up rows."""
    count = ready.micro * ready.plan.rows
    part = made_up_part(ready.source.schema, count, ready.model)
    return ready.probed.fitting(part.to(ready.device))


def fitted(ready: Ready) -> Ready:
    """Differentiate a full part of made-up rows. All parts have the shapes of this one."""
    oracle, rows = ready.probed.oracle, ready.plan.rows
    clipping = ready.radius.clipping
    held, draws = Held.of(ready.model), Draws.now(ready.device)
    try:
        batch = part_of(ready)
        replayed = Replayed(oracle)
        replayed.sums(batch, clipping, rows)
        if isinstance(oracle, Traced):
            check_batch_apart(ready.model, batch.inputs)
        check_unchanged(held)
        if ready.radius.rule is None:
            held.restore()
            replayed.capture(batch, clipping, rows)
        final = None
        asked = ready.plan.validation
        if asked is not None:
            loss = None if asked.bound is None else ready.settings.loss
            source = ready.source
            given = (source.schema, ready.device, source.classes)
            final = probe_final(ready.model, loss, *given)
    finally:
        held.restore()
        draws.restore()
    probed = replace(ready.probed, final=final)
    return replace(ready, probed=probed, replayed=replayed)


def quickest(ready: Ready) -> Ready:
    """The run in parts of a dense size, all of them or half, by what takes less time for
    made-up rows: smaller parts have fewer empty places, but each part costs something
    by itself. A stated size is kept.

    A size for which the machine fails is not taken. What else fails is left to the
    rehearsal, which says what it is and halves what does not fit.
    """
    size, batch = ready.micro, ready.plan.batch
    if ready.settings.micro is not None or size == 1:
        return ready
    sizes = size, _dense(half(size), batch)
    costs = {}
    for one in sizes:
        # Nothing of one size, least of all its graph, is there while another is tried.
        outcome = tried(partial(_seconds, replace(ready, micro=one)))
        if outcome.found is not None:
            costs[one] = _parts(one, batch) * outcome.found
        elif outcome.machine:
            cleared(ready.device)
        else:
            return ready
    return replace(ready, micro=min(costs, key=costs.__getitem__, default=sizes[-1]))


def _dense(size: int, batch: int) -> int:
    """The largest size up to this one with few empty places on average."""
    limit = _limit(batch)
    sizes = range(size, 0, -1)
    return next((one for one in sizes if computed(one, batch) <= limit), 1)


def _limit(batch: int) -> float:
    """Rows computed over rows drawn, at most: between the batches of `EMPTY` it goes by
    their ratio, and a small batch may leave eight places empty.
    """
    small, _ = EMPTY
    if batch < small:
        return 1 + 8 / batch
    logs = [math.log(one) for one in EMPTY]
    return float(np.interp(math.log(batch), logs, list(EMPTY.values())))


def computed(size: int, batch: int) -> float:
    """Mean rows computed over mean rows drawn, in parts of this size."""
    return size * _parts(size, batch) / batch


def _parts(size: int, batch: int) -> float:
    """The mean number of parts of a Poisson batch."""
    span = 8 * math.sqrt(batch)
    counts = np.arange(max(0, math.floor(batch - span)), math.ceil(batch + span) + 1)
    logs = [n * math.log(batch) - batch - math.lgamma(n + 1) for n in counts.tolist()]
    return float(np.exp(logs) @ np.ceil(counts / size))


def _seconds(ready: Ready) -> float:
    """The shortest of a few times that a part takes, captured if it can be."""
    held, draws = Held.of(ready.model), Draws.now(ready.device)
    replayed, found = Replayed(ready.probed.oracle), math.inf
    clipping, rows = ready.radius.clipping, ready.plan.rows
    try:
        with silently():
            batch = part_of(ready)
            replayed.sums(batch, clipping, rows)
            if ready.radius.rule is None:
                held.restore()
                replayed.capture(batch, clipping, rows)
            for _ in range(TRIES):
                began = time.perf_counter()
                replayed.sums(batch, clipping, rows)
                if ready.device.type == "cuda":
                    torch.cuda.synchronize(ready.device)
                found = min(found, time.perf_counter() - began)
    finally:
        replayed.graph = None  # it holds the memory of a whole part
        held.restore()
        draws.restore()
    return found


def smaller(ready: Ready) -> Ready:
    """The run in parts of half the size, or of a size that fits. Only made-up rows are
    looked at.
    """
    ready.replayed.graph = None  # it holds the memory of a whole part
    while ready.micro > 1:
        ready = replace(ready, micro=half(ready.micro))
        cleared(ready.device)
        outcome = tried(partial(_synchronized, ready))
        if outcome.found is not None:
            return outcome.found
    raise failed_too()


def _synchronized(ready: Ready) -> Ready:
    """The run with parts that fit; a GPU reports its errors late."""
    found = fitted(ready)
    if ready.device.type == "cuda":
        torch.cuda.synchronize(ready.device)
    return found
