"""`dither completion`: a script for each shell."""

from __future__ import annotations

import pytest

from tests.cli.support import run_alone


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell: str) -> None:
    done = run_alone("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    assert "_DITHER_COMPLETE" in done.stdout


def test_completion_knows_its_shells() -> None:
    assert run_alone("completion", "cmd").returncode == 2
