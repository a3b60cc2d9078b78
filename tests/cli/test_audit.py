"""`dither audit --self`: a table, data, and an exit code that tells."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner, Result

from dither.audit import Finding
from dither.cli import main
from dither.privacy import PureDP
from tests.chance import chance


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
def findings(
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., list[tuple[int, float, str, int]]]:
    def stand_in(*lowers: float) -> list[tuple[int, float, str, int]]:
        asked: list[tuple[int, float, str, int]] = []

        def everything(
            draws: int, confidence: float, *, only: str, workers: int
        ) -> Iterator[tuple[str, Finding]]:
            asked.append((draws, confidence, only, workers))
            yield from (
                (f"case {number}", finding(lower))
                for number, lower in enumerate(lowers)
            )

        monkeypatch.setattr("dither.audit.everything", everything)
        return asked

    return stand_in


def test_nothing_refuted(
    findings: Callable[..., list[tuple[int, float, str, int]]],
) -> None:
    asked = findings(0.98, 0.5)
    done = run("--self")
    assert (done.exit_code, done.stderr) == (0, "")
    assert asked == [(100_000, 0.999, "", 0)]
    for words in (
        "case 1",
        "ε = 1 (pure)",
        "ε ≥ 0.980",
        "100,000",
        "None of 2 is refuted. This is not a proof",
    ):
        assert words in done.stdout


def test_findings_that_show_nothing_are_counted(
    findings: Callable[..., list[tuple[int, float, str, int]]],
) -> None:
    findings(0.98, 0.0, 0.0)
    assert "2 of them show a lower bound of 0" in run("--self").stdout
    findings(0.98)
    assert "lower bound of 0" not in run("--self").stdout


def test_something_refuted_ends_with_1(
    findings: Callable[..., list[tuple[int, float, str, int]]],
) -> None:
    findings(0.98, 1.93)
    done = run("--self", "--draws", "5000")
    assert done.exit_code == 1
    for words in ("REFUTED", "case 1: the output is at most 0", "1 of 2 refuted"):
        assert words in done.stdout


def test_as_data(findings: Callable[..., list[tuple[int, float, str, int]]]) -> None:
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


def test_some_of_it_in_several_processes(
    findings: Callable[..., list[tuple[int, float, str, int]]],
) -> None:
    asked = findings(0.5)
    assert run("--self", "--only", "trials", "--workers", "2").exit_code == 0
    assert asked == [(100_000, 0.999, "trials", 2)]


@chance(4e-9)
def test_for_real() -> None:
    sure = ("--confidence", "0.999999999", "--json")
    found = []
    for words in ("dither.", "SQL, m", "science.graphs", "Laplace"):
        done = run("--self", "--draws", "2000", "--only", words, *sure)
        assert (done.exit_code, done.stderr) == (0, "")
        found += json.loads(done.stdout)
    names = {one["name"] for one in found}
    assert {"Laplace, whole numbers", "dither.mean", "SQL, median"} <= names
    assert "science.graphs.edges" in names


def command(line: str, *words: str) -> Result:
    return run("--command", line, "--timeout", "600", *words)


def test_a_command() -> None:
    few = ("--pair", "0", "1", "--epsilon", "1", "--draws", "200")
    done = command("cat", *few)
    assert (done.exit_code, done.stderr) == (1, "")
    assert "Refuted: ε is at least" in done.stdout
    done = command("sed s/./7/", *few, "--pair", "2", "3", "--time")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "Not refuted" in done.stdout
    assert "outside of every guarantee" in " ".join(done.stdout.split())
    done = command("cat", *few, "--json", "--time")
    data = json.loads(done.stdout)
    assert data["refuted"] is True
    assert data["run_time"]["runs"] == 200


@pytest.mark.parametrize(
    ("claim", "stated"),
    [
        (("--epsilon", "1"), "ε = 1 (pure)"),
        (("--epsilon", "1", "--delta", "0.01"), "ε = 1, δ = 0.01"),
        (("--mu", "1"), "μ = 1"),
        (("--rho", "0.5"), "ρ = 0.5"),
    ],
)
def test_claims(claim: tuple[str, ...], stated: str) -> None:
    done = command("sed s/./7/", "--pair", "0", "1", "--draws", "300", *claim)
    assert done.exit_code == 0
    assert stated in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--epsilon", "1"), "such as --pair 0 1"),
        (("--pair", "0", "1"), "pass the claim of the command"),
        (("--pair", "0", "1", "--delta", "0.1"), "pass the claim of the command"),
        (
            ("--pair", "0", "1", "--mu", "1", "--rho", "1"),
            "pass the claim of the command",
        ),
        (("--pair", "0", "1", "--epsilon", "1", "--batch", "0"), "batch"),
        (("--pair", "0", "1", "--epsilon", "1", "--self"), "pass either --self"),
    ],
)
def test_bad_questions_about_a_command(words: tuple[str, ...], problem: str) -> None:
    done = command("cat", *words)
    assert done.exit_code == 2
    assert problem in " ".join(done.stderr.split())


def test_a_command_that_fails_is_told_in_one_line() -> None:
    done = command("false", "--pair", "0", "1", "--epsilon", "1")
    assert done.exit_code == 2
    assert "it ended with code 1" in done.stderr
    assert len(done.stderr.splitlines()) == 1
