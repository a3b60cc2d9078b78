"""The size of parts: one for a whole run, with few empty places, and the quicker of two."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn

from dither import Budget
from dither.learn import part_size, preview, train
from dither.learn.gradients.program import Program
from dither.learn.preparing import prepared
from dither.learn.ready import Ready
from dither.learn.replay import Replayed
from dither.learn.run.course import Step
from dither.learn.settings import Settings
from tests.learn.data import UNITS, model, owned, records

MOST = {8: 2.0, 32: 1.25, 64: 1.185, 128: 1.12, 200: 1.12, 1000: 1.12}
"""Rows computed over rows drawn, at most."""


def ratio(size: int, batch: int) -> float:
    """Mean rows computed over mean rows drawn, summed up one by one."""
    counts = range(4 * batch + 50)
    weights = [
        math.exp(n * math.log(batch) - batch - math.lgamma(n + 1)) for n in counts
    ]
    parts = sum(w * math.ceil(n / size) for n, w in zip(counts, weights, strict=True))
    return size * parts / batch


@pytest.mark.parametrize("batch", MOST)
def test_parts_have_few_empty_places(batch: int) -> None:
    size = math.ceil(batch + 2 * math.sqrt(batch))
    found = part_size._dense(size, batch)
    assert ratio(found, batch) <= MOST[batch] + 1e-6
    assert found == size or ratio(found + 1, batch) > MOST[batch] - 0.01
    assert part_size.computed(found, batch) == pytest.approx(ratio(found, batch))


def seconds_by(each: float) -> Any:
    """A part takes so long for each of its rows, and the rest of a second besides."""
    return lambda ready: each * ready.micro + (1 - each)


def settled(batch: int = 128, **more: Any) -> Ready:
    given = Settings(**owned(batch=batch, units=5 * batch) | more)
    return prepared(nn.Linear(4, 3), records(), given, quick=True)


@pytest.mark.parametrize(("each", "smaller"), [(0.0, False), (1.0, True)])
def test_the_quicker_size_is_taken(
    monkeypatch: pytest.MonkeyPatch, each: float, smaller: bool
) -> None:
    monkeypatch.setattr(part_size, "_seconds", seconds_by(each))
    given = Settings(**owned(batch=UNITS // 2))
    ready = prepared(nn.Linear(4, 3), records(), given)
    quick = prepared(nn.Linear(4, 3), records(), given, quick=True)
    assert (quick.micro < ready.micro) == smaller


def test_a_stated_size_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_size, "_seconds", seconds_by(1.0))
    assert settled(micro=50).micro == 50


@pytest.mark.parametrize("batch", [32, 64, 128])
def test_a_run_computes_few_rows_that_are_not_there(
    monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    """The size that a run really takes, and what a preview says of it."""
    run, sizes = Program.run, list[int]()

    def watched(own: Program, rows: Any, count: int, *more: Any) -> Any:
        sizes.append(count)
        return run(own, rows, count, *more)

    def begin(now: Step) -> None:
        if now.step == 1:  # all that comes before is a rehearsal
            sizes.clear()

    given = owned(batch=batch, units=4 * batch, callbacks=[begin])
    data = records(4 * batch)
    monkeypatch.setattr(Program, "run", watched)
    train(model(), data, **given)
    (size,) = set(sizes)
    assert ratio(size, batch) <= MOST[batch]
    shown = preview(model(), data, **given)
    assert size <= shown.micro
    assert f"up to {shown.micro} units at a time" in str(shown)


def out_of_memory(most: int, kind: type[BaseException] = torch.OutOfMemoryError) -> Any:
    """How long a part takes, where there is memory for so many rows."""

    def seconds(ready: Ready) -> float:
        if ready.micro > most:
            raise kind("CUDA out of memory")
        return 1.0

    return seconds


def test_a_size_without_memory_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = settled().micro
    monkeypatch.setattr(part_size, "_seconds", out_of_memory(usual - 1))
    assert settled().micro == usual // 2
    # What cannot be timed is left to the rehearsal.
    monkeypatch.setattr(part_size, "_seconds", out_of_memory(0))
    assert settled().micro == usual // 2
    monkeypatch.setattr(part_size, "_seconds", out_of_memory(0, ValueError))
    assert settled().micro == usual


@pytest.mark.parametrize("most", [0, 17, 1000])
def test_a_paid_run_bears_a_lack_of_memory_in_the_timing(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    run, sizes = Program.run, list[int]()

    def watched(own: Program, rows: Any, count: int, *more: Any) -> Any:
        sizes.append(count)
        return run(own, rows, count, *more)

    monkeypatch.setattr(Program, "run", watched)
    monkeypatch.setattr(part_size, "_seconds", out_of_memory(most))
    account = Budget(50.0, 1e-5)
    given = owned(batch=32, budget=account, epochs=1)
    assert train(model(), records(), **given) is not None
    assert sizes[-1] == (9 if most < 18 else 18)
    assert account.remaining.share < 1


def test_one_graph_is_held_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU: the graph of one size holds its memory while it lives."""
    held, most = [0], [0]

    class Graph:
        def __init__(self) -> None:
            held[0] += 1
            most[0] = max(most[0], held[0])

        def __del__(self) -> None:
            held[0] -= 1

    def capture(own: Replayed, *_: Any) -> None:
        own.graph = Graph()  # type: ignore[assignment]

    monkeypatch.setattr(Replayed, "capture", capture)
    monkeypatch.setattr(Replayed, "_fits", lambda *_: False)
    ready = settled()
    assert ready.replayed.graph is not None
    assert most == [1]
