from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import __main__ as command
from bench import harness, query
from bench.harness import Report, Row, at_least, at_most


@pytest.mark.parametrize(("got", "met"), [(300.0, True), (299.9, False), (None, False), (float("nan"), False)])
def test_at_least(got: float | None, met: bool) -> None:
    assert at_least("rate", 300, got).met is met


@pytest.mark.parametrize(("got", "met"), [(0.05, True), (0.051, False), (None, False), (float("inf"), False)])
def test_at_most(got: float | None, met: bool) -> None:
    assert at_most("import", 0.05, got).met is met


def test_what_was_not_measured_is_null() -> None:
    assert at_least("rate", 1, float("nan")).got is None


def test_systems_take_turns() -> None:
    order: list[str] = []

    def measure(name: str, values: list[float]) -> float:
        order.append(name)
        return values.pop()

    a, b = [1.0, 2.0, 9.0], [5.0, 5.0, 7.0]
    assert harness.medians({"a": lambda: measure("a", a), "b": lambda: measure("b", b)}, 3) == {"a": 2.0, "b": 5.0}
    assert order == ["a", "b"] * 3


def test_cpu_seconds_are_not_negative() -> None:
    assert harness.cpu_seconds(lambda: sum(range(1000))) >= 0


def test_results_file(tmp_path: Path) -> None:
    report = Report((Row("case", "dither", "MB", None),), (at_most("size", 200, 180),), ("why",), {"numpy": "2"})
    path = harness.save("size", report, tmp_path)
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["rows"] == [{"case": "case", "system": "dither", "metric": "MB", "value": None}]
    assert content["goals"] == [{"goal": "size", "want": "at most 200", "got": 180, "met": True}]
    assert harness.load(path) == report


def test_list_names_the_benchmarks(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["list"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("footprint", "noise"))


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["nothing"]) == 2
    assert "usage" in capsys.readouterr().err


@pytest.mark.parametrize(("got", "code"), [(1.0, 0), (0.9, 1)])
def test_check(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, got: float, code: int) -> None:
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    monkeypatch.setattr(command, "names", lambda: ["speed"])
    harness.save("speed", Report((), (at_least("rate", 1, got),)), tmp_path)
    assert command.main(["check"]) == code


def test_check_counts_what_was_never_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    monkeypatch.setattr(command, "names", lambda: ["speed"])
    assert command.main(["check"]) == 1


def test_private_sql_is_measured() -> None:
    """At a hundredth of the size, so only what does not depend on it is compared."""
    cases = [case for case in query.CASES if case.name in ("grouped sum", "private keys")]
    report = query.run(rows=100_000, repeats=1, cases=cases)
    found = {(row.case, row.system, row.metric): row.value or 0 for row in report.rows}
    assert found["purchases", "data", "rows of a user, median"] == 5
    assert 40 <= found["purchases", "data", "rows of a user, 99 %"] <= 55
    for case in cases:
        assert found[case.name, "dither", "CPU-seconds"] > found[case.name, "duckdb", "CPU-seconds"] > 0
        assert 0 < found[case.name, "dither", "mean relative error"] < 2
    assert 10 <= found["private keys", "dither", "keys found"] < found["private keys", "duckdb", "keys found"]
    met = {goal.goal: goal.met for goal in report.goals}
    assert met[f"distinct users, {query.WITHIN}"]
    assert not met["median, CPU-seconds"], "what was not asked has met nothing"


def test_made_up_purchases_are_always_the_same(tmp_path: Path) -> None:
    for name in ("a", "b"):
        query.make(tmp_path / name, 5_000)
    assert query.about(tmp_path / "a") == query.about(tmp_path / "b")
