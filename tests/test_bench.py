from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import __main__ as command
from bench import harness
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
