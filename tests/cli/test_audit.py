"""`dither audit --self`: a table, data, and an exit code that tells."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner, Result

from dither.audit import Finding
from dither.cli import main
from dither.privacy import PureDP


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["audit", *words], env={"COLUMNS": "160"})


def finding(lower: float) -> Finding:
    return Finding(
        lower > 1,
        PureDP(1.0),
        "ε",
        lower,
        lower,
        "the output is at most 0",
        90,
        100,
        100_000,
        1e-5,
    )


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[int, float]]]:
    def stand_in(*lowers: float) -> list[tuple[int, float]]:
        asked: list[tuple[int, float]] = []

        def everything(draws: int, confidence: float) -> Iterator[tuple[str, Finding]]:
            asked.append((draws, confidence))
            yield from (
                (f"case {number}", finding(lower))
                for number, lower in enumerate(lowers)
            )

        monkeypatch.setattr("dither.audit.everything", everything)
        return asked

    return stand_in


def test_nothing_refuted(findings: Callable[..., list[tuple[int, float]]]) -> None:
    asked = findings(0.98, 0.5)
    done = run("--self")
    assert (done.exit_code, done.stderr) == (0, "")
    assert asked == [(100_000, 0.999)]
    for words in (
        "case 1",
        "ε = 1 (pure)",
        "ε ≥ 0.980",
        "100,000",
        "None of 2 is refuted, which proves nothing",
    ):
        assert words in done.stdout


def test_something_refuted_ends_with_1(
    findings: Callable[..., list[tuple[int, float]]],
) -> None:
    findings(0.98, 1.93)
    done = run("--self", "--draws", "5000")
    assert done.exit_code == 1
    for words in ("REFUTED", "case 1: the output is at most 0", "1 of 2 refuted"):
        assert words in done.stdout


def test_as_data(findings: Callable[..., list[tuple[int, float]]]) -> None:
    findings(0.98, 1.93)
    done = run("--self", "--json")
    assert done.exit_code == 1
    first, second = json.loads(done.stdout)
    assert (first["name"], first["lower"], first["refuted"]) == ("case 0", 0.98, False)
    assert second["refuted"] is True


def test_what_to_audit_must_be_said() -> None:
    done = run()
    assert done.exit_code == 2
    assert "--self" in done.stderr


def test_bad_numbers_are_refused_in_one_line() -> None:
    for words in (("--draws", "0"), ("--confidence", "1")):
        done = run("--self", *words)
        assert done.exit_code == 2
        assert len(done.stderr.splitlines()) == 1


def test_for_real() -> None:
    """A false alarm has a probability of 1e-9."""
    done = run("--self", "--draws", "2000", "--confidence", "0.999999999", "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert len(found) > 30
    assert {"Laplace, whole numbers", "dither.mean", "SQL, median"} <= {
        one["name"] for one in found
    }
