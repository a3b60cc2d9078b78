"""What `python -m bench learn --device cuda` measures: rows and goals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch

import dither
from bench.harness import Goal, Report, Row, at_most
from bench.scripts.learn_gpu import Step, measured, noise_seconds, plain, private

__all__ = ["report"]

PLAIN, GRAPH, TF32 = "plain SGD", "plain SGD, as a graph", "plain SGD, TF32, as a graph"
FLAT, LAYERS = "dither, flat, as a graph", "dither, per layer, as a graph"
TIME, MEMORY = "step, ms", "memory, MB"
NORMALS = 134_000_000
MEMORY_LIMIT = 1.3


@dataclass(frozen=True)
class Case:
    """A model, its batch, the type that layers compute in, and limits of a step's time
    beside the faster plain one; None where it is only reported.
    """

    model: str
    rows: int
    kind: str
    flat: float | None = None
    layers: float | None = None
    memory: bool = False

    @property
    def name(self) -> str:
        return f"{SIZES[self.model]}, batch {self.rows}, {self.kind}"


SIZES = {
    "transformer": "transformer, 134 M parameters, 256 words",
    "WideResNet": "WideResNet, 2.8 M",
    "CNN": "CNN, 26 k",
    "MLP": "MLP, 670 k",
}
CASES = (
    Case("transformer", 32, "bf16", 1.4, 1.3, memory=True),
    Case("transformer", 64, "bf16", 1.35, 1.3, memory=True),
    Case("transformer", 32, "float32", 1.5),
    Case("WideResNet", 256, "float32", 2.5),
    Case("WideResNet", 256, "bf16", 2.5),
    Case("CNN", 1024, "float32"),
    Case("MLP", 1024, "float32"),
)
NOTES = (
    "Medians of 15 steps after 4, taking turns, by the GPU's own events; a step is "
    "gradients, noise and the optimizer's update on one fixed batch.",
    "Plain steps are launched as usual and as a CUDA graph; goals are beside the faster "
    "one. dither captures a graph of its own accord.",
    "Memory is what PyTorch holds of the GPU's in a step, each system alone; beside the "
    "smaller of both plain ways.",
    "The transformer has 12 blocks of width 768, a vocabulary of 32,000 words and scores "
    "for all of them at each place. float32 is IEEE on both sides; TF32 is only shown, "
    "because norms must not use it and training switches it off.",
    "Noise: ChaCha20 and Box and Muller's method, added in place.",
)


def _systems(case: Case) -> dict[str, Callable[[], Step]]:
    model, rows, kind = case.model, case.rows, case.kind
    found: dict[str, Callable[[], Step]] = {
        PLAIN: partial(plain, model, rows, kind),
        GRAPH: partial(plain, model, rows, kind, graphs=True),
        FLAT: partial(private, model, rows, kind),
    }
    if case.layers is not None:
        found[LAYERS] = partial(private, model, rows, kind, "per layer")
    if kind == "float32" and case.flat is not None:
        found[TF32] = partial(plain, model, rows, "tf32", graphs=True)
    return found


def _measured(case: Case) -> Iterator[Row]:
    times, sizes = measured(_systems(case))
    for system, value in times.items():
        yield Row(case.name, system, TIME, round(value, 3))
    for system, value in sizes.items():
        yield Row(case.name, system, MEMORY, round(value, 1))


def _goals(rows: list[Row]) -> Iterator[Goal]:
    found = {(row.case, row.system, row.metric): row.value for row in rows}

    def beside(case: Case, system: str, metric: str) -> float | None:
        mine = found[case.name, system, metric]
        ways = [found[case.name, one, metric] for one in (PLAIN, GRAPH)]
        known = [one for one in ways if one is not None]
        return None if mine is None else round(mine / min(known), 3)

    for case in CASES:
        if case.flat is not None:
            goal = f"{case.name}: flat clipping beside plain"
            yield at_most(goal, case.flat, beside(case, FLAT, TIME))
        if case.layers is not None:
            goal = f"{case.name}: clipping per layer beside plain"
            yield at_most(goal, case.layers, beside(case, LAYERS, TIME))
        if case.memory:
            goal = f"{case.name}: memory beside plain"
            yield at_most(goal, MEMORY_LIMIT, beside(case, FLAT, MEMORY))


def report() -> Report:
    rows = [row for case in CASES for row in _measured(case)]
    each = noise_seconds(NORMALS) * 1e9 / NORMALS
    many = f"{NORMALS / 1e6:.0f} M normals"
    rows.append(Row(many, "dither", "noise, ns a parameter", round(each, 5)))
    seen = {
        "dither": dither.__version__,
        "torch": torch.__version__,
        "CUDA": str(torch.version.cuda),
        "GPU": torch.cuda.get_device_name(),
    }
    return Report(tuple(rows), tuple(_goals(rows)), NOTES, seen)
