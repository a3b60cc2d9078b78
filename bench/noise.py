"""Samples per CPU-second of exact noise, beside OpenDP, diffprivlib and insecure numpy
in the same run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

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
from bench.peers import PEERS, Worker
from dither import mechanisms, noise

N = 1_000_000
SCALES = (1.0, 100.0, 1e6)
REPEATS = 5
SCALAR_CALLS = 20_000
SCALAR_SECONDS = 0.1

# OpenDP's rate does not depend on the length from here on, and a million values would
# take it a minute and more.
OPENDP_N = {
    "discrete Laplace": 100_000,
    "rounded Gaussian": 50_000,
    "discrete Gaussian": 50_000,
    "float Laplace": 50_000,
}

NOTES = (
    "OpenDP has no rounded Gaussian; that case is measured against "
    "its discrete Gaussian on integers.",
    "numpy is not secure and not exact. Its integer Laplace would be "
    "the difference of two geometric draws; here it "
    "draws one. Its Gaussian integers are rounded floats.",
    "OpenDP is given numpy arrays, as we are. From a list its noisy "
    "max is slower; the goal is against the array.",
    "diffprivlib draws one value a call; its figure is a loop.",
    "Systems take turns; each figure is the median of the repeats.",
)

Measure = Callable[[], float]


@dataclass(frozen=True)
class Case:
    """One distribution at one scale."""

    name: str
    scale: float

    def label(self, n: int) -> str:
        return (
            f"{self.name}, scale {self.scale:,.0f}, "
            f"{'one by one' if n == 1 else f'n = {n:,}'}"
        )


def rate(draw: Callable[[], object], n: int = N) -> float:
    return n / cpu_seconds(draw)


def dither_draw(case: Case) -> Callable[[], object]:
    if case.name == "float Laplace":
        return partial(
            mechanisms.Laplace(sensitivity=1.0, epsilon=1 / case.scale).release,
            np.zeros(N),
        )
    samplers: dict[str, Callable[..., object]] = {
        "discrete Laplace": noise.discrete_laplace,
        "rounded Gaussian": noise.rounded_gaussian,
        "discrete Gaussian": noise.discrete_gaussian,
    }
    return partial(samplers[case.name], case.scale, N)


def numpy_draw(case: Case) -> Callable[[], object]:
    generator = (
        np.random.default_rng()
    )  # allowed: the insecure generator is what is compared with
    if case.name == "discrete Laplace":
        return partial(generator.geometric, -math.expm1(-1 / case.scale), N)
    if case.name == "float Laplace":
        return partial(generator.laplace, 0.0, case.scale, N)
    return lambda: np.rint(generator.normal(0.0, case.scale, N)).astype(np.int64)


def measure_case(
    case: Case, opendp: Worker, diffprivlib: Worker
) -> tuple[list[Row], dict[str, float]]:
    few = OPENDP_N[case.name]
    systems: dict[str, Measure] = {
        "dither": partial(rate, dither_draw(case)),
        "opendp": partial(
            opendp.ask, task="vector", name=case.name, scale=case.scale, n=few
        ),
        "numpy": partial(rate, numpy_draw(case)),
    }
    if case.name != "rounded Gaussian":
        systems["diffprivlib"] = partial(
            diffprivlib.ask, name=case.name, scale=case.scale, seconds=SCALAR_SECONDS
        )
    lengths = {"opendp": few, "diffprivlib": 1}
    rates = medians(systems, REPEATS)
    rows = [
        Row(case.label(lengths.get(name, N)), name, "samples per CPU-second", value)
        for name, value in rates.items()
    ]
    return rows, rates


def choose_rate(mechanism: mechanisms.PermuteAndFlip | mechanisms.Exponential) -> float:
    scores = np.arange(N, dtype=np.float64) % 100
    return rate(lambda: mechanism.release(scores))


def measure_argmax(opendp: Worker) -> tuple[list[Row], float]:
    """Rows, and how many times faster the slower of our two choices is."""
    flip, exponential = (
        mechanisms.PermuteAndFlip(sensitivity=1, epsilon=1),
        mechanisms.Exponential(sensitivity=1, epsilon=1),
    )
    rates = medians(
        {
            "dither permute-and-flip": partial(choose_rate, flip),
            "dither exponential": partial(choose_rate, exponential),
            "opendp noisy max": partial(
                opendp.ask, task="noisy max", n=N, as_list=False
            ),
            "opendp noisy max, from a list": partial(
                opendp.ask, task="noisy max", n=N, as_list=True
            ),
        },
        REPEATS,
    )
    rows = [
        Row(f"argmax, {N:,} candidates", name, "CPU-seconds", N / value)
        for name, value in rates.items()
    ]
    return rows, min(
        rates["dither permute-and-flip"], rates["dither exponential"]
    ) / rates["opendp noisy max"]


def scalar_rate() -> float:
    release = mechanisms.Laplace(sensitivity=1, epsilon=0.5).release

    def many() -> None:
        for _ in range(SCALAR_CALLS):
            release(500)

    return rate(many, SCALAR_CALLS)


def measure_scalar(opendp: Worker, diffprivlib: Worker) -> tuple[list[Row], float]:
    """Rows, and the microseconds of one of our releases."""
    rates = medians(
        {
            "dither": scalar_rate,
            "opendp": partial(
                opendp.ask, task="scalar", scale=2.0, seconds=SCALAR_SECONDS
            ),
            "diffprivlib": partial(
                diffprivlib.ask,
                name="discrete Laplace",
                scale=2.0,
                seconds=SCALAR_SECONDS,
            ),
        },
        REPEATS,
    )
    rows = [
        Row("one integer Laplace release", name, "CPU-microseconds", 1e6 / value)
        for name, value in rates.items()
    ]
    return rows, 1e6 / rates["dither"]


def goals(
    rates: dict[Case, dict[str, float]], argmax: float, scalar: float
) -> tuple[Goal, ...]:
    def worst(name: str, system: str) -> float:
        return min(
            found["dither"] / found[system]
            for case, found in rates.items()
            if case.name == name
        )

    fast = ("discrete Laplace", "rounded Gaussian", "float Laplace")
    return (
        *(
            at_least(
                f"{name}, times OpenDP's rate, worst scale", 300, worst(name, "opendp")
            )
            for name in fast
        ),
        at_least(
            "discrete Laplace, times numpy's geometric, worst scale",
            1,
            worst("discrete Laplace", "numpy"),
        ),
        at_least(
            f"argmax over {N:,}, times faster than OpenDP's noisy max", 20, argmax
        ),
        at_most("one scalar release, CPU-microseconds", 15, scalar),
    )


def run() -> Report:
    rows: list[Row] = []
    rates: dict[Case, dict[str, float]] = {}
    with (
        Worker("opendp-numpy", "noise_opendp") as opendp,
        Worker("diffprivlib", "noise_diffprivlib") as diffprivlib,
    ):
        for case in (Case(name, scale) for name in OPENDP_N for scale in SCALES):
            found, rates[case] = measure_case(case, opendp, diffprivlib)
            rows += found
        argmax_rows, argmax = measure_argmax(opendp)
        scalar_rows, scalar = measure_scalar(opendp, diffprivlib)
    peers = {
        name: ", ".join(PEERS[name].requirements)
        for name in ("opendp-numpy", "diffprivlib")
    }
    found_versions = versions("dither", "numpy", "cryptography") | peers
    return Report(
        (*rows, *argmax_rows, *scalar_rows),
        goals(rates, argmax, scalar),
        NOTES,
        found_versions,
    )
