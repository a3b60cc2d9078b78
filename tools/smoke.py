"""Tries the wheel in an empty environment of the Python that runs this: the import, the
demo, and tests that need the base install alone. It runs on Linux, macOS and Windows.

    python tools/smoke.py [WHEEL]

Without a wheel it builds one of this checkout.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = (
    *("tests/test_text.py", "tests/test_terminal.py", "tests/test_chart.py"),
    *("tests/test_release.py", "tests/cli/test_for_real.py", "tests/cli/test_init.py"),
    *("tests/cli/test_curator.py", "tests/mechanisms/test_additive.py"),
    *("tests/query/sql/test_fixtures.py", "tests/query/plan/test_fan_out.py"),
    "tests/query/catalogue/test_file.py",
)
"""They touch every floor: noise, ledger, SQL, files, the commands."""
PIP = ("-m", "pip", "--disable-pip-version-check")
PINNED = ("-c", str(ROOT / "constraints.txt"))
IMPORTED = re.compile(r"\| +(\d+) \| +dither$", re.MULTILINE)


def outside() -> dict[str, str]:
    """The environment without what leads to this checkout or to CI's demands."""
    dropped = ("CI", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if name not in dropped}


def python_of(environment: Path) -> Path:
    return environment / ("Scripts" if os.name == "nt" else "bin") / "python"


def build(folder: Path) -> Path:
    subprocess.run(
        [sys.executable, *PIP, "wheel", "-qq", "--no-deps", "-w", folder, ROOT],
        check=True,
    )
    (wheel,) = folder.glob("dither-*.whl")
    return wheel


def imports(python: Path, folder: Path) -> None:
    """`import dither` says nothing; what it takes is printed and is no limit, since
    that depends on the machine.
    """
    done = subprocess.run(
        [python, "-W", "error", "-X", "importtime", "-c", "import dither"],
        cwd=folder,
        env=outside(),
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stderr.splitlines()
    said = [line for line in lines if not line.startswith("import time:")]
    if done.returncode or done.stdout or said:
        sys.exit(f"import dither is not silent: {done.stdout}{said}")
    found = IMPORTED.search(done.stderr)
    assert found is not None, done.stderr
    print(f"import dither: {int(found[1]) / 1000:.1f} ms", flush=True)


def demo(python: Path, folder: Path) -> None:
    subprocess.run(
        [python, "-W", "error", "-m", "dither", "demo"],
        cwd=folder,
        env=outside(),
        stdout=subprocess.DEVNULL,
        check=True,
    )


def try_wheel(wheel: Path, folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", folder / "own"], check=True)
    python = python_of(folder / "own")
    install = [python, *PIP, "install", "-qq", *PINNED]
    subprocess.run([*install, wheel], check=True)
    imports(python, folder)
    demo(python, folder)
    subprocess.run([*install, "pytest", "hypothesis"], check=True)
    options = ("-o", "pythonpath=.", "-p", "no:cacheprovider", "-m", "not full")
    subprocess.run(
        [python, "-m", "pytest", *options, *TESTS],
        cwd=ROOT,
        env=outside(),
        check=True,
    )


def main(words: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="dither-smoke-") as name:
        folder = Path(name)
        wheel = Path(words[0]).resolve() if words else build(folder)
        try_wheel(wheel, folder)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except subprocess.CalledProcessError as failed:
        sys.exit(f"exit {failed.returncode}: {failed.cmd}")
