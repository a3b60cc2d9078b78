"""A part of a batch that fails: for a record, which is then left out, or for the machine,
which no record may be blamed for (rule R25).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import nn

from dither.errors import MachineFailed
from dither.learn.failures import attempted, is_machine
from dither.learn.rows import Batch

__all__ = [
    "Outcome",
    "cleared",
    "each_part",
    "failed_too",
    "half",
    "proved",
    "start_again",
    "tried",
]

T = TypeVar("T")
BLAME = (
    "the run stopped after its charge: made-up rows with the starting weights, which were "
    "computed before, now fail too, so no record is the cause. Free memory, or pass "
    "another device; pass resume= if there is a checkpoint"
)


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """A result, or what kind of failure stands in its place."""

    found: T | None
    failed: bool = False
    machine: bool = False


def tried(compute: Callable[[], T]) -> Outcome[T]:
    """Nothing of a failed attempt is held once this returns."""
    found, error = attempted(compute)
    if error is None:
        return Outcome(found)
    return Outcome(None, failed=True, machine=is_machine(error))


def failed_too() -> MachineFailed:
    return MachineFailed(BLAME)


def proved(compute: Callable[[], T], proof: Callable[[], object]) -> Outcome[T]:
    """The outcome for a unit that failed once. `proof` computes the same for made-up
    rows and the starting weights, which was done before the charge: if that fails now,
    the machine is the cause. If it does not, the unit is tried once more, because a
    machine may fail for a moment.
    """
    if tried(proof).failed:
        raise failed_too()
    return tried(compute)


def each_part(
    batch: Batch,
    rows: int,
    compute: Callable[[Batch], T],
    proof: Callable[[], object],
) -> Iterator[tuple[Batch, T | None]]:
    """The result for a batch. If some record makes it fail, results for halves of it,
    and None for a unit that fails by itself. A failure that reads like the machine's, and
    one that would leave a unit out, are proved first.
    """
    outcome = tried(lambda: compute(batch))
    halves = batch.halves(rows) if outcome.failed else []
    if outcome.machine or (outcome.failed and not halves):
        outcome = proved(lambda: compute(batch), proof)
    if not outcome.failed or not halves:
        yield batch, outcome.found
        return
    for one in halves:
        yield from each_part(one, rows, compute, proof)


def half(size: int) -> int:
    return -(-size // 2)


def cleared(device: torch.device) -> None:
    """Free what a failed attempt has left."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()


def start_again(model: nn.Module, fresh: nn.Module) -> None:
    """Put the starting weights into a model, whose own weights the caller holds."""
    with torch.no_grad():
        for one, start in zip(model.parameters(), fresh.parameters(), strict=True):
            one.copy_(start)
