"""One launch for all gradients of a part of a batch.

On a GPU the kernels of a part take less time than Python takes to launch them. All parts
have one shape, so they are captured once, as a CUDA graph, with made-up rows and before
anything is charged; then each part is copied into its place and the graph is replayed.
A graph does what it did when it was captured, so models that draw numbers on the CPU,
wait for the GPU, or give other sums when replayed are launched as usual. A graph holds
the memory of its part; if there is not enough, parts become smaller.
"""

from __future__ import annotations

import random  # allowed: only its state is compared
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from dither.learn.failures import FAILED, is_shortage
from dither.learn.gradients.clipping import Clipping
from dither.learn.gradients.oracle import Oracle, Traced, Weights, odd_units
from dither.learn.rows import Batch

__all__ = ["Replayed"]

Sums = dict[str, Tensor]
NEAR = 1e-3
"""Largest difference between sums and those of a usual launch: not all kernels add in
one order.
"""


@dataclass(frozen=True)
class Graph:
    """The captured graph, and the places of its rows and sums."""

    graph: Any
    batch: Batch
    clipping: Clipping
    odd: Tensor
    sums: Sums
    places: list[int]

    def replay(self, batch: Batch) -> Sums | None:
        """Sums of these rows, until the next replay overwrites them; None if some unit's
        gradient is odd.
        """
        pairs = zip(_tensors(self.batch), _tensors(batch), strict=True)
        for own, given in pairs:
            own.copy_(given)
        self.graph.replay()
        return None if bool(self.odd) else dict(self.sums)


@dataclass
class Replayed:
    """Sums by an oracle, or by what was captured of it."""

    oracle: Oracle
    graph: Graph | None = field(default=None, repr=False)

    def sums(
        self,
        batch: Batch,
        weights: Weights,
        rows: int,
        begin: Callable[[], None] | None = None,
    ) -> Sums:
        """Those of a part. What is called to `begin` gives each try the same draws."""
        begin = begin or (lambda: None)
        begin()
        if self._fits(batch, weights, rows):
            assert self.graph is not None
            found = self.graph.replay(batch)
            if found is not None:
                return found
            begin()
        own = batch.map(torch.clone)  # a program may write into it
        return self.oracle.sums(own.inputs, own.targets, own.there, weights, rows)

    def _fits(self, batch: Batch, weights: Weights, rows: int) -> bool:
        if self.graph is None or rows != 1 or weights is not self.graph.clipping:
            return False
        same = _shapes(batch) == _shapes(self.graph.batch)
        return same and self.graph.places == _places(self.oracle)

    def capture(self, batch: Batch, clipping: Clipping, rows: int) -> None:
        """Try to capture sums of a part like this one. An error is raised if memory is
        short and the part can be smaller; CUDA's other errors are what a model gets that
        cannot be captured.
        """
        if rows != 1 or not _on_gpu(batch) or not isinstance(self.oracle, Traced):
            return
        short = False
        try:
            with torch.cuda.device(batch.there.device):
                self.graph = self._tried(self.oracle, batch, clipping)
        except FAILED as error:  # what cannot be captured is launched as usual
            self.graph, short = None, is_shortage(error)
        if short and len(batch.there) > 1:
            raise MemoryError("out of memory while a part was captured")

    def _tried(self, oracle: Traced, batch: Batch, clipping: Clipping) -> Graph | None:
        before, begin = _drawn(), torch.cuda.get_rng_state()
        usual = _usual(oracle, batch, clipping)
        if _drawn() != before:
            return None
        graph = _captured(oracle, batch, clipping)
        # What a model drops out is then the same, too.
        torch.cuda.set_rng_state(begin)
        again = graph.replay(batch)
        return graph if again is not None and _near(usual, again) else None


def _on_gpu(batch: Batch) -> bool:
    return batch.there.is_cuda


def _usual(oracle: Traced, batch: Batch, clipping: Clipping) -> Sums:
    """Sums without a graph, on a stream of their own as a capture asks for."""
    given = (batch.inputs, batch.targets, batch.there)
    stream: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        found = oracle.sums(*given, clipping)
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    return found


def _captured(oracle: Traced, batch: Batch, clipping: Clipping) -> Graph:
    own = batch.map(torch.clone)
    torch.cuda.empty_cache()
    graph: Any = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        found = oracle.measured(own.inputs, own.targets, own.there)
        odd = odd_units(found).any()
        sums = oracle.clipped(found, clipping)
    return Graph(graph, own, clipping, odd, sums, _places(oracle))


def _drawn() -> list[Any]:
    """The states of generators on the CPU."""
    usual: Any = np.random.get_state()  # allowed: only compared
    words = (usual[1].tobytes(), *usual[2:])
    return [random.getstate(), words, torch.get_rng_state().tolist()]


def _near(usual: Sums, again: Sums) -> bool:
    apart = _length({name: one - again[name] for name, one in usual.items()})
    return apart <= NEAR * _length(usual) + 1e-6


def _length(sums: Sums) -> float:
    squares = [one.double().square().sum() for one in sums.values()]
    return float(torch.stack(squares).sum().sqrt())


def _tensors(batch: Batch) -> list[Tensor]:
    return [*tree_leaves(batch.inputs), batch.targets, batch.there]


def _shapes(batch: Batch) -> list[Any]:
    return [(one.shape, one.dtype, one.device) for one in _tensors(batch)]


def _places(oracle: Oracle) -> list[int]:
    """Addresses of parameters and buffers: a graph knows no other place."""
    held = (*oracle.model.parameters(), *oracle.model.buffers())
    return [one.data_ptr() for one in held]
