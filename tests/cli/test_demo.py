"""`dither demo`: five answers, of which four come out well and one shows what too little
data means, quietly, and nothing left behind.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import dither
from dither.cli.demo import AGAIN, QUESTIONS, Question
from tests.chance import chance

CLINIC = Path(str(files("dither") / "data" / "clinic"))


def test_five_questions_fit_into_the_account() -> None:
    assert len(QUESTIONS) == 5
    assert sum(question.share for question in QUESTIONS) < 1


@pytest.mark.parametrize(
    "question", QUESTIONS, ids=lambda question: question.words[:20]
)
def test_every_question_can_be_asked(question: Question) -> None:
    with dither.open(CLINIC / "clinic.toml", ledger=":memory:") as database:
        found = database.preview(question.sql, **question.stated)
    assert found.affordable
    assert found.share == pytest.approx(question.share, abs=1e-6)


@chance(1e-7)
def test_intervals_are_no_wider_than_half_of_their_values() -> None:
    """The most uncertain one is the mean cost: 3,300 ± 170, so it would have to be off by
    more than thirty times its error.
    """
    told = [question for question in QUESTIONS if not question.moral]
    assert len(told) == 4
    with dither.open(CLINIC / "clinic.toml", ledger=":memory:") as database:
        for question in told:
            release = database.sql(question.sql, **question.stated)
            for row, cells in zip(release.rows, release.cells(), strict=True):
                value, (low, high) = row[-1], cells[-1]
                assert max(value - low, high - value) <= value / 2


def test_the_last_question_has_too_little_data_and_says_so() -> None:
    *_, last = QUESTIONS
    assert last.moral.startswith("Too little data")
    with dither.open(CLINIC / "clinic.toml", ledger=":memory:") as database:
        found = database.preview(last.sql, share=last.share, expect=10)
    assert found.columns[0].errors[0][1] == 10_000


def test_asking_again_costs_nothing() -> None:
    with dither.open(CLINIC / "clinic.toml", ledger=":memory:") as database:
        first = QUESTIONS[0]
        database.sql(first.sql, share=first.share)
        assert database.preview(AGAIN.sql, share=AGAIN.share).replay
        assert database.sql(AGAIN.sql, share=AGAIN.share).replayed


def test_it_is_quiet_and_leaves_nothing_behind(tmp_path: Path) -> None:
    before = sorted(CLINIC.iterdir())
    command = [sys.executable, "-W", "error", "-m", "dither.cli", "demo"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    for question in (*QUESTIONS, AGAIN):
        assert question.words in done.stdout
    for words in (
        "synthetic",
        "cardiology",
        "mean_cost",
        "Norland",
        "R07",
        "Too little",
    ):
        assert words in done.stdout
    assert done.stdout.count("by itself; cost: ") == 5
    assert done.stdout.count("cost: nothing") == 1
    assert done.stdout.count("account: ") == 7
    first, answer, *_ = done.stdout.split("\n\n")
    assert len(f"{first}\n\n{answer}".splitlines()) <= 22, "beside two prompts"
    assert "surgery" in answer
    assert "±" in answer
    shown = done.stdout[: done.stdout.index("remaining: ")].splitlines()
    assert max(map(len, shown)) <= 80
    assert sorted(CLINIC.iterdir()) == before
    assert list(tmp_path.iterdir()) == []
