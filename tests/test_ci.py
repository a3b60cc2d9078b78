"""What CI runs, and the limits that it holds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import SPARK, scope
from tools import smoke
from tools.limits import CHOSEN_AT, CORES, Measured, complaints, free_cores

ROOT = Path(__file__).parent.parent
SCRIPT = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")


def test_ci_can_be_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "run: bash .ci/run" in WORKFLOW


def test_ci_tries_every_python() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    classifiers = " ".join(project["project"]["classifiers"])
    named = re.findall(r"Python :: (3\.\d+)", classifiers)
    tried = re.search(r"^VERSIONS=\((.*)\)$", SCRIPT, re.MULTILINE)
    assert tried is not None
    assert tried.group(1).split() == named
    assert all(f'"{version}"' in WORKFLOW for version in named)


def test_a_smoke_is_the_same_everywhere() -> None:
    assert "tools/smoke.py" in SCRIPT
    assert "python tools/smoke.py" in WORKFLOW
    assert [path for path in smoke.TESTS if not (ROOT / path).is_file()] == []


def test_ci_holds_its_limits() -> None:
    assert '--cpu 24 "make test" -- make test\n' in SCRIPT
    assert '--cpu 50 "make test-full" -- make test-full\n' in SCRIPT
    assert "--wall 60 all --" in SCRIPT


@pytest.mark.parametrize(
    ("cpu", "slowness", "fits"),
    [
        (24, CHOSEN_AT, True),
        (24.1, CHOSEN_AT, False),
        (35, 1.5 * CHOSEN_AT, True),
        (37, 1.5 * CHOSEN_AT, False),
        (25, 0.5 * CHOSEN_AT, False),
    ],
)
def test_cpu_minutes_are_those_of_one_machine(cpu, slowness, fits) -> None:
    took = Measured(0, cpu * 60, 0, slowness=slowness)
    assert (complaints(took, 24, None) == []) == fits


@pytest.mark.parametrize(
    ("wall", "free", "fits"),
    [(60, 2, True), (61, 2, False), (61, 16, False), (119, 1, True), (121, 1, False)],
)
def test_wall_time_is_that_of_two_free_cores(wall, free, fits) -> None:
    took = Measured(0, 0, wall * 60, free=free)
    assert (complaints(took, None, 60) == []) == fits


def test_both_limits_are_held_at_once() -> None:
    assert len(complaints(Measured(0, 1e6, 1e6), 24, 60)) == 2
    assert complaints(Measured(0, 1e6, 1e6), None, None) == []


def test_others_take_cores_and_we_do_not() -> None:
    assert free_cores(CORES, wall=100, busy=200, own=200) == 2
    assert free_cores(CORES, wall=100, busy=200, own=50) == 0.5
    assert free_cores(CORES, wall=100, busy=190, own=200) == 2
    assert free_cores(CORES, wall=100, busy=900, own=0) == 0


def run_limited(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tools.limits", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


ORPHAN = "import time\nwhile time.process_time() < 1: pass"
START = "subprocess.Popen([sys.executable, '-c', ORPHAN], start_new_session=True)"


def test_a_process_that_nobody_waited_for_is_counted() -> None:
    """In a session of its own, and still at work when the command ends."""
    start = f"import subprocess, sys; ORPHAN = {ORPHAN!r}; {START}"
    command = [sys.executable, "-W", "ignore", "-c", start]
    code = f"from tools.limits import measured; print(measured({command!r}).cpu)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(done.stdout) >= 1


def test_a_command_above_its_limit_fails() -> None:
    done = run_limited("--cpu", "0", "loop", "--", sys.executable, "-c", "pass")
    assert done.returncode == 1
    assert "more than 0.0, the limit on this machine" in done.stdout


def test_a_command_that_fails_fails() -> None:
    done = run_limited("--cpu", "1", "no", "--", sys.executable, "-c", "exit(7)")
    assert (done.returncode, done.stderr) == (7, "")
    assert re.search(
        r"^== no: \d\.\d CPU-minutes, \d\.\d minutes \(", done.stdout, re.MULTILINE
    )


def test_a_page_is_a_unit_of_work_and_spark_is_one() -> None:
    assert scope("tests/test_docs.py::test_page[docs/sql.md]").endswith("[docs/sql.md]")
    assert scope("tests/test_docs.py::test_links[sql.md]") == "tests/test_docs.py"
    assert scope("tests/x/test_y.py::test_z[spark]") == SPARK
