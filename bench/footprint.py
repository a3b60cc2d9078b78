"""Installed size and import time of the base install, beside other libraries."""

from __future__ import annotations

import os
import subprocess
from functools import partial
from pathlib import Path

from bench.harness import Goal, Report, Row, at_most, medians, versions
from bench.peers import (
    FOLDER,
    PEERS,
    InstallError,
    clean_environment,
    create,
    interpreter,
    pip,
)

ROOT = Path(__file__).parent.parent
OTHERS = ("opendp", "tmlt.analytics", "smartnoise-sql", "pipeline-dp")
REPEATS = 9
MEGABYTE = 1_000_000


def install_dither() -> Path:
    """Always anew: the checkout changes without its version changing."""
    python = create(FOLDER / "dither" / ".venv")
    pip(python, "-c", str(ROOT / "constraints.txt"), str(ROOT))
    return python


def install_all() -> tuple[dict[str, Path], list[str]]:
    """The interpreters, and why some are missing."""
    found, notes = {"bare": interpreter("bare"), "dither": install_dither()}, []
    for name in OTHERS:
        try:
            found[name] = interpreter(name)
        except InstallError as error:
            notes.append(f"{name} did not install: {error}")
    return found, notes


def module_of(system: str) -> str:
    return "dither" if system == "dither" else PEERS[system].module


def size(python: Path) -> int:
    """Bytes of all files in the environment."""
    return sum(
        path.lstat().st_size
        for path in python.parent.parent.rglob("*")
        if not path.is_dir()
    )


def import_cpu_seconds(python: Path, module: str) -> float:
    """User and system time of a process that imports the module and ends."""
    command = [str(python), "-c", f"import {module}"]
    with subprocess.Popen(
        command,
        env=clean_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"import {module} ended with code {process.returncode}")
    return used.ru_utime + used.ru_stime


def output_bytes(python: Path, module: str) -> int:
    """How much the import prints, with every warning shown."""
    command = [str(python), "-W", "always", "-c", f"import {module}"]
    done = subprocess.run(
        command, env=clean_environment(), capture_output=True, check=True
    )
    return len(done.stdout) + len(done.stderr)


def importable(found: dict[str, Path], notes: list[str]) -> dict[str, Path]:
    """What can be imported. This first import also fills the file cache, so that no
    system is measured cold.
    """
    kept = {}
    for system, python in found.items():
        try:
            import_cpu_seconds(python, module_of(system))
            kept[system] = python
        except RuntimeError as error:
            notes.append(f"{system} is installed, but {error}")
    return kept


def measure_imports(found: dict[str, Path]) -> dict[str, float]:
    """CPU seconds above a Python that imports nothing."""
    seconds = medians(
        {
            name: partial(import_cpu_seconds, python, module_of(name))
            for name, python in found.items()
        },
        REPEATS,
    )
    return {
        name: value - seconds["bare"]
        for name, value in seconds.items()
        if name != "bare"
    }


def run() -> Report:
    found, notes = install_all()
    empty = size(found["bare"])
    megabytes = {
        name: (size(python) - empty) / MEGABYTE
        for name, python in found.items()
        if name != "bare"
    }
    working = importable(found, notes)
    imports = measure_imports(working)
    printed = {
        name: output_bytes(python, module_of(name))
        for name, python in working.items()
        if name != "bare"
    }
    rows = [
        row
        for system in ("dither", *OTHERS)
        for row in (
            Row(
                "install", system, "MB above a bare environment", megabytes.get(system)
            ),
            Row("import", system, "CPU-seconds above bare Python", imports.get(system)),
            Row("import", system, "bytes printed", printed.get(system)),
        )
    ]
    peers = {name: ", ".join(PEERS[name].requirements) for name in OTHERS}
    return Report(
        tuple(rows),
        goals(megabytes, imports, printed),
        tuple(notes),
        versions("dither") | peers,
    )


def goals(
    megabytes: dict[str, float], imports: dict[str, float], printed: dict[str, int]
) -> tuple[Goal, ...]:
    return (
        at_most(
            "import dither, CPU-seconds above bare Python", 0.05, imports.get("dither")
        ),
        at_most("import dither, bytes printed", 0, printed.get("dither")),
        at_most("base install, MB", 200, megabytes.get("dither")),
    )
