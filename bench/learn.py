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
    at_most,
    cpu_seconds,
    medians,
    versions,
)
from bench.peers import InstallError, Worker
from bench.scripts.learn_models import loss, made, plain_gradients, plain_step
from bench.scripts.learn_private import gradients, noise_for, private_step
from dither.learn.part_size import computed
from dither.learn.preparing import prepared
from dither.learn.settings import Settings

MINE, PLAIN = "dither", "plain SGD"
MODES = ("hooks", "functorch", "ew", "ghost")
LIMITS = {"CNN": 1.4, "MLP": 1.3, "transformer": 1.5}
"""Gradient work beside that of a plain step, at most."""
TIMES = {
    "CNN": 0.8,
    "MLP": 0.8,
    "transformer": 0.8,
    "LSTM": 1.0,
    "GRU": 1.0,
    "RNN": 1.0,
}
"""Time of a whole step beside that of Opacus's best mode, at most."""
SIZES = {
    "CNN": "CNN, 26 k parameters, batch 128",
    "MLP": "MLP, 670 k, batch 128",
    "transformer": "transformer, 661 k, 64 words, batch 32",
    "LSTM": "LSTM, 100 k, 32 steps, batch 64",
    "GRU": "GRU, 76 k, 32 steps, batch 64",
    "RNN": "RNN, 26 k, 32 steps, batch 64",
}
REPEATS = {"CNN": 41, "MLP": 41, "transformer": 15, "LSTM": 15, "GRU": 15, "RNN": 15}
PARTS = ("CNN", "MLP")
"""Models whose size of parts is looked at."""
NANOSECONDS = 18.0
MEMORY = 1.3
EMPTY = {32: 1.25, 64: 1.185, 128: 1.12, 512: 1.12, 2000: 1.12}
"""Rows computed over rows drawn, at most, by batch."""
COMPUTED = "rows computed over rows drawn"
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


def parts(name: str, batch: int) -> Row:
    """What a run computes in parts of the size that `train` takes, on average."""
    model, inputs, targets = made(name)
    settings = Settings(
        loss=loss,
        owner="row",
        units=20 * batch,
        batch=batch,
        epochs=1,
        lr=0.1,
        noise=1.0,
    )
    ready = prepared(model, (inputs, targets), settings, quick=True)
    case = f"{name}, batch {batch:,}"
    return Row(case, MINE, COMPUTED, round(computed(ready.micro, batch), 4))


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

    def beside(case: str, metric: str) -> float | None:
        """Beside the mode of Opacus that has the least of it."""
        others = [
            row.value
            for row in rows
            if row.case == case and row.metric == metric and "Opacus" in row.system
        ]
        best = min((one for one in others if one is not None), default=None)
        mine = found.get((case, MINE, metric))
        return None if best is None or mine is None else round(mine / best, 3)

    for name, limit in TIMES.items():
        case = SIZES[name]
        if name in LIMITS:
            goal = f"{case}: gradient work beside plain"
            yield at_most(goal, LIMITS[name], ratio(name, WORK))
        yield at_most(
            f"{case}: noise, ns a parameter", NANOSECONDS, found[case, MINE, NOISE]
        )
        goal = f"{case}: a step beside Opacus's best mode"
        yield at_most(goal, limit, beside(case, TOTAL))
        goal = f"{case}: peak memory beside Opacus's leanest mode"
        yield at_most(goal, 1.0, beside(case, PEAK))
    for batch, limit in EMPTY.items():
        for name in PARTS:
            case = f"{name}, batch {batch:,}"
            yield at_most(f"{case}: {COMPUTED}", limit, found[case, MINE, COMPUTED])
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
    for name in TIMES:
        rows += work(name)
        rows += steps(name, peer, notes)
        rows += memory(name, peers=peer is not None)
    rows += [parts(name, batch) for batch in EMPTY for name in PARTS]
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
