"""Memory of a run of training, before it, early, late and after it: a step keeps nothing,
and a run gives back what it held.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from bench.harness import Goal, Report, Row, at_most, versions
from bench.peers import Worker
from bench.scripts.learn_steps import CASES, EARLY, LATE

MINE = "dither"
KINDS = {"cpu": "resident memory", "cuda": "allocated memory"}
TENSORS = "tensors {}"
BEFORE, AFTER = "before the run", "after the run"
FIRST, LAST = f"at step {EARLY:,}", f"at step {LATE:,}"
MOMENTS = (BEFORE, FIRST, LAST, AFTER)
LIMIT = 1.01
NOTES = (
    "Each run in a process of its own, in one thread; counted after garbage was "
    "collected. On the CPU memory is what is resident, which holds what the libraries "
    "loaded on the way and what the allocator keeps; on a GPU it is what PyTorch has "
    "allocated.",
    "Of a search, which has six runs of 300 steps, step 10 is in the third run: until "
    "then fewer models are held. Of PATE, a step is a teacher, and the process is the "
    "one that counts their votes.",
)


def measured(case: str, device: str) -> Iterator[Row]:
    with Worker(None, "learn_steps") as worker:
        found = worker.ask(case=case, device=device)
    for place, moment in enumerate(MOMENTS):
        metric = _memory(device).format(moment)
        yield Row(case, MINE, metric, found[2 * place])
        yield Row(case, MINE, TENSORS.format(moment), found[2 * place + 1])


def _memory(device: str) -> str:
    return f"{KINDS[device]} {{}}, MB"


def goals(rows: list[Row], device: str = "cpu") -> Iterator[Goal]:
    found = {(row.case, row.metric): row.value or 0.0 for row in rows}
    for case in dict.fromkeys(row.case for row in rows):
        for metric in (_memory(device), TENSORS):
            early, late = (found[case, metric.format(one)] for one in (FIRST, LAST))
            what = metric.partition(" {")[0]
            goal = f"{case}: {what} {LAST} beside step {EARLY}"
            yield at_most(goal, LIMIT, round(late / max(early, 1), 4))
        before, after = (
            found.get((case, TENSORS.format(one))) for one in (BEFORE, AFTER)
        )
        if (
            before is None or after is None
        ):  # of a run that was measured before this was
            continue
        yield at_most(f"{case}: tensors kept after the run", 0, after - before)


def run(device: str = "cpu") -> Report:
    rows = [row for case in CASES for row in measured(case, device)]
    return Report(
        tuple(rows), tuple(goals(rows, device)), NOTES, versions("torch", "numpy")
    )


def cuda() -> Report:
    """The same on a GPU; PATE's votes are counted on the CPU."""
    if not torch.cuda.is_available():
        raise SystemExit("there is no GPU here")
    return run("cuda")
