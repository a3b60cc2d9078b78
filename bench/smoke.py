"""Ratios that CI measures within 90 seconds: the CPU time of parts of Dither over that of
a floor or a peer in the same run.

Each pair has a process of its own, in which both sides take turns. The median over turns
of their ratio counts, so a busy machine slows both. A ratio beyond `LIMIT` times the committed one is measured again,
and the best of all attempts counts: only what is slower every time fails. On another
processor or another Python the ratios are printed and stored, and none fails.
"""

from __future__ import annotations

import gc
import math
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from bench.harness import (
    OUT,
    RESULTS,
    Goal,
    Report,
    Row,
    at_most,
    cpu_seconds,
    load,
    machine,
    machine_of,
    save,
    versions,
)

__all__ = ["LIMIT", "PAIRS", "RATIO", "Pair", "compare", "measure", "run"]

RESULT = RESULTS / "smoke.json"

LIMIT = 1.5
"""A ratio fails beyond this many times its committed value."""
ATTEMPTS = 4
"""A ratio beyond its limit is measured so often, and the best one counts."""
TURNS = 15
SECONDS = 5.0
"""No pair takes turns for longer than this, after three of them."""
RUNS = 5
"""The committed ratio is the median of so many whole measurements."""
RATIO = "ratio"
SMALLEST, LARGEST = "ratio, smallest", "ratio, largest"
N = 200_000
DRAWS = 1_000_000
DELTA = 1e-6
ALIKE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
}
"""Every process has one thread for its arithmetic, and keeps memory that it has had:
getting it from the system again can take as long as the work.
"""

NOTES = (
    "A ratio is the CPU time of Dither over that of the floor or peer in its case, both "
    "in turns in one process, which measures nothing else; the median over turns.",
    f"The ratio is the median of {RUNS} measurements of all pairs, one after the other, "
    "with the smallest and the largest beside it.",
    "The wanted value is 1.5 times the ratio that was committed before; at first, 1.5 "
    "times this one.",
)

Cost = Callable[[], float]
Measure = Callable[["Pair"], float]


@dataclass(frozen=True)
class Pair:
    """One part of Dither and what it is compared with. `make` prepares both in an empty
    folder and returns two functions that measure CPU-seconds: ours first.
    """

    name: str
    floor: str
    make: Callable[[Path], tuple[Cost, Cost]]

    @property
    def case(self) -> str:
        return f"{self.name}, over {self.floor}"


def timed(call: Callable[[], object], times: int = 1) -> Cost:
    """CPU-seconds of a call, the mean of some calls."""

    def many() -> None:
        for _ in range(times):
            call()

    return lambda: cpu_seconds(many) / times


def loop(steps: int) -> Cost:
    """CPU-seconds of a loop in plain Python, measured over 200,000 steps."""

    def added() -> int:
        total = 0
        for step in range(200_000):
            total += step * step % 7
        return total

    return lambda: cpu_seconds(added) * steps / 200_000


def generator() -> np.random.Generator:
    return np.random.default_rng(1)  # allowed: what numpy's own draws cost


def laplace(_: Path) -> tuple[Cost, Cost]:
    from dither import noise

    other = partial(generator().geometric, -math.expm1(-1 / 100), DRAWS)
    return timed(partial(noise.discrete_laplace, 100.0, DRAWS)), timed(other)


def gaussian(_: Path) -> tuple[Cost, Cost]:
    from dither import noise

    drawn = generator()

    def other() -> object:
        return np.rint(drawn.normal(0.0, 100.0, DRAWS)).astype(np.int64)

    return timed(partial(noise.rounded_gaussian, 100.0, DRAWS)), timed(other)


def scalar(_: Path) -> tuple[Cost, Cost]:
    from dither import mechanisms

    release = mechanisms.Laplace(sensitivity=1, epsilon=0.5).release
    return timed(partial(release, 500), 5_000), loop(100)


def choice(_: Path) -> tuple[Cost, Cost]:
    from dither import mechanisms

    scores = np.arange(DRAWS, dtype=np.float64) % 100
    drawn = generator()

    def other() -> object:
        return np.argmax(scores + drawn.exponential(2.0, DRAWS))

    ours = mechanisms.PermuteAndFlip(sensitivity=1, epsilon=1)
    return timed(partial(ours.release, scores)), timed(other)


def composition(_: Path) -> tuple[Cost, Cost]:
    from dither.privacy import GaussianDP, compose

    parts = [GaussianDP(0.01 * (1 + i / 200)) for i in range(200)]
    return timed(lambda: compose(parts, DELTA), 30), loop(10_000)


def started(statement: str) -> float:
    """CPU-seconds of a Python process that runs one statement."""
    source = str(Path(__file__).parent.parent / "src")
    paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    with subprocess.Popen(
        [sys.executable, "-c", statement],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{statement!r} ended with code {process.returncode}")
    return used.ru_utime + used.ru_stime


def importing(_: Path) -> tuple[Cost, Cost]:
    return partial(started, "import dither"), partial(started, "pass")


def shop(folder: Path) -> tuple[Any, Any]:
    """The purchases of `bench query` at 200,000 rows: a dataset, and plain DuckDB."""
    import duckdb

    import dither
    from bench.query import CATEGORIES, make

    place, rows = folder / "shop.duckdb", folder / "shop.parquet"
    make(place, N)
    with duckdb.connect(str(place)) as stored:
        stored.execute(f"COPY purchases TO '{rows}' (FORMAT parquet)")
    database = dither.open(
        str(rows),
        unit="user_id",
        bounds={"amount": (0, 500)},
        keys={"category": [f"category {i}" for i in range(CATEGORIES)]},
        budget=(1000.0, DELTA),
        name="purchases",
        ledger=":memory:",
    )
    plain = duckdb.connect(config={"threads": 1})
    plain.execute(f"CREATE VIEW purchases AS FROM '{rows}'")
    return database, plain


GROUPED = "SELECT category, COUNT(*) AS n FROM purchases GROUP BY category"


def grouped(folder: Path) -> tuple[Cost, Cost]:
    database, plain = shop(folder)
    turns = count()

    def ask() -> None:
        # the same question at the same ε would be answered from the ledger
        release = database.sql(GROUPED, epsilon=1 - next(turns) / 1e6)
        if release.replayed:
            raise RuntimeError("this was answered before: nothing was measured")

    return timed(ask), timed(lambda: plain.execute(GROUPED).fetchall(), 10)


def preview(folder: Path) -> tuple[Cost, Cost]:
    database, _ = shop(folder)
    return timed(lambda: database.preview(GROUPED, epsilon=1.0), 20), loop(100_000)


def charge(folder: Path) -> tuple[Cost, Cost]:
    """Neither waits for the disk: the CPU time of an fsync differs from disk to disk."""
    from bench.ledger import TABLE, line
    from dither.ledger import Ledger
    from dither.privacy import PureDP

    book = Ledger.open(str(folder / "book.db"))
    account, one = book.account("clinic", epsilon=1e9), PureDP(1)
    account.charge(one)
    book.store._connected().execute("PRAGMA synchronous = OFF")  # type: ignore[attr-defined]
    bare = sqlite3.connect(folder / "bare.db", isolation_level=None)
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = OFF")
    bare.execute(TABLE)
    values = line(str(folder / "other.db"))

    def insert() -> None:
        bare.execute("INSERT INTO bare VALUES (?, ?, ?, ?, ?, ?)", values)

    return timed(lambda: account.charge(one), 100), timed(insert, 1_000)


def devices() -> tuple[Any, Any]:
    from dither import local

    task = local.task("smoke", domain=100, none=False, epsilon=2.0, n=N)
    return task, np.arange(N) % 100


def randomizing(_: Path) -> tuple[Cost, Cost]:
    task, values = devices()
    drawn = generator()

    def other() -> object:
        lies = drawn.integers(0, 100, N)
        return np.where(drawn.random(N) < 0.5, values, lies)

    return timed(lambda: task.randomize(values)), timed(other, 3)


def tallying(_: Path) -> tuple[Cost, Cost]:
    task, values = devices()
    messages = task.randomize(values)
    other = partial(np.bincount, values, minlength=100)
    return timed(lambda: task.tally(messages)), timed(other, 20)


def census(_: Path) -> tuple[Cost, Cost]:
    from bench.census.country import Country, released

    country = Country()
    assert country.levels  # counted here, outside of what is measured
    drawn = generator()
    parents = country.tree.parents

    def other() -> None:
        counts: Any = country.counts
        for above in reversed(parents[1:]):
            counts + drawn.normal(0.0, 2.236, counts.size)
            counts = np.bincount(above, counts)

    return timed(lambda: released(country, states=False)), timed(other, 2)


def training(_: Path) -> tuple[Cost, Cost]:
    from bench.scripts.learn_models import made, plain_step
    from bench.scripts.learn_private import private_step

    private, plain = private_step(*made("CNN")), plain_step(*made("CNN"))
    return timed(private), timed(plain)


PAIRS = (
    Pair("a million discrete Laplace draws", "numpy's geometric", laplace),
    Pair("a million rounded Gaussian draws", "numpy's normal, rounded", gaussian),
    Pair("one Laplace release", "100 steps of a Python loop", scalar),
    Pair("permute-and-flip of a million", "numpy's exponential and argmax", choice),
    Pair("composing 200 Gaussians", "10,000 steps of a Python loop", composition),
    Pair("import dither", "a bare Python process", importing),
    Pair("grouped count of 200,000 rows", "the same query in DuckDB", grouped),
    Pair("preview of a grouped count", "100,000 steps of a Python loop", preview),
    Pair("a charge", "a bare INSERT, both without fsync", charge),
    Pair("200,000 device messages made", "numpy's random response", randomizing),
    Pair("200,000 device messages counted", "numpy's bincount", tallying),
    Pair("a census of 200,000 blocks", "numpy's sums and normal noise", census),
    Pair("a DP-SGD step of a CNN", "a plain PyTorch step", training),
)


def measure(pair: Pair, turns: int = TURNS) -> float:
    """The median over turns of our CPU time over the floor's."""
    with tempfile.TemporaryDirectory(prefix="dither-smoke-") as name:
        ours, floor = pair.make(Path(name))
        ours(), floor()  # imports, caches, the first memory
        gc.collect()
        found: list[float] = []
        began = time.perf_counter()
        while len(found) < turns:
            found.append(ours() / floor())
            if len(found) >= 3 and time.perf_counter() - began > SECONDS:
                break
    return median(found)


def ratios(report: Report) -> dict[str, float]:
    """The ratios of a report by case."""
    return {
        row.case: row.value
        for row in report.rows
        if row.metric == RATIO and row.value is not None
    }


def afresh(pair: Pair) -> float:
    """The same in a process of its own: what other pairs leave behind there, in memory
    above all, can change a ratio by half.
    """
    script = "import sys; from bench import smoke; smoke.tell(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", script, pair.case],
        cwd=Path(__file__).parent.parent,
        env=os.environ | ALIKE,
        stdout=subprocess.PIPE,
        check=True,
        encoding="utf-8",
    )
    return float(done.stdout.splitlines()[-1])


def tell(case: str) -> None:
    """Print the ratio of one case."""
    (pair,) = (one for one in PAIRS if one.case == case)
    print(measure(pair))


def best(pair: Pair, limit: float, measured: Measure) -> list[float]:
    """Attempts until one is within the limit; the smallest of them counts."""
    found = [measured(pair)]
    while found[-1] > limit and len(found) < ATTEMPTS:
        found.append(measured(pair))
    return found


def goals(
    found: Mapping[str, float], reference: Mapping[str, float]
) -> tuple[Goal, ...]:
    """Each ratio beside `LIMIT` times the committed one, in three digits."""
    return tuple(
        at_most(case, float(f"{LIMIT * reference.get(case, ratio):.3g}"), ratio)
        for case, ratio in found.items()
    )


def elsewhere(path: Path) -> str | None:
    """Why ratios cannot be compared with those of a file, if they cannot."""
    here, there = machine(), machine_of(path)
    if here["processor"] != there.get("processor"):
        return f"the committed ratios are those of {there.get('processor')}"
    ours, theirs = (str(one.get("python")).rpartition(".")[0] for one in (here, there))
    if ours != theirs:
        return f"the committed ratios are those of Python {theirs}"
    return None


def compare(
    pairs: Sequence[Pair] = PAIRS,
    reference: Path = RESULT,
    folder: Path = OUT,
    measured: Measure = afresh,
) -> int:
    """Measure all pairs, print and store the ratios, and return 1 if one is beyond its
    limit on a processor and a Python like those of the committed ratios.
    """
    began = time.perf_counter()
    known = ratios(load(reference)) if reference.exists() else {}
    why = elsewhere(reference) if known else "no ratios are committed"
    found: dict[str, float] = {}
    for pair in pairs:
        limit = LIMIT * known[pair.case] if pair.case in known and not why else math.inf
        seen = best(pair, limit, measured)
        found[pair.case] = min(seen)
        before = f"{known[pair.case]:.3g}" if pair.case in known else "not there"
        again = f", the best of {len(seen)}" if len(seen) > 1 else ""
        print(
            f"{pair.case}: {found[pair.case]:.3g} (committed: {before}){again}",
            flush=True,
        )
    report = Report(
        tuple(Row(case, "dither", RATIO, ratio) for case, ratio in found.items()),
        goals(found, known),
        (*NOTES[:1], *([] if why is None else [f"Not compared: {why}."])),
        versions("dither", "numpy", "duckdb"),
    )
    stored = save("smoke", report, folder)
    unmet = [goal for goal in report.goals if not goal.met]
    print(f"stored in {stored}, after {time.perf_counter() - began:.0f} s")
    if why is not None:
        print(f"not compared: {why}")
        return 0
    for goal in unmet:
        print(
            f"{goal.goal}: {goal.got:.3g}, and {goal.want} is allowed. If the change is "
            "meant, commit a new measurement: python -m bench smoke --keep",
            file=sys.stderr,
        )
    return 1 if unmet else 0


def run() -> Report:
    """The ratios to commit: medians of whole measurements, with their spread."""
    seen: dict[str, list[float]] = {pair.case: [] for pair in PAIRS}
    for _ in range(RUNS):
        for pair in PAIRS:
            seen[pair.case].append(afresh(pair))
    figures = ((RATIO, median), (SMALLEST, min), (LARGEST, max))
    rows = tuple(
        Row(case, "dither", metric, float(f"{figure(values):.4g}"))
        for case, values in seen.items()
        for metric, figure in figures
    )
    before = ratios(load(RESULT)) if RESULT.exists() else {}
    middle = {case: median(values) for case, values in seen.items()}
    return Report(
        rows, goals(middle, before), NOTES, versions("dither", "numpy", "duckdb")
    )
