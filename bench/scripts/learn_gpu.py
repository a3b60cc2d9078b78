"""Training steps on a GPU, plain and private: time and memory."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bench.scripts.learn_gpu_models import CASES
from dither.learn.gaussian import OnGpu, noise_on
from dither.learn.gradients.clipping import Clipping, Flat, PerLayer
from dither.learn.gradients.oracle import Traced, trained
from dither.learn.precision import full_precision
from dither.learn.replay import Replayed
from dither.learn.rows import Batch

__all__ = ["DEVICE", "Step", "made", "measured", "noise_seconds", "plain", "private"]

DEVICE = torch.device("cuda")
Step = Callable[[], None]
WARM, TIMED = 4, 15


def made(name: str, rows: int) -> tuple[nn.Module, Tensor, Tensor]:
    torch.manual_seed(0)  # allowed: made-up data
    case = CASES[name]
    model = case.model().to(DEVICE)
    return model, case.inputs(rows).to(DEVICE), case.targets(rows).to(DEVICE)


@contextmanager
def computing(kind: str) -> Iterator[None]:
    """Products in "float32" (IEEE), "tf32" or "bf16"."""
    with (
        full_precision(),
        torch.autocast("cuda", torch.bfloat16, enabled=kind == "bf16"),
    ):
        if kind == "tf32":
            torch.backends.cuda.matmul.fp32_precision = "tf32"
            torch.backends.cudnn.conv.fp32_precision = "tf32"  # type: ignore[attr-defined]
        yield


def _loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """Over places without a copy, which is what a plain step would do."""
    scores = outputs.movedim(1, -1).reshape(-1, outputs.shape[1])
    return functional.cross_entropy(scores, targets.flatten())


def plain(name: str, rows: int, kind: str, graphs: bool = False) -> Step:
    """A usual step, or one whose gradients are captured as a CUDA graph too."""
    model, inputs, targets = made(name, rows)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def backward() -> None:
        with computing(kind):
            loss = _loss(model(inputs), targets)
        with computing("tf32" if kind == "tf32" else "float32"):
            loss.backward()  # type: ignore[no-untyped-call]

    def step() -> None:
        optimizer.zero_grad()
        backward()
        optimizer.step()

    return _replayed(backward, optimizer) if graphs else step


def _replayed(backward: Step, optimizer: torch.optim.Optimizer) -> Step:
    stream: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    with torch.cuda.stream(stream):
        for _ in range(2):
            optimizer.zero_grad()
            backward()
    torch.cuda.synchronize()
    optimizer.zero_grad()
    graph: Any = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        backward()

    def step(_held: Step = backward) -> None:  # a graph holds no rows itself
        graph.replay()
        optimizer.step()

    return step


def private(
    name: str, rows: int, kind: str, clip: str = "flat", graphs: bool = True
) -> Step:
    model, inputs, targets = made(name, rows)
    with computing(kind):
        oracle = Traced.of(model, functional.cross_entropy, inputs, targets)
    replayed = Replayed(oracle)
    there = torch.ones(rows, dtype=torch.bool, device=DEVICE)
    batch = Batch(inputs, targets, there)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    noise, clipping = noise_on(DEVICE), _clipping(clip, model)
    parameters = trained(model)
    if graphs:
        with computing(kind):
            replayed.capture(batch, clipping, 1)
        assert replayed.graph is not None

    def step() -> None:
        optimizer.zero_grad()
        with computing(kind):
            sums = replayed.sums(batch, clipping, 1)
        for one, noisy in noise.added(sums, clipping.radius, rows):
            parameters[one].grad = noisy
        del sums
        optimizer.step()

    return step


def _clipping(clip: str, model: nn.Module) -> Clipping:
    if clip == "flat":
        return Flat(1.0)
    names = trained(model)
    return PerLayer(dict.fromkeys(names, len(names) ** -0.5))


def measured(
    systems: dict[str, Callable[[], Step]],
) -> tuple[dict[str, float], dict[str, float]]:
    """Milliseconds of each system's step, taking turns; and megabytes that each holds at
    most, alone: what is reserved, because what a graph needs is allocated for good when
    it is captured.
    """
    megabytes = {}
    for name, make in systems.items():
        _empty()
        step = make()
        step()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        step()
        megabytes[name] = torch.cuda.max_memory_reserved() / 2**20
        del step
    _empty()
    steps = {name: make() for name, make in systems.items()}
    seen: dict[str, list[float]] = {name: [] for name in systems}
    for turn in range(WARM + TIMED):
        for name, step in steps.items():
            found = milliseconds(step)
            if turn >= WARM:
                seen[name].append(found)
    return {name: median(values) for name, values in seen.items()}, megabytes


def _empty() -> None:
    gc.collect()
    # They were made in a graph's memory, which could not go without them.
    torch._C._cuda_clearCublasWorkspaces()
    torch.cuda.empty_cache()


def milliseconds(step: Step) -> float:
    torch.cuda.synchronize()
    event: Any = torch.cuda.Event
    began, ended = (event(enable_timing=True) for _ in range(2))
    began.record()
    step()
    ended.record()
    torch.cuda.synchronize()
    return float(began.elapsed_time(ended))


def noise_seconds(count: int) -> float:
    """Seconds for so many values that get noise, where they are."""
    noise, values = noise_on(DEVICE), torch.zeros(count, device=DEVICE)
    assert isinstance(noise, OnGpu)
    return (
        median(milliseconds(lambda: noise.add([values], 1.0)) for _ in range(15)) / 1e3
    )
