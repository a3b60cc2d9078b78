"""Runs a command and says what it took: the CPU time of all that it started, and wall
time. Fails where that is more than it may be.

    python -m tools.limits --cpu 24 "make test" -- make test

CPU time counts every process, also one that nobody waited for: a server, the Java of
Spark, what a test killed. They become children of this process as soon as their own
parent has ended (Linux only), and it waits for them.

Neither limit is about how fast or how busy the machine is. CPU minutes are those of the
machine that the limits were chosen on: a plain loop, run at the end, says how much
slower this one is. The limit of wall time is one for two free cores: where other
processes, or other guests of the host, take a part of them, it is longer in the same
measure.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.clock import slowness

__all__ = ["Measured", "complaints", "free_cores", "main", "measured"]

CORES = 2
"""How many free cores the limit of wall time is for."""
CHOSEN_AT = 0.75
"""What `slowness` says of the machine on which the limits of CPU time were chosen."""
LEAST = 0.05
"""Cores that are free for us on the busiest machine: we did run."""
STRAGGLERS = 60.0
"""Seconds that processes have to end after the command."""
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of <linux/prctl.h>
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Measured:
    """What a command took, in seconds; `free` is the number of cores that nobody else
    used, and `slowness` how many times its usual CPU time a plain loop takes here.
    """

    status: int
    cpu: float
    wall: float
    free: float = CORES
    slowness: float = 1.0

    def __str__(self) -> str:
        return (
            f"{self.cpu / 60:.1f} CPU-minutes, {self.wall / 60:.1f} minutes "
            f"({self.free:.2f} cores free, CPU time × {self.slowness:.2f})"
        )


def complaints(took: Measured, cpu: float | None, wall: float | None) -> list[str]:
    """What is above its limit in minutes, as sentences."""
    found = []
    if cpu is not None:
        allowed = cpu * max(1.0, took.slowness / CHOSEN_AT)
        if took.cpu / 60 > allowed:
            found.append(f"{took.cpu / 60:.1f} CPU-minutes are more than {allowed:.1f}")
    if wall is not None:
        allowed = wall * CORES / min(CORES, max(LEAST, took.free))
        if took.wall / 60 > allowed:
            found.append(f"{took.wall / 60:.1f} minutes are more than {allowed:.1f}")
    return found


def free_cores(cores: int, wall: float, busy: float, own: float) -> float:
    """The cores that neither other processes nor other guests of the host used, where
    all cores together were busy for so many seconds, and so many of those were ours.
    """
    return max(0.0, cores - max(0.0, busy - own) / wall)


def measured(command: list[str]) -> Measured:
    """Run a command to its end, and all that it started."""
    _adopt_orphans()
    began, busy, own = time.monotonic(), _busy(), _cpu()
    sys.stdout.flush()
    status = _run(command)
    wall, took = time.monotonic() - began, _cpu() - own
    free = free_cores(os.cpu_count() or 1, max(wall, 0.01), _busy() - busy, took)
    slow = statistics.median(slowness() for _ in range(5))
    return Measured(status, took, wall, free, slow)


def _run(command: list[str]) -> int:
    child = os.posix_spawnp(command[0], command, os.environ)
    while True:
        ended, status = os.wait()
        if ended == child:
            break
    end = time.monotonic() + STRAGGLERS
    while time.monotonic() < end:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)
        except ChildProcessError:
            break
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _adopt_orphans() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def _cpu() -> float:
    took = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took.ru_utime + took.ru_stime


def _busy() -> float:
    """Seconds that all cores together have been at work, or were taken by other guests
    of the host; on a machine that does not say, none.
    """
    table = Path("/proc/stat")
    if not table.exists():
        return 0.0
    user, nice, system, _idle, _wait, irq, softirq, steal = map(
        int, table.read_text(encoding="ascii").split()[1:9]
    )
    return (user + nice + system + irq + softirq + steal) / TICKS


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.limits")
    parser.add_argument("--cpu", type=float, help="at most so many CPU-minutes")
    parser.add_argument("--wall", type=float, help="at most so many minutes")
    parser.add_argument("name", help="what the line that is printed calls it")
    parser.add_argument("command", nargs="+")
    chosen = parser.parse_args(words)
    took = measured(chosen.command)
    print(f"== {chosen.name}: {took}", flush=True)
    above = complaints(took, chosen.cpu, chosen.wall)
    for sentence in above:
        print(f"== {chosen.name}: {sentence}, the limit on this machine", flush=True)
    return took.status or int(bool(above))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
