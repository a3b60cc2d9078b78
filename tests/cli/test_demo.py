"""`dither demo`: five answers that make sense, quietly, and nothing left behind."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import dither
from dither.cli.demo import QUESTIONS

CLINIC = Path(str(files("dither") / "data" / "clinic"))


def test_five_questions_fit_into_the_account() -> None:
    assert len(QUESTIONS) == 5
    assert sum(question.share for question in QUESTIONS) < 1


@pytest.mark.parametrize(
    "question", QUESTIONS, ids=lambda question: question.words[:20]
)
def test_every_question_can_be_asked(question: object) -> None:
    with dither.open(CLINIC / "clinic.toml", ledger=":memory:") as database:
        found = database.preview(question.sql, share=question.share)  # type: ignore[attr-defined]
    assert found.affordable
    assert found.share == pytest.approx(question.share, abs=1e-6)  # type: ignore[attr-defined]


def test_it_is_quiet_and_leaves_nothing_behind(tmp_path: Path) -> None:
    before = sorted(CLINIC.iterdir())
    command = [sys.executable, "-W", "error", "-m", "dither.cli", "demo"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    for question in QUESTIONS:
        assert question.words in done.stdout
    for words in (
        "synthetic",
        "cardiology",
        "median_stay",
        "Norland",
        "R07",
        "visits_per_patient",
        "±",
    ):
        assert words in done.stdout
    assert done.stdout.count("of the account clinic") == 5
    assert done.stdout.count("remaining: ") == 6
    assert sorted(CLINIC.iterdir()) == before
    assert list(tmp_path.iterdir()) == []
