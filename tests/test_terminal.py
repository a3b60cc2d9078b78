"""What terminals without Greek letters show: words, aligned tables, and no failure."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dither import terminal
from dither.cli.budget import HEIGHTS

NARROW = ("cp1252", "ascii")
RELEASE = """
import dither
answer = dither.count([1] * 40, epsilon=1, budget=dither.Budget(epsilon=2))
print(answer, answer.guarantee, dither.explain.epsilon(0.5), dither.Budget(epsilon=2, delta=1e-6), sep="\\n")
print("", *dither.terminal.SPELLED)
"""


def run(
    encoding: str, *words: str, folder: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    environment = os.environ | {
        "PYTHONIOENCODING": encoding,
        "PYTHONUTF8": "0",
        "COLUMNS": "120",
    }
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        check=False,
        env=environment,
        cwd=folder,
    )


@pytest.mark.parametrize("encoding", NARROW)
def test_the_library_prints(encoding: str) -> None:
    done = run(encoding, "-c", RELEASE)
    assert (done.returncode, done.stderr) == (0, b"")
    said = done.stdout.decode(encoding)
    assert "epsilon = 1" in said
    assert "delta = 1e-06" in said
    assert "?" not in said.partition("alpha")[2]


def test_what_a_program_prints_of_its_own_fails_as_before() -> None:
    done = run("cp1252", "-c", "import dither; print('\\u0141')")
    assert done.returncode == 1
    assert b"UnicodeEncodeError" in done.stderr


def test_other_streams_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding, errors, then in (
        ("utf-8", "strict", "strict"),
        ("cp1252", "ignore", "ignore"),
        ("cp1252", "strict", terminal.ONLY_OURS),
    ):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=errors)
        monkeypatch.setattr(sys, "stdout", stream)
        terminal.adapt()
        assert stream.errors == then


def test_tables_stay_aligned(tmp_path: Path) -> None:
    encoding = "cp1252"
    (tmp_path / "visits.csv").write_text("id,Łódź\n1,x\n2,y\n", encoding="utf-8")
    declared = [
        "--unit",
        "id",
        "--budget",
        "2",
        "--delta",
        "1e-6",
        "--keys",
        "Łódź=x,y",
    ]
    sql = 'SELECT Łódź AS "ε ≤ Łódź", COUNT(*) AS n FROM visits GROUP BY Łódź'
    asked = run(
        encoding,
        "-m",
        "dither",
        "query",
        "visits.csv",
        sql,
        *declared,
        "--epsilon",
        "1",
        folder=tmp_path,
    )
    assert (asked.returncode, asked.stderr) == (0, b"")
    left = run(encoding, "-m", "dither", "budget", "visits.csv", folder=tmp_path)
    assert (left.returncode, left.stderr) == (0, b"")
    for shown in (asked.stdout.decode(encoding), left.stdout.decode(encoding)):
        drawn = [line for line in shown.splitlines() if line.startswith(("|", "+"))]
        assert len(drawn) >= 5
        assert len({len(line) for line in drawn}) == 1, shown
    assert "epsilon = 2" in left.stdout.decode(encoding)


def test_every_sign_of_a_burn_down_differs() -> None:
    assert len({terminal.SPELLED.get(sign, sign) for sign in HEIGHTS}) == len(HEIGHTS)


def test_words_fit_any_terminal() -> None:
    assert all(word.isascii() for word in terminal.SPELLED.values())


def test_a_terminal_with_all_signs_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    assert terminal.spelled("ε ≤ Ł") == "ε ≤ Ł"
    monkeypatch.setattr(
        sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    )
    assert terminal.spelled("ε ≤ Ł") == "epsilon <= ?"


def test_only_encoding_is_mended() -> None:
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("utf-8", terminal.ONLY_OURS)
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("utf-8", terminal.ANY)
