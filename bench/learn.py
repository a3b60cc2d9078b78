"""Training: a private step beside a plain one and every mode of Opacus, in CPU time and
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from bench.harness import (
    Goal,
    Report,
    Row,
    at_least,
    at_most,
    cpu_seconds,
    medians,
    versions,
)
from bench.peers import InstallError, Worker
from bench.scripts.learn_models import made, plain_gradients, plain_step
from bench.scripts.learn_private import gradients, noise_for, private_step

MINE, PLAIN = "dither", "plain SGD"
MODES = ("hooks", "functorch", "ew", "ghost")
LIMITS = {"CNN": 1.6, "MLP": 1.3, "transformer": 1.5}
"""Gradient work beside that of a plain step, at most."""
SIZES = {
    "CNN": "CNN, 26 k parameters, batch 128",
    "MLP": "MLP, 670 k, batch 128",
    "transformer": "transformer, 661 k, 64 words, batch 32",
}
REPEATS = {"CNN": 41, "MLP": 41, "transformer": 15}
NANOSECONDS = 18.0
MEMORY = 1.3
WORK, TOTAL, PEAK = "gradient work, ms", "whole step, ms", "peak memory, MB"
NOISE = "noise, ns a parameter"
NOTES = (
    "One thread; CPU time, medians of interleaved steps; memory in processes of their "
    "own, after three steps.",
    "Gradient work is the sum of clipped gradients, beside plain gradients of the same "
    "batch. A whole step has noise and the optimizer's update too. Opacus draws its "
    "noise by PyTorch's generator, which is not made for secrets.",
    "Plain steps share a process with private ones, and with it what training says to "
    "the allocator of memory, which spares them a few per cent of their time. Opacus "
    "has a process of its own.",
)


def work(name: str) -> Iterator[Row]:
    """Gradients alone, and noise alone."""
    model, inputs, targets = made(name)
    private = gradients(model, inputs, targets)
    size = sum(one.numel() for one in model.parameters())
    systems: dict[str, Callable[[], float]] = {
        PLAIN: lambda: cpu_seconds(lambda: plain_gradients(model, inputs, targets)),
        MINE: lambda: cpu_seconds(private),
    }
    found = medians(systems, REPEATS[name])
    alone = {"noise": lambda: cpu_seconds(lambda: noise_for(model))}
    found |= medians(alone, REPEATS[name])
    for system in (PLAIN, MINE):
        yield Row(SIZES[name], system, WORK, round(found[system] * 1e3, 3))
    yield Row(SIZES[name], MINE, NOISE, round(found["noise"] * 1e9 / size, 2))


def steps(name: str, peer: Worker | None, notes: list[str]) -> Iterator[Row]:
    """Whole steps."""
    systems: dict[str, Callable[[], float]] = {
        PLAIN: _timed(plain_step(*made(name))),
        MINE: _timed(private_step(*made(name))),
    }
    for mode in MODES if peer is not None else ():
        first = _asked(peer, name, mode, "time")
        if isinstance(first, str):
            notes.append(f"{SIZES[name]}: Opacus, {mode}, does not run: {first}")
        else:
            systems[f"Opacus, {mode}"] = lambda mode=mode: _asked(  # type: ignore[misc]
                peer, name, mode, "time"
            )
    for system, value in medians(systems, REPEATS[name]).items():
        yield Row(SIZES[name], system, TOTAL, round(value * 1e3, 3))


def _timed(step: Callable[[], None]) -> Callable[[], float]:
    return lambda: cpu_seconds(step)


def _asked(peer: Worker | None, name: str, mode: str, metric: str) -> Any:
    assert peer is not None
    return peer.ask(model=name, mode=mode, metric=metric)


def memory(name: str, *, peers: bool) -> Iterator[Row]:
    for system, mode in ((PLAIN, "plain"), (MINE, "private")):
        with Worker(None, "learn_memory") as worker:
            value = worker.ask(model=name, mode=mode)
        yield Row(SIZES[name], system, PEAK, None if value is None else round(value, 1))
    for mode in MODES if peers else ():
        with Worker("opacus", "learn_opacus") as worker:
            value = _asked(worker, name, mode, "memory")
        if isinstance(value, float):
            yield Row(SIZES[name], f"Opacus, {mode}", PEAK, round(value, 1))


def goals(rows: list[Row]) -> Iterator[Goal]:
    found = {(row.case, row.system, row.metric): row.value for row in rows}

    def ratio(name: str, metric: str) -> float | None:
        pair = [found.get((SIZES[name], one, metric)) for one in (MINE, PLAIN)]
        return None if None in pair else round(pair[0] / pair[1], 3)  # type: ignore[operator]

    for name, limit in LIMITS.items():
        case = SIZES[name]
        goal = f"{case}: gradient work beside plain"
        yield at_most(goal, limit, ratio(name, WORK))
        yield at_most(
            f"{case}: noise, ns a parameter", NANOSECONDS, found[case, MINE, NOISE]
        )
        others = [
            row.value
            for row in rows
            if row.case == case and row.metric == TOTAL and "Opacus" in row.system
        ]
        best = min((one for one in others if one is not None), default=None)
        mine = found[case, MINE, TOTAL]
        times = None if best is None or mine is None else round(best / mine, 2)
        yield at_least(f"{case}: times as fast as Opacus's best mode", 1.0, times)
    for name in ("MLP", "transformer"):
        goal = f"{SIZES[name]}: peak memory beside plain"
        yield at_most(goal, MEMORY, ratio(name, PEAK))


def run() -> Report:
    notes = list(NOTES)
    rows: list[Row] = []
    try:
        peer: Worker | None = Worker("opacus", "learn_opacus")
    except (InstallError, RuntimeError) as error:
        peer = None
        notes.append(f"Opacus was not measured: {error}")
    for name in LIMITS:
        rows += work(name)
        rows += steps(name, peer, notes)
        rows += memory(name, peers=peer is not None)
    if peer is not None:
        peer.__exit__(None, None, None)
    seen = versions("dither", "torch", "numpy") | {"opacus": "1.6.0"}
    return Report(tuple(rows), tuple(goals(rows)), tuple(notes), seen)


def cuda() -> Report:
    """Steps on a GPU."""
    if not torch.cuda.is_available():
        raise SystemExit("there is no GPU here")
    from bench.scripts.learn_cuda import report

    return report()
