"""Progress: a bar on a terminal for work that takes long, and nothing anywhere else."""

from __future__ import annotations

import io
import re
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

import dither
from dither import progress
from dither.privacy import PureDP
from tests.clock import until

SOURCE = Path(dither.__file__).parent


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal that shows everything at once."""
    shown = Terminal()
    # Not sys.stderr itself, which pytest sets anew before the test is called.
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=shown))
    monkeypatch.setattr(progress, "AT_ONCE", 0.0)
    monkeypatch.setattr(progress, "TICK", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return shown


def test_nothing_where_nobody_looks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "AT_ONCE", 0.0)
    before = threading.active_count()
    with progress.working("asking") as tell:
        tell(1, 2)
        assert threading.active_count() == before
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "stderr", None)
    with progress.working("asking"):
        pass


def test_steps_and_time(terminal: Terminal) -> None:
    with progress.working("auditing") as tell:
        until(lambda: "auditing" in terminal.getvalue(), "a bar")
        assert " of " not in terminal.getvalue()
        tell(3, 1000)
        until(lambda: "3 of 1,000" in terminal.getvalue(), "the steps")
    assert "0:00:0" in terminal.getvalue()


def test_short_work_shows_nothing(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "AT_ONCE", 600.0)
    with progress.working("asking"):
        progress._watcher.bar.look()  # type: ignore[union-attr]
    assert terminal.getvalue() == ""


def test_work_inside_of_other_work_has_no_bar_of_its_own(terminal: Terminal) -> None:
    with progress.working("outer"):
        with progress.working("inner") as tell:
            tell(1, 2)
            until(lambda: "outer" in terminal.getvalue(), "a bar")
        assert "inner" not in terminal.getvalue()
    with progress.working("next"):
        until(lambda: "next" in terminal.getvalue(), "a bar")


def test_an_error_ends_the_bar(terminal: Terminal) -> None:
    def fail() -> None:
        with progress.working("asking"):
            until(lambda: "asking" in terminal.getvalue(), "a bar")
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    with progress.working("again"):
        until(lambda: "again" in terminal.getvalue(), "a bar")


def test_an_odd_terminal_does_not_stop_the_work(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise OSError("no such terminal")

    monkeypatch.setattr(progress._Bar, "_draw", fail)
    with progress.working("asking"):
        progress._watcher.bar.look()  # type: ignore[union-attr]
    assert terminal.getvalue() == ""


def test_questions_and_audits_are_shown(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each of them draws its bar as soon as it begins, on this terminal."""
    monkeypatch.setattr(
        progress._Watcher,
        "watch",
        lambda self, bar: (setattr(self, "bar", bar), bar.look()),
    )
    (tmp_path / "visits.csv").write_text("id,x\n1,2\n", encoding="utf-8")
    with dither.open(tmp_path / "visits.csv", unit="id", budget=1.0) as visits:
        assert "opening the tables" in terminal.getvalue()
        visits.sql("SELECT COUNT(*) FROM visits", epsilon=0.5)
    assert "asking the engine" in terminal.getvalue()
    dither.mean([1.0, 2.0], bounds=(0, 3), epsilon=1.0)
    assert "mean" in terminal.getvalue()
    laplace = dither.Laplace(sensitivity=1, epsilon=1)
    dither.audit.mechanism(
        laplace.release, 0, 1, claimed=PureDP(1.0), draws=1000, vectorized=False
    )
    assert "auditing" in terminal.getvalue()
    assert "of 2,000" in terminal.getvalue()


def test_steps_are_public() -> None:
    """Rule R2: whoever tells steps counts tables, draws, audits, campaigns or planned steps, and
    never rows.
    """
    telling = set()
    for path in SOURCE.rglob("*.py"):
        if (
            re.search(r"\bworking\(.*\) as \w+", path.read_text(encoding="utf-8"))
            and path.name != "progress.py"
        ):
            telling.add(str(path.relative_to(SOURCE)))
    assert telling == {
        "audit/library.py",
        "audit/trial.py",
        "learn/hospitals/training.py",  # rounds that are declared
        "learn/resuming.py",  # steps of the plan
        "query/engines/duckdb/engine.py",
        "question.py",  # whose steps of training are those of the plan
    }
