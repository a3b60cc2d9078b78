"""ε of a thousand to a hundred thousand mechanisms, beside dp-accounting and
prv-accountant in the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

from bench.harness import Report, Row, at_least, at_most, cpu_seconds, medians, versions
from bench.peers import PEERS, Worker
from dither.privacy import GaussianDP, Guarantee, PoissonSampled, PureDP, compose

DELTA = 1e-6
REPEATS = 9

NOTES = (
    "Laplace: ours composes the pure guarantee of each part and is "
    "optimal for that; the others know it is a Laplace.",
    "The lower bound is that of prv-accountant, and for plain "
    "Gaussians the exact ε from 40 digits of mpmath.",
    "CPU seconds of one call, imports excluded; ours takes the "
    "median of repeats, each without its caches.",
)


@dataclass(frozen=True)
class Case:
    """The same mechanism many times."""

    kind: str
    scale: float
    rate: float
    times: int

    def label(self) -> str:
        sampled = f", rate {self.rate:g}" if self.rate < 1 else ""
        return f"{self.times:,} × {self.kind}, scale {self.scale:g}{sampled}"

    def parts(self) -> list[Guarantee]:
        if self.kind == "Laplace":
            return [PureDP(1 / self.scale)] * self.times
        if self.rate < 1:
            return [PoissonSampled(self.rate, GaussianDP(1 / self.scale), self.times)]
        return [GaussianDP(1 / self.scale)] * self.times

    def request(self) -> dict[str, Any]:
        return {**asdict(self), "delta": DELTA}


CASES = (
    Case("Gaussian", 50, 1, 1_000),
    Case("Gaussian", 150, 1, 10_000),
    Case("Gaussian", 500, 1, 100_000),
    Case("Gaussian", 1, 0.01, 1_000),
    Case("Gaussian", 1, 0.001, 10_000),
    Case("Gaussian", 1, 0.001, 100_000),
    Case("Gaussian", 0.8, 0.0005, 100_000),
    Case("Laplace", 100, 1, 1_000),
    Case("Laplace", 300, 1, 10_000),
    Case("Laplace", 1_000, 1, 100_000),
)


def fresh(call: Callable[[], object]) -> float:
    """CPU seconds without what an earlier call left in the caches."""
    for module, name in (("losses", "_log_moment"), ("losses", "_log_moment_series")):
        getattr(import_module(f"dither.privacy.{module}"), name).cache_clear()
    return cpu_seconds(call)


def exact_gaussian(case: Case) -> float:
    """The root of δ(ε) − δ for N(0, 1) against N(μ, 1), from its formula alone."""
    mp: Any = import_module("mpmath").mp
    with mp.workdps(40):
        mu = mp.sqrt(case.times) / mp.mpf(case.scale)

        def excess(epsilon: Any) -> Any:
            delta = mp.ncdf(mu / 2 - epsilon / mu) - mp.e**epsilon * mp.ncdf(
                -mu / 2 - epsilon / mu
            )
            return mp.log(delta / mp.mpf(DELTA))

        return float(mp.findroot(excess, (1, 6), solver="anderson", maxsteps=200))


def measure(case: Case, google: Worker, prv: Worker) -> dict[tuple[str, str], float]:
    """Figures by system and metric."""
    request, parts = case.request(), case.parts()
    found = {("dither", "ε"): compose(parts, DELTA).epsilon}
    found["dither", "CPU s"] = medians(
        {"dither": lambda: fresh(lambda: compose(parts, DELTA))}, 3
    )["dither"]
    for accountant in ("RDP", "PLD"):
        found[f"dp-accounting {accountant}", "ε"] = google.ask(
            metric="epsilon", accountant=accountant, **request
        )
        found[f"dp-accounting {accountant}", "CPU s"] = google.ask(
            metric="seconds", accountant=accountant, **request
        )
    for metric, shown in (
        ("epsilon", "ε"),
        ("lower", "ε, lower bound"),
        ("upper", "ε, upper bound"),
        ("seconds", "CPU s"),
    ):
        found["prv-accountant", shown] = prv.ask(metric=metric, **request)
    if case.kind == "Gaussian" and case.rate == 1:
        found["exact", "ε, lower bound"] = exact_gaussian(case)
    return found


def different_gaussians() -> float:
    """Milliseconds to compose 200 different ones."""
    parts = [GaussianDP(0.01 * (1 + i / 200)) for i in range(200)]
    calls = 20
    spent = medians(
        {
            "dither": lambda: cpu_seconds(
                lambda: [compose(parts, DELTA) for _ in range(calls)]
            )
        },
        REPEATS,
    )
    return 1000 * spent["dither"] / calls


def run() -> Report:
    rows: list[Row] = []
    above_lower, share_of_rdp = [], []
    with (
        Worker("dp-accounting", "accounting_google") as google,
        Worker("prv-accountant", "accounting_prv") as prv,
    ):
        for case in CASES:
            found = measure(case, google, prv)
            rows += [
                Row(case.label(), system, metric, value)
                for (system, metric), value in found.items()
            ]
            ours = found["dither", "ε"]
            above_lower.append(
                min(
                    ours / value
                    for (_, metric), value in found.items()
                    if metric == "ε, lower bound"
                )
            )
            share_of_rdp.append(ours / found["dp-accounting RDP", "ε"])
    took = different_gaussians()
    rows.append(Row("200 different Gaussians", "dither", "CPU ms", took))
    goals = (
        at_least(
            "smallest ratio of our ε to a valid lower bound", 1.0, min(above_lower)
        ),
        at_most(
            "largest ratio of our ε to dp-accounting's RDP", 1.0, max(share_of_rdp)
        ),
        at_most("200 different Gaussians, milliseconds", 1.0, took),
    )
    peers = {
        name: "".join(PEERS[name].requirements).partition("==")[2]
        for name in ("dp-accounting", "prv-accountant")
    }
    return Report(tuple(rows), goals, NOTES, versions("dither") | peers)
