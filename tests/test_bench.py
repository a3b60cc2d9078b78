from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import __main__ as command
from bench import harness, history, query, smoke
from bench.harness import Report, Row, at_least, at_most
from bench.race import goals as placing
from bench.race import heat
from bench.race import run as race
from bench.race.tables import Table
from bench.scripts import entrant as scripts
from bench.unmet import reasons

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("got", "met"),
    [(300.0, True), (299.9, False), (None, False), (float("nan"), False)],
)
def test_at_least(got: float | None, met: bool) -> None:
    assert at_least("rate", 300, got).met is met


@pytest.mark.parametrize(
    ("got", "met"), [(0.05, True), (0.051, False), (None, False), (float("inf"), False)]
)
def test_at_most(got: float | None, met: bool) -> None:
    assert at_most("import", 0.05, got).met is met


def test_what_was_not_measured_is_null() -> None:
    assert at_least("rate", 1, float("nan")).got is None


def test_the_readme_names_files_that_exist() -> None:
    text = (ROOT / "bench" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(bench/[\w/]+\.(?:py|json))`", text))
    assert len(named) >= 4
    assert [one for one in named if not (ROOT / one).is_file()] == []


def test_systems_take_turns() -> None:
    order: list[str] = []

    def measure(name: str, values: list[float]) -> float:
        order.append(name)
        return values.pop()

    a, b = [1.0, 2.0, 9.0], [5.0, 5.0, 7.0]
    assert harness.medians(
        {"a": lambda: measure("a", a), "b": lambda: measure("b", b)}, 3
    ) == {"a": 2.0, "b": 5.0}
    assert order == ["a", "b"] * 3


def test_cpu_seconds_are_not_negative() -> None:
    assert harness.cpu_seconds(lambda: sum(range(1000))) >= 0


def test_results_file(tmp_path: Path) -> None:
    report = Report(
        (Row("case", "dither", "MB", None),),
        (at_most("size", 200, 180),),
        ("why",),
        {"numpy": "2"},
    )
    path = harness.save("size", report, tmp_path)
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["rows"] == [
        {"case": "case", "system": "dither", "metric": "MB", "value": None}
    ]
    assert content["goals"] == [
        {"goal": "size", "want": "at most 200", "got": 180, "met": True}
    ]
    assert harness.load(path) == report


def test_list_names_the_benchmarks(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["list"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("footprint", "noise"))


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["nothing"]) == 2
    assert "usage" in capsys.readouterr().err


@pytest.fixture
def promised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of results for one benchmark, without a reason for anything."""
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    monkeypatch.setattr(command, "REASONS", tmp_path / "unmet" / "unmet.json")
    monkeypatch.setattr(command, "names", lambda: ["speed"])
    return tmp_path


def explain(folder: Path, goal: str) -> None:
    (folder / "unmet").mkdir()
    reason = {"benchmark": "speed", "goals": [goal], "why": "The disk is slow."}
    text = json.dumps([reason])
    (folder / "unmet" / "unmet.json").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(("got", "code"), [(1.0, 0), (0.9, 1)])
def test_check(promised: Path, got: float, code: int) -> None:
    harness.save("speed", Report((), (at_least("rate", 1, got),)), promised)
    assert command.main(["check"]) == code


def test_check_counts_what_was_never_measured(promised: Path) -> None:
    assert not list(promised.iterdir())
    assert command.main(["check"]) == 1


@pytest.mark.parametrize("goal", ["rate", "measured"])
def test_check_accepts_a_reason(
    promised: Path, capsys: pytest.CaptureFixture[str], goal: str
) -> None:
    if goal == "rate":
        harness.save("speed", Report((), (at_least("rate", 1, 0.9),)), promised)
    explain(promised, goal)
    assert command.main(["check"]) == 0
    assert "The disk is slow." in capsys.readouterr().out


def test_check_names_a_reason_that_is_not_needed(
    promised: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    harness.save("speed", Report((), (at_least("rate", 1, 2),)), promised)
    explain(promised, "rate")
    assert command.main(["check"]) == 0
    assert "is met or no goal" in capsys.readouterr().out


def test_every_unmet_goal_has_a_reason_and_only_those() -> None:
    unmet = {(name, goal.goal) for name, goal in command.unmet()}
    explained = [key for one in reasons() for key in one.keys]
    assert set(explained) == unmet
    assert len(explained) == len(unmet)
    assert all(one.why.endswith(".") for one in reasons())


def test_the_page_lists_every_benchmark_once() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(listed) == command.names()


PAIR = smoke.Pair("a release", "a loop", lambda _: (lambda: 2.0, lambda: 1.0))


def once(pair: smoke.Pair) -> float:
    return smoke.measure(pair, 1)


def committed(folder: Path, ratio: float, **machine: str) -> Path:
    """A file of committed ratios, measured here or on another machine."""
    rows = (Row(PAIR.case, "dither", smoke.RATIO, ratio),)
    path = harness.save("committed", Report(rows, ()), folder)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["machine"] |= machine
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize(("ratio", "code"), [(2.0, 0), (1.4, 0), (1.3, 1), (9.0, 0)])
def test_smoke_fails_beyond_one_and_a_half_times(
    tmp_path: Path, ratio: float, code: int
) -> None:
    assert smoke.compare([PAIR], committed(tmp_path, ratio), tmp_path, once) == code
    stored = harness.load(tmp_path / "smoke.json")
    assert [row.value for row in stored.rows] == [2.0]
    assert [goal.met for goal in stored.goals] == [code == 0]


@pytest.mark.parametrize(
    "other",
    [{"processor": "another"}, {"python": "2.7.18"}],
    ids=["processor", "python"],
)
def test_smoke_does_not_fail_on_another_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], other: dict[str, str]
) -> None:
    assert smoke.compare([PAIR], committed(tmp_path, 1.0, **other), tmp_path, once) == 0
    assert "not compared" in capsys.readouterr().out


def test_smoke_measures_again_what_a_busy_moment_made_slow(tmp_path: Path) -> None:
    seen = [9.0, 8.0, 2.2]
    reference = committed(tmp_path, 2.0)
    assert smoke.compare([PAIR], reference, tmp_path, lambda _: seen.pop(0)) == 0
    seen = [9.0, 8.0, 7.0, 6.0, 2.0]
    assert smoke.compare([PAIR], reference, tmp_path, lambda _: seen.pop(0)) == 1
    assert seen == [2.0]


def test_a_smoke_ratio_is_a_median_over_turns() -> None:
    ours = [4.0, 1.0, 9.0, 3.0]
    pair = smoke.Pair("ours", "floor", lambda _: (lambda: ours.pop(0), lambda: 1.0))
    assert smoke.measure(pair, 3) == 3.0


def test_every_smoke_pair_is_committed() -> None:
    known = smoke.ratios(harness.load(harness.RESULTS / "smoke.json"))
    assert list(known) == [pair.case for pair in smoke.PAIRS]


def test_history_is_drawn_from_commits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def git(*arguments: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True)

    results = tmp_path / "bench" / "results"
    git("init", "-q")
    for ratio in (2.0, 2.5):
        row = Row("a release, over a loop", "dither", smoke.RATIO, ratio)
        harness.save("smoke", Report((row,), ()), results)
        git("add", ".")
        git("commit", "-q", "-m", "Measure")
    assert history.history("smoke", tmp_path / "out", tmp_path) == 0
    assert "2 commits" in capsys.readouterr().out
    drawn = (tmp_path / "out" / "history-smoke.svg").read_text(encoding="utf-8")
    words = ["".join(one.itertext()) for one in ElementTree.fromstring(drawn)]
    assert "a release, over a loop" in words
    assert "2.5 (was 2)" in words


def test_history_says_that_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert history.history("smoke", tmp_path, tmp_path) == 0
    assert "no git history" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_estimators_are_compared_on_the_same_splits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from bench import estimators
    from bench.fitting import compare, data

    monkeypatch.setattr(compare, "SPLITS", 2)
    iris = data.SETS["iris"]()
    path = str(data.saved(iris, tmp_path))
    found = compare.cells("GaussianNB", iris, path, None, tried=(3.0,))
    assert [len(one.scores(compare.MINE)) for one in found] == [2]
    assert {row.metric for row in compare.rows(found[0])} >= {"accuracy", "fit, CPU-ms"}
    cell = compare.Cell("GaussianNB", "iris", 1.0)
    cell.seen = {
        compare.MINE: [(0.5, 1.0), (0.7, 3.0)],
        compare.OTHER: [(0.6, 4.0), (0.9, 4.0)],
        compare.CONSTANT: [(0.5, 0.0), (0.4, 0.0)],
    }
    assert cell.gain(compare.OTHER) == pytest.approx((-0.15, 0.05))
    assert estimators.behind([cell]) == [cell]
    assert estimators.below([cell]) == []
    assert estimators.slowness([cell]) == {"iris": 0.5}
    said = list(estimators.said([cell]))
    assert said == ["GaussianNB, iris, ε = 1: diffprivlib is better by 0.15 ± 0.05"]


def test_private_sql_is_measured() -> None:
    """At a hundredth of the size, so only what does not depend on it is compared."""
    cases = [
        case for case in query.CASES if case.name in ("grouped sum", "private keys")
    ]
    report = query.run(rows=100_000, repeats=1, cases=cases)
    found = {(row.case, row.system, row.metric): row.value or 0 for row in report.rows}
    assert found["purchases", "data", "rows of a user, median"] == 5
    assert 40 <= found["purchases", "data", "rows of a user, 99 %"] <= 55
    for case in cases:
        assert (
            found[case.name, "dither", "CPU-seconds"]
            > found[case.name, "duckdb", "CPU-seconds"]
            > 0
        )
        assert 0 < found[case.name, "dither", "mean relative error"] < 2
    assert (
        10
        <= found["private keys", "dither", "keys found"]
        < found["private keys", "duckdb", "keys found"]
    )
    met = {goal.goal: goal.met for goal in report.goals}
    assert met[f"distinct users, {query.WITHIN}"]
    assert not met["median, CPU-seconds"], "what was not asked has met nothing"


def test_made_up_purchases_are_always_the_same(tmp_path: Path) -> None:
    for name in ("a", "b"):
        query.make(tmp_path / name, 5_000)
    assert query.about(tmp_path / "a") == query.about(tmp_path / "b")


def raced(**ours: float) -> list[Row]:
    """One question at a million rows: ours, two peers, and DuckDB, which is no peer."""
    where = "grouped count, 1 M rows"
    cpu = {
        "dither": 0.2,
        "OpenDP": 2.0,
        "Qrlew, PostgreSQL": 3.0,
        "DuckDB": 0.01,
    } | ours
    return [Row(where, system, "CPU-seconds", value) for system, value in cpu.items()]


def test_the_race_is_against_the_fastest_peer() -> None:
    found = {goal.goal: goal for goal in placing.goals(raced())}
    goal = found["grouped count, 1 M rows: CPU-seconds of the fastest peer over ours"]
    assert (goal.got, goal.met) == (pytest.approx(10.0), True)
    slower = {goal.goal: goal for goal in placing.goals(raced(dither=2.5))}
    assert not slower[goal.goal].met
    assert not found[
        "count, 1 M rows: CPU-seconds of the fastest peer over ours"
    ].met, "never measured"


def test_more_keys_than_any_peer() -> None:
    def met(ours: float) -> bool:
        rows = [
            Row("private keys, 1 M rows", name, "keys found", n)
            for name, n in (("dither", ours), ("OpenDP", 50))
        ]
        return {goal.goal: goal.met for goal in placing.goals(rows)}[
            "private keys, 1 M rows: found, beside the best peer"
        ]

    assert met(51)
    assert not met(50)


def test_what_a_peer_cannot_answer_is_null() -> None:
    rows = list(
        heat.rows_of(
            "median, 1 M rows",
            "Qrlew, PostgreSQL",
            [{"failed": "panic"}],
            None,
            {None: 152.0},
        )
    )
    assert {row.metric for row in rows} == {
        "CPU-seconds",
        "seconds",
        "peak MB",
        "mean relative error",
    }
    assert all(row.value is None for row in rows)


def test_a_race_in_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        heat, "CASES", [case for case in query.CASES if case.name == "private keys"]
    )
    query.make(tmp_path / "shop.duckdb", 20_000)
    run = heat.Heat(Table(tmp_path / "shop"), ("dither", "DuckDB"))
    run.run("20,000 rows")
    assert run.notes == []
    found = {(row.system, row.metric): row.value for row in run.rows}
    assert found["DuckDB", "keys found"] > found["dither", "keys found"] > 0
    assert found["dither", "CPU-seconds"] > found["DuckDB", "CPU-seconds"] > 0


def test_measured_again_keeps_the_rest() -> None:
    run = heat.Heat(Table(Path("nowhere")), ("OpenDP",))
    run.rows, run.notes = (
        [Row("count, 1 M rows", "OpenDP", "CPU-seconds", 2.0)],
        ["OpenDP: it failed"],
    )
    old = Report(
        (
            Row("count, 1 M rows", "OpenDP", "CPU-seconds", 9.0),
            Row("count, 1 M rows", "Tumult", "CPU-seconds", 20.0),
        ),
        (),
        ("OpenDP: an older failure", "Tumult: another"),
    )
    report = race.merged(old, run)
    assert {row.system: row.value for row in report.rows} == {
        "Tumult": 20.0,
        "OpenDP": 2.0,
    }
    assert [note for note in report.notes if ": " in note][-2:] == [
        "Tumult: another",
        "OpenDP: it failed",
    ]
    assert report.versions["opendp[polars]"] == "0.16.0"


def test_time_of_a_process_that_was_started_counts() -> None:
    work = "import time\nwhile time.process_time() < 0.3: pass"
    said = scripts.measured(
        lambda: [[subprocess.run([sys.executable, "-c", work], check=True).returncode]],
        None,
    )
    assert said["rows"] == [[0]]
    assert said["cpu"] >= 0.25


def test_a_failure_is_one_line() -> None:
    def fails() -> list[list[object]]:
        raise ValueError("two\nlines")

    assert scripts.measured(fails, None) == {"failed": "ValueError: two lines"}


def test_the_picture_of_the_race_is_the_measured_one() -> None:
    from bench.race.page import svg
    from tools.figures import PICTURE

    assert PICTURE.read_text(encoding="utf-8") == svg(), "run python tools/figures.py"
    ElementTree.fromstring(svg())


def test_examples_are_the_pages_own() -> None:
    from bench.examples.page import NAMES
    from bench.learn_examples import declaring

    for name in NAMES:
        tree = ast.parse("\n".join(declaring(name)))
        found = [one.name for one in tree.body if isinstance(one, ast.FunctionDef)]
        assert {"sample", "opened", "ordinary", "accuracy"} <= set(found)
        stored = [one for one in ast.walk(tree) if isinstance(one, ast.Name)]
        assert {"model", "run", "budget"} <= {one.id for one in stored}
        outside = [one for one in tree.body if not isinstance(one, ast.FunctionDef)]
        named = [one for part in outside for one in ast.walk(part)]
        assert "trained" not in {one.id for one in named if isinstance(one, ast.Name)}
